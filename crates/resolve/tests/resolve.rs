//! Events that are made up, so that the right profile is known.

use model::{
    Address, Body, CallGraph, Callchain, Cpu, Detail, Event, EventDescription, EventId, FileIdentity, FileOffset,
    Mapping, NameMissing, Pid, Profile, Recording, Sample, SampleLoss, Sampling, StackEnd, TaskIds, Time, Unit,
    context_words as context, id::Id as _,
};
use resolve::{Files, Options, Resolver};
use std::collections::BTreeMap;
use std::fs::File;

#[path = "resolve/recorded_files.rs"]
mod recorded_files;
#[path = "resolve/recorded_kernel.rs"]
mod recorded_kernel;

struct NoFiles;

impl Files for NoFiles {
    fn open(&self, _: Pid, _: &Mapping<'_>) -> Result<File, NameMissing> {
        Err(NameMissing::FileGone)
    }
}

fn resolver(detail: Detail) -> Resolver {
    let options = Options {
        recording: Recording::default(),
        events: vec![EventDescription {
            name: "cpu-clock".into(),
            unit: Unit::Nanoseconds,
            sampling: Sampling::Frequency(997),
        }],
        detail,
        idle: false,
        kernel: resolve::KernelSource::Live { cache: None },
        ahead: None,
        call_graph: CallGraph::FramePointer,
        max_frames: 1024,
        kernel_limit: 127,
    };
    Resolver::new(options, Box::new(NoFiles))
}

fn finish(resolver: Resolver) -> Profile {
    resolver.finish(symbols::Options::default(), &|| true)
}

fn event(task: TaskIds, time: u64, body: Body<'_>) -> Event<'_> {
    Event { time: Some(Time::from_ns(time)), cpu: Some(Cpu(0)), task, body }
}

fn sample(task: TaskIds, time: u64, chain: &[u64]) -> Event<'_> {
    let body = Body::Sample(Sample {
        event: EventId::from_index(0),
        period: 1_003_009,
        count: 1,
        callchain: Callchain::new(chain),
        user: None,
        branches: Default::default(),
        data_address: None,
        raw: &[],
        stack_end: None,
    });
    event(task, time, body)
}

fn mapping(path: &[u8], start: u64, len: u64) -> Body<'_> {
    Body::Mapping(Mapping {
        start: Address(start),
        len,
        offset: FileOffset(0),
        identity: FileIdentity::Unknown,
        path,
        kernel: false,
    })
}

/// Weight by thread name and the name of the leaf's file.
fn by_name_and_file(profile: &Profile) -> BTreeMap<(String, String), u64> {
    let mut sums = BTreeMap::new();
    for row in profile.samples.iter() {
        let name = profile.text(profile.tasks[row.task.unwrap()].name).to_owned();
        let leaf = profile.stacks.leaf_first(row.stack).next();
        let file = leaf.and_then(|leaf| profile.location(leaf).mapping);
        let file = file.map_or("-".into(), |file| profile.mapping_name(file).to_owned());
        *sums.entry((name, file)).or_default() += row.count;
    }
    sums
}

const USER_AT_0X1010: [u64; 2] = [context::USER, 0x1010];

#[test]
fn each_is_credited_with_its_own_as_of_the_time() {
    let mut resolver = resolver(Detail::Timeline);
    let (parent, thread) = (TaskIds::new(10, 10), TaskIds::new(10, 11));
    let (child, other) = (TaskIds::new(20, 20), TaskIds::new(30, 30));
    let events = [
        event(parent, 1, Body::Exec(b"server")),
        event(parent, 2, mapping(b"/bin/server", 0x1000, 0x1000)),
        sample(parent, 3, &USER_AT_0X1010),
        event(thread, 4, Body::Fork { parent }),
        event(thread, 5, Body::Name(b"worker")),
        sample(thread, 6, &USER_AT_0X1010),
        event(child, 7, Body::Fork { parent: thread }),
        sample(child, 8, &USER_AT_0X1010),
        event(child, 9, Body::Exec(b"tool")),
        // Before the new program is mapped, the old one's mappings are no longer true.
        sample(child, 10, &USER_AT_0X1010),
        event(child, 11, mapping(b"/bin/tool", 0x1000, 0x1000)),
        sample(child, 12, &USER_AT_0X1010),
        event(child, 13, Body::Exit),
        // On its way out, a thread is sampled after its end was recorded.
        sample(child, 14, &USER_AT_0X1010),
        // A library takes the place of another.
        event(child, 14, Body::Fork { parent }),
        sample(child, 14, &USER_AT_0X1010),
        event(parent, 15, mapping(b"/lib/plugin.so", 0x1000, 0x1000)),
        sample(parent, 16, &USER_AT_0X1010),
        sample(other, 17, &USER_AT_0X1010),
    ];
    events.iter().for_each(|event| {
        resolver.event(event);
    });
    let profile = finish(resolver);
    let expected = [
        ("server", "server", 2),
        ("server", "plugin.so", 1),
        ("worker", "server", 2),
        ("tool", "-", 1),
        ("tool", "tool", 2),
        (":30", "-", 1),
    ];
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(name, file, count)| ((name.to_owned(), file.to_owned()), count)).collect();
    assert_eq!(by_name_and_file(&profile), expected);
    let generations: Vec<u32> =
        profile.tasks.iter().filter(|(_, task)| task.ids == child).map(|(_, task)| task.generation).collect();
    assert_eq!(generations, [0, 0, 1]);
}

#[test]
fn a_frame_pointer_chain_that_leaves_the_code_is_cut_there() {
    let mut resolver = resolver(Detail::Timeline);
    let task = TaskIds::new(10, 10);
    resolver.event(&event(task, 1, mapping(b"/bin/server", 0x1000, 0x1000)));
    let chain = [context::KERNEL, 0xffff_8000_0000_0010, context::USER, 0x1010, 0x1020, 0x1, 0x2];
    resolver.event(&sample(task, 2, &chain));
    let full: Vec<u64> = std::iter::once(context::USER).chain(std::iter::repeat_n(0x1010, 127)).collect();
    resolver.event(&sample(task, 3, &full));
    resolver.event(&sample(task, 4, &[context::KERNEL, 0xffff_8000_0000_0010]));
    let profile = finish(resolver);
    let ends: Vec<_> = profile
        .samples
        .iter()
        .map(|row| (profile.stacks.end(row.stack), profile.stacks.leaf_first(row.stack).count()))
        .collect();
    assert_eq!(ends, [(StackEnd::FramePointersEnd, 3), (StackEnd::Limit, 127), (StackEnd::NoUserStack, 1)]);
}

#[test]
fn idle_and_threads_of_the_kernel() {
    let mut resolver = resolver(Detail::Timeline);
    let in_kernel = [context::KERNEL, 0xffff_8000_0000_0010];
    resolver.event(&sample(TaskIds::new(0, 0), 1, &in_kernel));
    let worker = TaskIds::new(77, 77);
    resolver.event(&event(worker, 2, Body::Fork { parent: TaskIds::new(2, 2) }));
    resolver.event(&event(worker, 3, Body::Name(b"kworker/0:1")));
    resolver.event(&sample(worker, 4, &in_kernel));
    let profile = finish(resolver);
    assert_eq!(profile.losses.count(SampleLoss::Idle), 1);
    assert_eq!(profile.stack_ends(EventId::from_index(0)), [(StackEnd::Bottom, 1)]);
}

/// Samples of two CPUs at 997 Hz, with processes that come and go. Returns the bytes of the
/// profile's samples.
fn record_for(seconds: u64, detail: Detail) -> usize {
    let mut resolver = resolver(detail);
    let step = 1_000_000_000 / 997;
    let mut chain = vec![context::USER];
    let server = TaskIds::new(10, 10);
    resolver.event(&event(server, 0, mapping(b"/bin/server", 0x1000, 0x10_0000)));
    for tick in 0..seconds * 997 {
        let time = tick * step;
        if tick % 997 == 0 {
            // A short process each second, over a few thousand numbers.
            let pid = 1000 + (tick / 997 % 3000) as u32;
            let short = TaskIds::new(pid, pid);
            resolver.event(&event(short, time, Body::Fork { parent: server }));
            resolver.event(&event(short, time, Body::Exec(b"sh")));
            resolver.event(&event(short, time, mapping(b"/bin/sh", 0x1000, 0x1000)));
            resolver.event(&event(short, time, Body::Exit));
        }
        for cpu in 0..2 {
            chain.truncate(1);
            let which = tick.wrapping_mul(7919) % 5000 + cpu;
            chain.extend((0..20).map(|depth| 0x1000 + (which / (depth + 1)) * 16));
            resolver.event(&sample(server, time + cpu, &chain));
        }
    }
    let profile = finish(resolver);
    let count: u64 = profile.samples.iter().map(|row| row.count).sum();
    assert_eq!(count, seconds * 997 * 2);
    profile.samples.memory_bytes()
}

#[test]
fn memory_does_not_grow_with_the_length_of_a_run() {
    let short = record_for(60, Detail::Counts);
    let long = record_for(240, Detail::Counts);
    assert!(long <= short + short / 4, "{short} bytes for a minute, {long} for four");
    assert!(record_for(60, Detail::Timeline) < 60 * 997 * 2 * 20);
}

#[test]
#[ignore = "slow: run by `make truth`"]
fn truth_two_hours_at_997_hz_stay_bounded() {
    assert!(record_for(2 * 3600, Detail::Counts) < 16 << 20);
    assert!(record_for(2 * 3600, Detail::Timeline) < 300 << 20);
}
