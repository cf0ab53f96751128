//! A profile with places in code of every kind, built by hand.

use model::id::Id as _;
use model::{
    Address, BuildId, CodeKind, Detail, EventDescription, EventId, FileOffset, Frame, Function, Location,
    LocationAddress, LocationId, MappedFile, NameMissing, Profile, SampleLoss, SampleRow, Sampling, StackEnd, TaskId,
    TaskIds, TaskInfo, Unit,
};
use std::time::Duration;

/// A profile that grows.
pub(crate) struct Places {
    pub(crate) profile: Profile,
}

impl Places {
    /// An empty profile of CPU time, a thousand samples a second.
    pub(crate) fn cpu_clock() -> Self {
        let mut profile = Profile::new(Detail::Counts);
        let sampling = Sampling::Frequency(1_000);
        profile.events.push(EventDescription { name: "cpu-clock".into(), unit: Unit::Nanoseconds, sampling });
        Self { profile }
    }

    /// A location in a file, of these functions, innermost first; of none, it has no name.
    pub(crate) fn in_file(&mut self, path: &str, offset: u64, names: &[&str]) -> LocationId {
        self.add(Some(path), LocationAddress::File(FileOffset(offset)), CodeKind::User, names)
    }

    pub(crate) fn add(
        &mut self,
        path: Option<&str>,
        address: LocationAddress,
        kind: CodeKind,
        names: &[&str],
    ) -> LocationId {
        let profile = &mut self.profile;
        let mapping = path.map(|path| {
            let build_id = path.starts_with('/').then(|| BuildId::new(&[0xab, 0x01, path.len() as u8])).flatten();
            let path = profile.strings.intern_str(path);
            profile.mappings.intern(MappedFile { path, build_id, version: 0 })
        });
        let id = profile.add_location(Location { mapping, address, kind });
        let mut frames = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let file = profile.strings.intern_str("app.c");
            let name = profile.strings.intern_str(name);
            let function = profile.functions.intern(Function { name, file: Some(file) });
            frames.push(Frame { function, line: 10 + index as u32, inlined: index + 1 < names.len(), offset: None });
        }
        match names {
            [] => profile.set_missing(id, NameMissing::Stripped),
            _ => profile.set_frames(id, &frames),
        }
        id
    }

    pub(crate) fn task(&mut self, name: &str, ids: TaskIds) -> TaskId {
        let name = self.profile.strings.intern_str(name);
        let process_name = self.profile.strings.intern_str("server");
        self.profile.tasks.intern(TaskInfo { ids, generation: 0, name, process_name })
    }

    /// Adds samples of a stack, outermost frame first.
    pub(crate) fn push(&mut self, task: Option<TaskId>, stack: &[LocationId], weight: u64, count: u64) {
        let stack = self.profile.stacks.intern(StackEnd::Bottom, stack.iter().copied());
        let event = EventId::from_index(0);
        self.profile.samples.push(SampleRow { time: None, task, cpu: None, event, stack, weight, count });
    }
}

/// A server's 100 samples of a millisecond: `main` calls `handle`, into which `parse` was inlined,
/// the kernel, generated code, code without a name, and a function that is known by name only.
pub(crate) fn server() -> Profile {
    let mut places = Places::cpu_clock();
    let worker = places.task("worker", TaskIds::new(70, 71));
    let other = places.task("server", TaskIds::new(70, 70));
    let main = places.in_file("/usr/bin/server", 0x1_1000, &["main"]);
    let handle = places.in_file("/usr/bin/server", 0x1_2345, &["parse", "handle"]);
    let nameless = places.in_file("/usr/lib/libvendor.so.3", 0x10, &[]);
    let kernel = LocationAddress::Kernel(Address(0xffff_ffff_8100_1234));
    let kernel = places.add(Some("[kernel]"), kernel, CodeKind::Kernel, &["do_syscall_64"]);
    let module = LocationAddress::Kernel(Address(0xffff_ffff_c000_1234));
    let module = places.add(Some("[nf_tables]"), module, CodeKind::Kernel, &[]);
    let jit = LocationAddress::Memory(Address(0x7f00_0000_1000));
    let jit = places.add(Some("[jit 70]"), jit, CodeKind::Jit, &["JS:render"]);
    let symbol = places.profile.add_symbol("by_name_only", CodeKind::User, false);
    for (task, stack, samples) in [
        (Some(worker), &[main, handle][..], 40),
        (Some(worker), &[main, handle, kernel], 20),
        (Some(other), &[main, handle, kernel, module], 5),
        (Some(other), &[main, jit], 15),
        (Some(other), &[main, nameless], 10),
        (None, &[symbol], 7),
        (None, &[], 3),
    ] {
        places.push(task, stack, samples * 1_000_000, samples);
    }
    let profile = &mut places.profile;
    profile.recording.target = "./server".into();
    profile.recording.duration = Some(Duration::from_secs(10));
    profile.losses.add(SampleLoss::RingFull, 3);
    places.profile
}
