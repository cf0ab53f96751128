//! Takes events, one after the other, and makes the profile.

use crate::ahead::Ahead;
use crate::binary::{Binaries, Binary, BinaryId};
use crate::files::Files;
use crate::kernel::{Kernel, KernelSource};
use crate::known_stacks::{Chain, KnownStacks};
use crate::naming::{self, Naming, Wanted};
use crate::process::Processes;
use crate::regions::Code;
use crate::stacks::{StackOptions, UserStacks};
use model::{
    Body, CallGraph, Callchain, CodeAddress, CodeKind, Context, Detail, Event, EventDescription, Location,
    LocationAddress, LocationId, LostRecords, MappedFile, MappingId, Pid, Profile, Recording, Sample, SampleLoss,
    SampleRow, StackEnd, StackId, TaskId, TaskIds, UserStack, context_words,
};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// What a profile is made of, and how.
pub struct Options {
    /// What is known of the run.
    pub recording: Recording,
    /// The events that are sampled, by [`EventId`](model::EventId).
    pub events: Vec<EventDescription>,
    /// What is kept of each sample.
    pub detail: Detail,
    /// Whether samples of idle CPUs are kept.
    pub idle: bool,
    /// Which kernel they were taken in.
    pub kernel: KernelSource,
    /// How names of files are looked up while events come in. Without it they are looked up at the
    /// end, so that a live run takes no more of the machine than it has to.
    pub ahead: Option<symbols::Options>,
    /// How user stacks are found.
    pub call_graph: CallGraph,
    /// The most frames of a stack's user part.
    pub max_frames: usize,
    /// The most words of a callchain (`kernel.perf_event_max_stack`).
    pub kernel_limit: usize,
}

/// The state between two events.
pub struct Resolver {
    profile: Profile,
    files: Box<dyn Files>,
    binaries: Binaries,
    mappings: FxHashMap<BinaryId, MappingId>,
    processes: Processes,
    kernel: Kernel,
    ahead: Option<Ahead>,
    user_stacks: UserStacks,
    stack_options: StackOptions,
    idle: bool,
    known: KnownStacks,
    /// What has to be looked up at the end, by location.
    wanted: FxHashMap<LocationId, Wanted>,
    frames: Vec<StackFrame>,
    chain: Vec<u64>,
}

/// What came out of an event beside what it did to the profile.
#[derive(Clone, Copy)]
pub enum Told<'a> {
    /// Nothing.
    Nothing,
    /// A sample's copied stack was unwound.
    Unwound(UserStack<'a>),
    /// A file was mapped.
    Mapped(&'a Binary),
}

/// A frame of one sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackFrame {
    /// Where it was found.
    pub address: CodeAddress,
    /// Whose code it is.
    pub context: Context,
    /// What it is in the profile.
    pub location: LocationId,
}

impl Resolver {
    /// Nothing has happened yet; `files` finds what will be mapped.
    pub fn new(options: Options, files: Box<dyn Files>) -> Self {
        let mut profile = Profile::new(options.detail);
        profile.recording = options.recording;
        profile.events = options.events;
        Self {
            profile,
            files,
            binaries: Binaries::default(),
            mappings: FxHashMap::default(),
            processes: Processes::default(),
            kernel: Kernel::new(options.kernel),
            ahead: options.ahead.map(Ahead::new),
            user_stacks: UserStacks::default(),
            stack_options: StackOptions {
                call_graph: options.call_graph,
                max_frames: options.max_frames,
                kernel_limit: options.kernel_limit,
            },
            idle: options.idle,
            known: KnownStacks::default(),
            wanted: FxHashMap::default(),
            frames: Vec::new(),
            chain: Vec::new(),
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event<'_>) -> Told<'_> {
        if let Body::Sample(sample) = &event.body {
            let user = self.sample(event, sample);
            return user.map_or(Told::Nothing, Told::Unwound);
        }
        self.side_band(event).map_or(Told::Nothing, Told::Mapped)
    }

    /// Takes the next event without adding a sample to the profile. Leaves the sample's frames in
    /// `frames`, the leaf first, and gives its task. A copied stack is unwound; a callchain is given as
    /// it was recorded, with whatever numbers a walk along frame pointers has picked up.
    pub fn look(&mut self, event: &Event<'_>, frames: &mut Vec<StackFrame>) -> Option<TaskId> {
        frames.clear();
        let Body::Sample(sample) = &event.body else {
            self.side_band(event);
            return None;
        };
        let task = self.processes.task(event.task, &mut self.profile);
        let Self { processes, user_stacks, binaries, stack_options, profile, .. } = self;
        match sample.user {
            Some(_) => {
                user_stacks.of(
                    event.task.tid,
                    sample,
                    processes.process(event.task.pid, profile),
                    binaries,
                    stack_options,
                );
            }
            None => user_stacks.as_recorded(sample.callchain),
        }
        self.collect_frames(event.task, sample.callchain);
        std::mem::swap(frames, &mut self.frames);
        if let Some(ahead) = &mut self.ahead {
            ahead.sampled(&self.binaries);
        }
        Some(task)
    }

    fn side_band(&mut self, event: &Event<'_>) -> Option<&Binary> {
        let Self { processes, profile, binaries, files, .. } = self;
        match &event.body {
            Body::Sample(_) => {}
            Body::Mapping(mapping) if mapping.kernel => self.kernel.map(mapping),
            Body::Mapping(mapping) => {
                let binary = processes.map(event.task.pid, mapping, &**files, binaries, profile);
                return binary.map(|id| &binaries[id]);
            }
            Body::Name(name) => processes.name(event.task, name, profile),
            Body::Exec(name) => processes.exec(event.task, name, profile),
            Body::Fork { parent } => processes.fork(event.task, *parent, profile),
            Body::Exit => processes.exit(event.task),
            Body::Lost(lost) => {
                let reason = match lost.of {
                    LostRecords::Samples => SampleLoss::RingFull,
                    LostRecords::SideBand => SampleLoss::SideBandLost,
                    LostRecords::Any => SampleLoss::RecordsLost,
                };
                profile.losses.add(reason, lost.count);
            }
            Body::Throttle(throttle) => profile.losses.throttled += u64::from(throttle.begins),
        }
        None
    }

    fn sample(&mut self, event: &Event<'_>, sample: &Sample<'_>) -> Option<UserStack<'_>> {
        if event.task.is_idle() && !self.idle {
            self.profile.losses.add_of(sample.event, SampleLoss::Idle, sample.count);
            return None;
        }
        let task = self.processes.task(event.task, &mut self.profile);
        let stack = self.stack(event.task, sample);
        self.profile.samples.push(SampleRow {
            time: event.time,
            task: Some(task),
            cpu: event.cpu,
            event: sample.event,
            stack,
            weight: sample.period,
            count: sample.count,
        });
        if let Some(ahead) = &mut self.ahead {
            ahead.sampled(&self.binaries);
        }
        sample.user.is_some().then(|| self.user_stacks.last())
    }

    /// The sample's stack: one that was seen before, or a new one.
    fn stack(&mut self, task: TaskIds, sample: &Sample<'_>) -> StackId {
        let Self { processes, user_stacks, binaries, stack_options, profile, known, chain, .. } = self;
        let process = processes.process(task.pid, profile);
        let space = process.address_space;
        let kind = 1 + sample.stack_end.map_or(0, |end| 1 + end as u32);
        if sample.user.is_none() {
            // The chain says it all, and is not looked into unless it is new.
            let words = sample.callchain.words();
            let key = Chain { space, kind: kind << 8 | sample.callchain.context() as u32, words };
            return match known.find(key) {
                Some(stack) => stack,
                None => {
                    let end = user_stacks.of(task.tid, sample, process, binaries, stack_options);
                    let stack = self.new_stack(task, sample, end);
                    self.known.insert(key, stack);
                    stack
                }
            };
        }
        let end = user_stacks.of(task.tid, sample, process, binaries, stack_options);
        chain.clear();
        chain.extend(sample.callchain.context().mark());
        chain.extend(sample.callchain.before_user().words());
        for frame in user_stacks.last().frames {
            // What a signal interrupted was not called.
            if let CodeAddress::InstructionPointer(_) = frame {
                chain.push(context_words::USER);
            }
            chain.push(frame.raw().0);
        }
        let words = std::mem::take(chain);
        let key = Chain { space, kind: (end as u32 + 1) << 16, words: &words };
        let stack = known.find(key).unwrap_or_else(|| {
            let stack = self.new_stack(task, sample, end);
            self.known.insert(key, stack);
            stack
        });
        self.chain = words;
        stack
    }

    fn new_stack(&mut self, task: TaskIds, sample: &Sample<'_>, end: StackEnd) -> StackId {
        self.collect_frames(task, sample.callchain);
        let root_first = self.frames.iter().rev().map(|frame| frame.location);
        self.profile.stacks.intern(end, root_first)
    }

    /// Leaves the sample's frames in `self.frames`, the leaf first; those of user space are the last
    /// that were walked.
    fn collect_frames(&mut self, task: TaskIds, callchain: Callchain<'_>) {
        let leaf_only = self.stack_options.call_graph == CallGraph::None;
        self.frames.clear();
        for (context, address) in callchain.before_user().frames() {
            if leaf_only && !self.frames.is_empty() {
                continue;
            }
            let location = self.kernel_or_foreign(context, address);
            self.frames.push(StackFrame { address, context, location });
        }
        let Self { processes, user_stacks, binaries, profile, mappings, wanted, frames, ahead, .. } = self;
        let process = processes.process(task.pid, profile);
        let user = if leaf_only && !frames.is_empty() { &[] } else { user_stacks.last().frames };
        let (generation, regions) = (process.generation, &process.regions);
        for &frame in user {
            let address = frame.lookup();
            let (location, want) = match regions.find(address) {
                Some(region) => match region.code {
                    Code::Binary(id) => {
                        let mapping = *mappings.entry(id).or_insert_with(|| add_mapping(&binaries[id], profile));
                        let offset = region.offset_of(address);
                        let location = Location {
                            mapping: Some(mapping),
                            address: LocationAddress::File(offset),
                            kind: CodeKind::User,
                        };
                        (location, Wanted::Binary(id, offset))
                    }
                    Code::Generated => {
                        let mapping = generated_mapping(task.pid, generation, profile);
                        let location = Location {
                            mapping: Some(mapping),
                            address: LocationAddress::Memory(address),
                            kind: CodeKind::Jit,
                        };
                        (location, Wanted::Generated(task.pid, address))
                    }
                },
                None => {
                    let location =
                        Location { mapping: None, address: LocationAddress::Memory(address), kind: CodeKind::User };
                    (location, Wanted::Nothing)
                }
            };
            let id = profile.add_location(location);
            if let Entry::Vacant(entry) = wanted.entry(id) {
                entry.insert(want);
                if let (Some(ahead), Wanted::Binary(binary, offset)) = (&mut *ahead, want) {
                    ahead.want(binary, id, offset);
                }
            }
            frames.push(StackFrame { address: frame, context: Context::User, location: id });
        }
    }

    fn kernel_or_foreign(&mut self, context: Context, address: CodeAddress) -> LocationId {
        let address = address.lookup();
        let (location, want) = if context == Context::Kernel {
            self.kernel.sampled();
            let path = self.profile.strings.intern_str(self.kernel.name_of(address));
            let mapping = self.profile.mappings.intern(MappedFile { path, build_id: None, version: 0 });
            let address_in_kernel = LocationAddress::Kernel(address);
            let location = Location { mapping: Some(mapping), address: address_in_kernel, kind: CodeKind::Kernel };
            (location, Wanted::Kernel(address))
        } else {
            let location = Location { mapping: None, address: LocationAddress::Memory(address), kind: CodeKind::Guest };
            (location, Wanted::OutOfReach)
        };
        let id = self.profile.add_location(location);
        self.wanted.entry(id).or_insert(want);
        id
    }

    /// What there is so far; without names until [`Self::name`].
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What there is so far, to add what only the source knows: losses, remarks.
    pub fn profile_mut(&mut self) -> &mut Profile {
        &mut self.profile
    }

    /// Looks up all names. Between two files `stop` is asked whether the rest shall stay without.
    pub fn name(&mut self, symbols: symbols::Options, stop: &dyn Fn() -> bool) {
        let perf_maps = self.files.are_of_this_machine();
        let Self { profile, wanted, binaries, kernel, ahead, .. } = self;
        let ahead = ahead.take().map(|ahead| ahead.finish(binaries)).unwrap_or_default();
        naming::name_all(profile, Naming { wanted, binaries, perf_maps, ahead, kernel, options: symbols, stop });
    }

    /// Forgets who runs and what is mapped, so that the same events can be taken again; the profile,
    /// files and names stay.
    pub fn rewind(&mut self) {
        self.processes = Processes::default();
        // What these remember is told apart by numbers that are given out anew.
        self.known = KnownStacks::default();
        self.user_stacks = UserStacks::default();
    }

    /// The profile.
    pub fn into_profile(self) -> Profile {
        self.profile
    }

    /// Looks up all names and gives the profile; see [`Self::name`].
    pub fn finish(mut self, symbols: symbols::Options, stop: &dyn Fn() -> bool) -> Profile {
        self.name(symbols, stop);
        self.profile
    }
}

fn add_mapping(binary: &crate::Binary, profile: &mut Profile) -> MappingId {
    let path = profile.strings.intern_str(&binary.path);
    profile.mappings.intern(MappedFile { path, build_id: binary.build_id(), version: binary.version })
}

/// Generated code has no file; each process's is its own.
fn generated_mapping(pid: Pid, generation: u32, profile: &mut Profile) -> MappingId {
    let path = profile.strings.intern_str(&format!("[jit {pid}]"));
    profile.mappings.intern(MappedFile { path, build_id: None, version: generation })
}
