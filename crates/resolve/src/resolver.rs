//! Takes events, one after the other, and makes the profile.

use crate::binary::{Binaries, BinaryId};
use crate::files::Files;
use crate::kernel::{Kernel, KernelSource};
use crate::kernel_modules::KernelModules;
use crate::naming::{self, Naming, Wanted};
use crate::process::Processes;
use crate::regions::Code;
use crate::stacks::{StackOptions, UserStacks};
use model::{
    Body, CallGraph, CodeAddress, CodeKind, Context, Detail, Event, EventDescription, Location, LocationAddress,
    LocationId, MappedFile, MappingId, Pid, Profile, Recording, Sample, SampleLoss, SampleRow, StackEnd, TaskIds,
};
use rustc_hash::FxHashMap;

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
    kernel_modules: Option<KernelModules>,
    user_stacks: UserStacks,
    stack_options: StackOptions,
    idle: bool,
    /// What has to be looked up at the end, by location.
    wanted: FxHashMap<LocationId, Wanted>,
    root_first: Vec<LocationId>,
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
            kernel_modules: None,
            user_stacks: UserStacks::default(),
            stack_options: StackOptions {
                call_graph: options.call_graph,
                max_frames: options.max_frames,
                kernel_limit: options.kernel_limit,
            },
            idle: options.idle,
            wanted: FxHashMap::default(),
            root_first: Vec::new(),
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event<'_>) {
        let Self { processes, profile, binaries, files, .. } = self;
        match &event.body {
            Body::Sample(sample) => self.sample(event, sample),
            Body::Mapping(mapping) if mapping.kernel => {}
            Body::Mapping(mapping) => processes.map(event.task.pid, mapping, &**files, binaries, profile),
            Body::Name(name) => processes.name(event.task, name, profile),
            Body::Exec(name) => processes.exec(event.task, name, profile),
            Body::Fork { parent } => processes.fork(event.task, *parent, profile),
            Body::Exit => processes.exit(event.task),
            Body::Lost(lost) => {
                let reason = if lost.samples_only { SampleLoss::RingFull } else { SampleLoss::SideBandLost };
                profile.losses.add(reason, lost.count);
            }
            Body::Throttle(throttle) => profile.losses.throttled += u64::from(throttle.begins),
        }
    }

    fn sample(&mut self, event: &Event<'_>, sample: &Sample<'_>) {
        if event.task.is_idle() && !self.idle {
            self.profile.losses.add_of(sample.event, SampleLoss::Idle, sample.count);
            return;
        }
        let task = self.processes.task(event.task, &mut self.profile);
        let end = self.collect_locations(event.task, sample);
        let stack = self.profile.stacks.intern(end, self.root_first.drain(..).rev());
        self.profile.samples.push(SampleRow {
            time: event.time,
            task: Some(task),
            cpu: event.cpu,
            event: sample.event,
            stack,
            weight: sample.period,
            count: sample.count,
        });
    }

    /// Leaves the sample's locations in `self.root_first`, the leaf first.
    fn collect_locations(&mut self, task: TaskIds, sample: &Sample<'_>) -> StackEnd {
        let leaf_only = self.stack_options.call_graph == CallGraph::None;
        for (context, address) in sample.callchain.frames() {
            if context == Context::User || (leaf_only && !self.root_first.is_empty()) {
                continue;
            }
            let location = self.kernel_or_foreign(context, address);
            self.root_first.push(location);
        }
        let Self { processes, user_stacks, binaries, stack_options, profile, mappings, wanted, root_first, .. } = self;
        let process = processes.process(task.pid, profile);
        let (frames, end) = user_stacks.of(sample, process, binaries, stack_options);
        let frames = if leaf_only && !root_first.is_empty() { &[] } else { frames };
        let (generation, regions) = (process.generation, &process.regions);
        for frame in frames {
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
            wanted.entry(id).or_insert(want);
            root_first.push(id);
        }
        end
    }

    fn kernel_or_foreign(&mut self, context: Context, address: CodeAddress) -> LocationId {
        let address = address.lookup();
        let (location, want) = if context == Context::Kernel {
            let modules = self.kernel_modules.get_or_insert_with(KernelModules::live);
            let path = self.profile.strings.intern_str(modules.name_of(address));
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

    /// What there is so far, without names.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What there is so far, to add what only the source knows: losses, remarks.
    pub fn profile_mut(&mut self) -> &mut Profile {
        &mut self.profile
    }

    /// Looks up all names and gives the profile. Between two files `stop` is asked whether the
    /// rest shall stay without names.
    pub fn finish(mut self, symbols: symbols::Options, stop: &dyn Fn() -> bool) -> Profile {
        let Self { profile, wanted, binaries, .. } = &mut self;
        let kernel = Kernel::new(KernelSource::Live);
        naming::name_all(profile, Naming { wanted, binaries, kernel, options: symbols, stop });
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
