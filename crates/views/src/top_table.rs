//! The functions that took most, by themselves and with all that they call. A function that
//! recurs in a stack counts once for its total. Inlined and not, a function is one row; the
//! same name in two files is two.

use crate::Measure;
use crate::tree_frame::{FrameKind, TreeFrame, frames_of};
use indexmap::IndexMap;
use model::id::Id;
use model::{EventId, LocationId, MappingId, Profile, StackId, Totals};
use rustc_hash::FxBuildHasher;

/// A function and what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopRow {
    /// Its name, or what stands for it.
    pub name: Box<str>,
    /// What kind of code it is.
    pub kind: FrameKind,
    /// The name of the file that it lies in, where that is known.
    pub module: Option<Box<str>>,
    /// The samples that found it running.
    pub own: Totals,
    /// The samples that found it on the stack.
    pub total: Totals,
}

/// The functions of one event of a profile.
#[derive(Clone, Debug)]
pub struct TopTable {
    /// One row a function, in no particular order.
    pub rows: Vec<TopRow>,
    /// The sums over all samples.
    pub total: Totals,
    /// How the weights read.
    pub measure: Measure,
}

impl TopTable {
    /// The functions of an event's samples.
    pub fn new(profile: &Profile, event: EventId) -> Self {
        let mut total = Totals::default();
        let mut own = vec![Totals::default(); profile.stacks.len()];
        for row in profile.samples.iter().filter(|row| row.event == event) {
            let sample = Totals { weight: row.weight.into(), count: row.count };
            own[row.stack.index()] += sample;
            total += sample;
        }
        let mut functions = Functions::new(profile);
        functions.add_own(&own);
        functions.add_totals(&own);
        let rows = functions.rows.into_iter().filter(|(_, row)| row.total != Totals::default());
        Self { rows: rows.map(|(_, row)| row).collect(), total, measure: Measure::of(profile, event) }
    }

    /// The rows with the greatest own weight, at most `limit`, those that never ran left out.
    pub fn by_own(&self, limit: usize) -> Vec<&TopRow> {
        self.first(limit, |row| row.own)
    }

    /// The rows with the greatest total weight, at most `limit`.
    pub fn by_total(&self, limit: usize) -> Vec<&TopRow> {
        self.first(limit, |row| row.total)
    }

    fn first(&self, limit: usize, key: impl Fn(&TopRow) -> Totals) -> Vec<&TopRow> {
        let mut rows: Vec<&TopRow> = self.rows.iter().filter(|row| key(row) != Totals::default()).collect();
        // Equal weights stand by name, so that two runs over the same data print the same.
        rows.sort_by(|a, b| {
            let order = |row: &TopRow| (key(row).weight, key(row).count);
            order(b).cmp(&order(a)).then_with(|| (&a.name, &a.module).cmp(&(&b.name, &b.module)))
        });
        rows.truncate(limit);
        rows
    }
}

type FunctionKey = (Box<str>, FrameKind, Option<MappingId>);

struct Functions<'a> {
    profile: &'a Profile,
    rows: IndexMap<FunctionKey, TopRow, FxBuildHasher>,
    /// The rows of a location, innermost function first, once they were asked for.
    by_location: Vec<Option<Box<[usize]>>>,
}

impl<'a> Functions<'a> {
    fn new(profile: &'a Profile) -> Self {
        Self { profile, rows: IndexMap::default(), by_location: vec![None; profile.locations().len()] }
    }

    fn add_own(&mut self, own: &[Totals]) {
        for (index, &totals) in own.iter().enumerate().filter(|(_, totals)| **totals != Totals::default()) {
            let frame = self.profile.stacks.split(StackId::from_index(index)).map(|(_, location)| location);
            let row = match frame {
                Some(location) => self.location(location)[0],
                None => self.row(TreeFrame::no_stack(), None),
            };
            self.rows[row].own += totals;
            if frame.is_none() {
                self.rows[row].total += totals;
            }
        }
    }

    /// Walks the tree of stacks depth first and adds a subtree's sum to a function where it
    /// enters the chain of callers, not where it recurs.
    fn add_totals(&mut self, own: &[Totals]) {
        let stacks = &self.profile.stacks;
        let mut sums = own.to_vec();
        let mut first_child: Vec<Option<StackId>> = vec![None; stacks.len()];
        let mut next_sibling: Vec<Option<StackId>> = vec![None; stacks.len()];
        let mut pending = Vec::new();
        // A stack stands after its callers, so walking backwards hands every sum down once.
        for index in (0..stacks.len()).rev() {
            let stack = StackId::from_index(index);
            match stacks.split(stack) {
                Some((parent, _)) => {
                    let sum = sums[index];
                    sums[parent.index()] += sum;
                    next_sibling[index] = first_child[parent.index()].replace(stack);
                }
                None => pending.push(Step::Enter(stack)),
            }
        }
        let mut active: Vec<u32> = Vec::new();
        while let Some(step) = pending.pop() {
            let (Step::Enter(stack) | Step::Leave(stack)) = step;
            let sum = sums[stack.index()];
            if sum == Totals::default() {
                continue;
            }
            let location = stacks.split(stack).map(|(_, location)| location);
            let rows: Box<[usize]> = location.map_or_else(Box::default, |location| self.location(location).into());
            active.resize(self.rows.len(), 0);
            if let Step::Leave(_) = step {
                rows.iter().for_each(|&row| active[row] -= 1);
                continue;
            }
            for &row in &rows {
                if active[row] == 0 {
                    self.rows[row].total += sum;
                }
                active[row] += 1;
            }
            pending.push(Step::Leave(stack));
            let mut child = first_child[stack.index()];
            while let Some(stack) = child {
                pending.push(Step::Enter(stack));
                child = next_sibling[stack.index()];
            }
        }
    }

    fn location(&mut self, id: LocationId) -> &[usize] {
        if self.by_location[id.index()].is_none() {
            let mapping = self.profile.location(id).mapping;
            let frames = frames_of(self.profile, id);
            let rows = frames.into_iter().map(|frame| self.row(frame, mapping)).collect();
            self.by_location[id.index()] = Some(rows);
        }
        self.by_location[id.index()].as_deref().unwrap_or_default()
    }

    fn row(&mut self, frame: TreeFrame, mapping: Option<MappingId>) -> usize {
        let TreeFrame { name, kind, .. } = frame;
        let entry = self.rows.entry((name.clone(), kind, mapping));
        let index = entry.index();
        entry.or_insert_with(|| TopRow {
            name,
            kind,
            module: mapping.map(|mapping| self.profile.mapping_name(mapping).into()),
            own: Totals::default(),
            total: Totals::default(),
        });
        index
    }
}

enum Step {
    Enter(StackId),
    Leave(StackId),
}
