//! The one thing that views and symbolised formats see.

use crate::id::Id;
use crate::location::Naming;
use crate::{
    CodeKind, EventDescription, EventId, Frame, Function, FunctionId, Interner, Location, LocationAddress, LocationId,
    Losses, MappedFile, MappingId, NameMissing, Recording, Samples, StackEnd, StackTree, StringId, TaskId, TaskInfo,
};

/// What is kept of each sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// Every sample with its time and CPU.
    #[default]
    Timeline,
    /// Sums by thread, event and stack: bounded memory however long the run.
    Counts,
}

/// Sums over samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// The weight, in the event's unit and the profile's scale.
    pub weight: u128,
    /// The number of samples.
    pub count: u64,
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.weight += other.weight;
        self.count = self.count.saturating_add(other.count);
    }
}

/// How many samples have leaf frames or stacks with something missing; see
/// [`Profile::name_quality`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameQuality {
    /// Frames in all samples: a frame in two samples counts twice.
    pub frames: u64,
    /// Frames without a name, by file and reason, the most frequent first.
    pub missing: Vec<(Option<MappingId>, NameMissing, u64)>,
}

/// A symbolised profile: interned stacks, samples in columns, and what is missing.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The run that it comes from.
    pub recording: Recording,
    /// The events that were sampled, by [`EventId`].
    pub events: Vec<EventDescription>,
    /// Weights are in units of 10^-`weight_scale` of the event's unit: 0 but for inputs with
    /// fractions.
    pub weight_scale: u8,
    /// All strings.
    pub strings: Interner<StringId, Box<str>>,
    /// Files and regions that held code.
    pub mappings: Interner<MappingId, MappedFile>,
    /// Functions.
    pub functions: Interner<FunctionId, Function>,
    /// Threads.
    pub tasks: Interner<TaskId, TaskInfo>,
    /// Distinct stacks.
    pub stacks: StackTree,
    /// The samples.
    pub samples: Samples,
    /// What left no sample.
    pub losses: Losses,
    locations: Interner<LocationId, Location>,
    naming: Vec<Naming>,
    frames: Vec<Frame>,
}

impl Profile {
    /// An empty profile that keeps so much of each sample.
    pub fn new(detail: Detail) -> Self {
        Self { samples: Samples::new(detail), ..Self::default() }
    }

    /// The id of a location, which is added without names if it is new.
    pub fn add_location(&mut self, location: Location) -> LocationId {
        let id = self.locations.intern(location);
        if id.index() == self.naming.len() {
            self.naming.push(Naming::Pending);
        }
        id
    }

    /// The location of a function that is known by its name only.
    pub fn add_symbol(&mut self, name: &str, kind: CodeKind, inlined: bool) -> LocationId {
        let name = self.strings.intern_str(name);
        let function = self.functions.intern(Function { name, file: None });
        let known = self.locations.len();
        let address = LocationAddress::Symbol { function, inlined };
        let id = self.add_location(Location { mapping: None, address, kind });
        if id.index() == known {
            self.set_frames(id, &[Frame { function, line: 0, inlined, offset: None }]);
        }
        id
    }

    /// The location itself.
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id]
    }

    /// All locations, in the order of their ids.
    pub fn locations(&self) -> impl ExactSizeIterator<Item = (LocationId, &Location)> {
        self.locations.iter()
    }

    /// Says which functions a location stands for, innermost first. No frames is a name that
    /// is missing because no symbol covers the location.
    pub fn set_frames(&mut self, id: LocationId, frames: &[Frame]) {
        if frames.is_empty() {
            return self.set_missing(id, NameMissing::Stripped);
        }
        let start = u32::try_from(self.frames.len()).expect("a profile holds fewer than 2^32 frames");
        self.frames.extend_from_slice(frames);
        self.naming[id.index()] = Naming::Named { start, len: frames.len() as u32 };
    }

    /// Says why a location has no name.
    pub fn set_missing(&mut self, id: LocationId, reason: NameMissing) {
        self.naming[id.index()] = Naming::Missing(reason);
    }

    /// The functions of a location, innermost first, or why they are not known.
    pub fn frames(&self, id: LocationId) -> Result<&[Frame], NameMissing> {
        match self.naming[id.index()] {
            Naming::Named { start, len } => Ok(&self.frames[start as usize..][..len as usize]),
            Naming::Missing(reason) => Err(reason),
            Naming::Pending => Err(NameMissing::NotLookedUp),
        }
    }

    /// The text behind a string's id.
    pub fn text(&self, id: StringId) -> &str {
        &self.strings[id]
    }

    /// A function's name.
    pub fn function_name(&self, id: FunctionId) -> &str {
        self.text(self.functions[id].name)
    }

    /// The last part of a mapped file's path, or its name in brackets as it is.
    pub fn mapping_name(&self, id: MappingId) -> &str {
        let path = self.text(self.mappings[id].path);
        if path.starts_with('[') { path } else { path.rsplit('/').next().unwrap_or(path) }
    }

    /// The events that have samples.
    pub fn events_with_samples(&self) -> Vec<EventId> {
        let mut seen = vec![false; self.events.len()];
        self.samples.iter().for_each(|row| seen[row.event.index()] = true);
        (0..seen.len()).filter(|&index| seen[index]).map(EventId::from_index).collect()
    }

    /// What stands for the name of a location that has none: its file's name in brackets,
    /// `[kernel]` or `[unknown]` where no file is known.
    pub fn placeholder(&self, id: LocationId) -> std::borrow::Cow<'_, str> {
        let location = self.location(id);
        match location.mapping.map(|mapping| self.mapping_name(mapping)) {
            Some(name) if name.starts_with('[') => name.into(),
            Some(name) if !name.is_empty() => format!("[{name}]").into(),
            _ if location.kind == CodeKind::Kernel => "[kernel]".into(),
            _ => "[unknown]".into(),
        }
    }

    /// The sums over all samples of an event.
    pub fn totals(&self, event: EventId) -> Totals {
        let mut totals = Totals::default();
        for row in self.samples.iter().filter(|row| row.event == event) {
            totals += Totals { weight: u128::from(row.weight), count: row.count };
        }
        totals
    }

    /// How many samples of an event have stacks that end for each reason, in the order of
    /// [`StackEnd::ALL`].
    pub fn stack_ends(&self, event: EventId) -> Vec<(StackEnd, u64)> {
        let ends = self.stacks.ends();
        let mut counts = vec![0u64; StackEnd::ALL.len()];
        for row in self.samples.iter().filter(|row| row.event == event) {
            add(&mut counts[ends[row.stack.index()] as usize], row.count);
        }
        StackEnd::ALL.iter().copied().zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    /// How many frames of an event's samples have no name, and why.
    pub fn name_quality(&self, event: EventId) -> NameQuality {
        let mut by_stack = vec![0u64; self.stacks.len()];
        for row in self.samples.iter().filter(|row| row.event == event) {
            add(&mut by_stack[row.stack.index()], row.count);
        }
        let mut quality = NameQuality::default();
        let mut missing = std::collections::HashMap::<_, u64>::new();
        // Children stand after their parents, so walking backwards hands every count down to
        // the root once, however many stacks share a prefix.
        for index in (0..by_stack.len()).rev() {
            let count = by_stack[index];
            let Some((parent, location)) = self.stacks.split(crate::StackId::from_index(index)) else { continue };
            add(&mut by_stack[parent.index()], count);
            add(&mut quality.frames, count);
            if let (Err(reason), true) = (self.frames(location), count > 0) {
                add(missing.entry((self.location(location).mapping, reason)).or_default(), count);
            }
        }
        quality.missing = missing.into_iter().map(|((mapping, reason), count)| (mapping, reason, count)).collect();
        quality.missing.sort_by_key(|&(mapping, reason, count)| (std::cmp::Reverse(count), mapping, reason));
        quality
    }
}

/// Counts stay at the greatest value: an input of plain numbers may claim any count.
fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, FileOffset, SampleRow};

    #[test]
    fn a_location_stands_for_its_inlined_functions() {
        let mut profile = Profile::new(Detail::Timeline);
        let path = profile.strings.intern_str("/usr/bin/app");
        let mapping = profile.mappings.intern(MappedFile { path, build_id: None, version: 0 });
        let at = Location {
            mapping: Some(mapping),
            address: LocationAddress::File(FileOffset(0x1234)),
            kind: CodeKind::User,
        };
        let id = profile.add_location(at);
        assert_eq!(profile.add_location(at), id);
        assert_eq!(profile.frames(id), Err(NameMissing::NotLookedUp));
        let frames: Vec<_> = [("inner", true), ("outer", false)]
            .map(|(name, inlined)| {
                let name = profile.strings.intern_str(name);
                Frame {
                    function: profile.functions.intern(Function { name, file: None }),
                    line: 7,
                    inlined,
                    offset: None,
                }
            })
            .to_vec();
        profile.set_frames(id, &frames);
        let names: Vec<_> =
            profile.frames(id).unwrap().iter().map(|frame| profile.function_name(frame.function)).collect();
        assert_eq!(names, ["inner", "outer"]);
        assert_eq!(profile.mapping_name(mapping), "app");
        profile.set_missing(id, NameMissing::Stripped);
        assert_eq!(profile.frames(id), Err(NameMissing::Stripped));
    }

    #[test]
    fn counts_of_any_size_are_summed() {
        let mut profile = Profile::new(Detail::Counts);
        profile.events.push(EventDescription::plain_samples());
        let event = EventId::from_index(0);
        let f = profile.add_symbol("f", CodeKind::User, false);
        let stack = profile.stacks.intern(StackEnd::Unknown, [f]);
        for _ in 0..3 {
            let row = SampleRow { time: None, task: None, cpu: None, event, stack, weight: u64::MAX, count: u64::MAX };
            profile.samples.push(row);
        }
        assert_eq!(profile.totals(event), Totals { weight: 3 * u128::from(u64::MAX), count: u64::MAX });
        assert_eq!(profile.stack_ends(event), [(StackEnd::Unknown, u64::MAX)]);
        assert_eq!(profile.name_quality(event).frames, u64::MAX);
    }

    #[test]
    fn a_nameless_location_shows_its_file_in_one_pair_of_brackets() {
        let mut profile = Profile::default();
        let mut at = |path: Option<&str>, kind| {
            let mapping = path.map(|path| {
                let path = profile.strings.intern_str(path);
                profile.mappings.intern(MappedFile { path, build_id: None, version: 0 })
            });
            let address = LocationAddress::Memory(Address(0x10));
            let id = profile.add_location(Location { mapping, address, kind });
            profile.placeholder(id).into_owned()
        };
        assert_eq!(at(Some("/usr/lib/libfoo.so"), CodeKind::User), "[libfoo.so]");
        assert_eq!(at(Some("/memfd:x (deleted)"), CodeKind::User), "[memfd:x (deleted)]");
        assert_eq!(at(Some("[vdso]"), CodeKind::User), "[vdso]");
        assert_eq!(at(Some("[kernel]"), CodeKind::Kernel), "[kernel]");
        assert_eq!(at(None, CodeKind::Kernel), "[kernel]");
        assert_eq!(at(None, CodeKind::Jit), "[unknown]");
    }

    #[test]
    fn symbols_of_text_are_one_location_each() {
        let mut profile = Profile::default();
        let called = profile.add_symbol("f", CodeKind::User, false);
        assert_eq!(profile.add_symbol("f", CodeKind::User, false), called);
        assert_ne!(profile.add_symbol("f", CodeKind::User, true), called);
        assert_ne!(profile.add_symbol("f", CodeKind::Kernel, false), called);
        assert_eq!(profile.functions.len(), 1);
    }

    #[test]
    fn what_is_missing_is_weighed_by_the_samples_that_miss_it() {
        let mut profile = Profile::new(Detail::Counts);
        profile.events.push(EventDescription::plain_samples());
        let event = EventId::from_index(0);
        let main = profile.add_symbol("main", CodeKind::User, false);
        let nameless = profile.add_location(Location {
            mapping: None,
            address: LocationAddress::Memory(Address(0x10)),
            kind: CodeKind::Jit,
        });
        profile.set_missing(nameless, NameMissing::NoJitMap);
        let whole = profile.stacks.intern(StackEnd::Bottom, [main, nameless]);
        let cut = profile.stacks.intern(StackEnd::Limit, [main]);
        for (stack, count) in [(whole, 3), (cut, 1)] {
            profile.samples.push(SampleRow {
                time: None,
                task: None,
                cpu: None,
                event,
                stack,
                weight: 10 * count,
                count,
            });
        }
        assert_eq!(profile.totals(event), Totals { weight: 40, count: 4 });
        assert_eq!(profile.stack_ends(event), [(StackEnd::Bottom, 3), (StackEnd::Limit, 1)]);
        let quality = profile.name_quality(event);
        assert_eq!(quality.frames, 7);
        assert_eq!(quality.missing, [(None, NameMissing::NoJitMap, 3)]);
    }
}
