//! Builds a [`CallTree`]. Samples are summed by thread name and stack first; then every
//! distinct stack is walked once. Root first, a walk stops at the first caller that was walked
//! before, so that the work grows with the number of distinct stack nodes and not with
//! stacks × depth (a recursion 100,000 deep has 100,000 stacks).

use crate::Measure;
use crate::call_tree::{CallTree, CallTreeOptions, NodeId, StackOrder, TaskFrames, TreeNode};
use crate::tree_frame::{FrameKind, TreeFrame, frames_of};
use indexmap::IndexSet;
use model::id::Id;
use model::{EventId, LocationId, Profile, StackEnd, StackId, StringId, Totals};
use rustc_hash::{FxBuildHasher, FxHashMap};

const ROOT: u32 = 0;

pub(crate) fn build(profile: &Profile, event: EventId, options: CallTreeOptions) -> CallTree {
    let sums = sums_by_stack(profile, event, options.tasks);
    let mut tree = Growing::new(profile);
    match options.order {
        StackOrder::RootFirst => tree.add_root_first(&sums),
        StackOrder::LeafFirst => tree.add_leaf_first(&sums),
    }
    let ends = profile.stacks.ends();
    let mut cut = Totals::default();
    sums.iter().filter(|((_, stack), _)| is_cut(ends[stack.index()])).for_each(|(_, totals)| cut += *totals);
    let (frames, nodes) = tree.finish();
    CallTree { frames, nodes, cut, measure: Measure::of(profile, event) }
}

/// Whether a stack that ends so lacks callers that should be there.
pub(crate) fn is_cut(end: StackEnd) -> bool {
    use StackEnd::{Bottom, NoUserStack, NotRecorded, Unknown, UserExcluded};
    !matches!(end, Bottom | Unknown | NotRecorded | UserExcluded | NoUserStack)
}

/// The sums by thread name and stack, in that order, so that walks that share callers follow
/// each other.
type Sums = Vec<((Option<StringId>, StackId), Totals)>;

fn sums_by_stack(profile: &Profile, event: EventId, tasks: TaskFrames) -> Sums {
    let mut sums = FxHashMap::<(Option<StringId>, StackId), Totals>::default();
    for row in profile.samples.iter().filter(|row| row.event == event && (row.weight, row.count) != (0, 0)) {
        let task = match tasks {
            TaskFrames::Shown => row.task.map(|task| profile.tasks[task].name),
            TaskFrames::Merged => None,
        };
        *sums.entry((task, row.stack)).or_default() += Totals { weight: u128::from(row.weight), count: row.count };
    }
    let mut sums: Sums = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, _)| *key);
    sums
}

/// A node while the tree grows: in order of arrival, parents before their children.
struct Node {
    frame: u32,
    parent: u32,
    own: Totals,
}

struct Growing<'a> {
    profile: &'a Profile,
    frames: IndexSet<TreeFrame, FxBuildHasher>,
    /// The frames of a location, innermost first, once they were asked for.
    by_location: Vec<Option<Box<[u32]>>>,
    nodes: Vec<Node>,
    /// The child of a parent (in the upper half of the key) that is a frame (in the lower).
    children: FxHashMap<u64, u32>,
}

impl<'a> Growing<'a> {
    fn new(profile: &'a Profile) -> Self {
        let mut tree = Self {
            profile,
            frames: IndexSet::default(),
            by_location: vec![None; profile.locations().len()],
            nodes: Vec::new(),
            children: FxHashMap::default(),
        };
        let frame = tree.frame(TreeFrame::root());
        tree.nodes.push(Node { frame, parent: ROOT, own: Totals::default() });
        tree
    }

    fn add_root_first(&mut self, sums: &Sums) {
        let profile = self.profile;
        // For each stack the thread that walked it last, by the thread's turn, and where the
        // walk led. Roots of stacks lead to the thread.
        let mut walked = vec![(0u32, ROOT); profile.stacks.len()];
        let mut path = Vec::new();
        for (turn, of_task) in (1..).zip(sums.chunk_by(|((one, _), _), ((other, _), _)| one == other)) {
            let task = self.task_node(ROOT, of_task[0].0.0);
            for &((_, stack), totals) in of_task {
                let mut at = stack;
                let mut node = loop {
                    match walked[at.index()] {
                        (walker, node) if walker == turn => break node,
                        _ => {}
                    }
                    let Some((parent, location)) = profile.stacks.split(at) else { break task };
                    path.push((at, location));
                    at = parent;
                };
                while let Some((stack, location)) = path.pop() {
                    for index in (0..self.location(location).len()).rev() {
                        let frame = self.location(location)[index];
                        node = self.child(node, frame);
                    }
                    walked[stack.index()] = (turn, node);
                }
                if profile.stacks.split(stack).is_none() {
                    node = self.no_stack_node(node);
                }
                self.nodes[node as usize].own += totals;
            }
        }
    }

    fn add_leaf_first(&mut self, sums: &Sums) {
        let profile = self.profile;
        for &((task, stack), totals) in sums {
            let mut node = ROOT;
            if profile.stacks.split(stack).is_none() {
                node = self.no_stack_node(node);
            }
            for location in profile.stacks.leaf_first(stack) {
                for index in 0..self.location(location).len() {
                    let frame = self.location(location)[index];
                    node = self.child(node, frame);
                }
            }
            node = self.task_node(node, task);
            self.nodes[node as usize].own += totals;
        }
    }

    fn task_node(&mut self, parent: u32, task: Option<StringId>) -> u32 {
        let Some(name) = task else { return parent };
        let name = self.profile.text(name).into();
        let frame = self.frame(TreeFrame { name, kind: FrameKind::Task, inlined: false });
        self.child(parent, frame)
    }

    fn no_stack_node(&mut self, parent: u32) -> u32 {
        let frame = self.frame(TreeFrame::no_stack());
        self.child(parent, frame)
    }

    fn frame(&mut self, frame: TreeFrame) -> u32 {
        number(self.frames.insert_full(frame).0)
    }

    fn location(&mut self, id: LocationId) -> &[u32] {
        let frames = &mut self.frames;
        self.by_location[id.index()].get_or_insert_with(|| {
            frames_of(self.profile, id).into_iter().map(|frame| number(frames.insert_full(frame).0)).collect()
        })
    }

    fn child(&mut self, parent: u32, frame: u32) -> u32 {
        let nodes = &mut self.nodes;
        *self.children.entry(u64::from(parent) << 32 | u64::from(frame)).or_insert_with(|| {
            nodes.push(Node { frame, parent, own: Totals::default() });
            number(nodes.len() - 1)
        })
    }

    /// Sums up and brings the nodes into depth-first order, children by name.
    fn finish(self) -> (Vec<TreeFrame>, Vec<TreeNode>) {
        let Self { frames, nodes, .. } = self;
        let mut totals: Vec<Totals> = nodes.iter().map(|node| node.own).collect();
        let mut sizes = vec![1u32; nodes.len()];
        for index in (1..nodes.len()).rev() {
            let (total, size, parent) = (totals[index], sizes[index], nodes[index].parent as usize);
            totals[parent] += total;
            sizes[parent] += size;
        }
        let children = children_by_name(&frames, &nodes);
        let mut ordered: Vec<TreeNode> = Vec::with_capacity(nodes.len());
        let mut pending = vec![(ROOT, NodeId::ROOT)];
        while let Some((index, parent)) = pending.pop() {
            let id = NodeId(number(ordered.len()));
            let node = &nodes[index as usize];
            ordered.push(TreeNode {
                frame: node.frame,
                end: NodeId(id.0 + sizes[index as usize]),
                parent,
                depth: ordered.get(parent.index()).map_or(0, |parent| parent.depth + 1),
                own: node.own,
                total: totals[index as usize],
            });
            pending.extend(children.of(index).iter().rev().map(|&child| (child, id)));
        }
        (frames.into_iter().collect(), ordered)
    }
}

/// The children of every node in one list.
struct Children {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Children {
    fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.list[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

fn children_by_name(frames: &IndexSet<TreeFrame, FxBuildHasher>, nodes: &[Node]) -> Children {
    let mut by_name: Vec<u32> = (0..number(frames.len())).collect();
    by_name.sort_unstable_by_key(|&frame| &frames[frame as usize]);
    let mut ranks = vec![0u32; frames.len()];
    for (rank, &frame) in by_name.iter().enumerate() {
        ranks[frame as usize] = rank as u32;
    }
    let mut starts = vec![0u32; nodes.len() + 1];
    nodes[1..].iter().for_each(|node| starts[node.parent as usize + 1] += 1);
    (0..nodes.len()).for_each(|index| starts[index + 1] += starts[index]);
    let mut list = vec![0u32; nodes.len() - 1];
    let mut free = starts.clone();
    for (index, node) in nodes.iter().enumerate().skip(1) {
        let slot = &mut free[node.parent as usize];
        list[*slot as usize] = index as u32;
        *slot += 1;
    }
    for index in 0..nodes.len() {
        list[starts[index] as usize..starts[index + 1] as usize]
            .sort_unstable_by_key(|&child| ranks[nodes[child as usize].frame as usize]);
    }
    Children { starts, list }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a call tree holds fewer than 2^32 nodes")
}
