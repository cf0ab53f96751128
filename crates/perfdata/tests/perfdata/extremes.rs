//! What is written where something is longer or more than a record can hold; read by flamel and by
//! Debian's perf.

use model::{
    Address, Body, BranchStack, Callchain, CodeAddress, Cpu, Event, EventDescription, EventId, FileIdentity,
    FileOffset, Lost, LostRecords, Mapping, Sample, Sampling, StackEnd, TaskIds, Throttle, Time, Unit, UserStack,
    context_words as context, id::Id as _,
};
use perfdata::{FileBuildId, Info, Input, Reader, RecordedEvent, WriteOptions, Writer};
use records::{Attribute, flag};
use std::path::Path;
use std::process::Command;
use testkit::requires;

/// `PERF_SAMPLE_` `IP`, `TID`, `TIME`, `CALLCHAIN`, `CPU`, `PERIOD`
const FIELDS: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8;
const BRANCH_STACK: u64 = 1 << 11;

fn event(name: &str, fields: u64) -> RecordedEvent {
    let branch_sample_type = if fields & BRANCH_STACK != 0 { 1 } else { 0 };
    let sampling = Sampling::Period(1_000_000);
    RecordedEvent {
        description: EventDescription { name: name.into(), unit: Unit::Nanoseconds, sampling },
        attribute: Attribute {
            kind: 1,
            period_or_frequency: 1_000_000,
            sample_type: fields,
            branch_sample_type,
            flags: flag::SAMPLE_ID_ALL,
            ..Attribute::default()
        },
        ids: Vec::new(),
    }
}

fn at(time: u64, body: Body<'_>) -> Event<'_> {
    Event { time: Some(Time::from_ns(time)), cpu: Some(Cpu(1)), task: TaskIds::new(100, 101), body }
}

fn sample<'a>(chain: &'a [u64], branches: &'a [u64]) -> Body<'a> {
    Body::Sample(Sample {
        event: EventId::from_index(0),
        period: 1_000_000,
        count: 1,
        callchain: Callchain::new(chain),
        user: None,
        branches: BranchStack::new(branches),
        data_address: None,
        raw: &[],
        stack_end: None,
    })
}

/// Whether perf reads it without complaint.
fn perf_accepts(path: &Path) {
    for arguments in [&["script", "-i"][..], &["report", "--header-only", "-i"]] {
        let told = Command::new("perf").args(arguments).arg(path).output().unwrap();
        let complaints = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(told.status.success() && complaints.is_empty(), "{arguments:?}: {} {complaints}", told.status);
    }
}

/// Writes these events, compressed and not, lets perf read them, and gives what `look` makes of each
/// that flamel reads.
fn written<T: PartialEq + std::fmt::Debug>(
    events: &[RecordedEvent],
    write: impl Fn(&mut Writer),
    mut look: impl FnMut(&Event<'_>) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    for compression in [None, Some(1)] {
        let file = tempfile::NamedTempFile::new().unwrap();
        let info = Info { host: Some("emmy".into()), ..Info::default() };
        let options = WriteOptions { compression };
        let mut writer = Writer::create(file.reopen().unwrap(), events, info, options).unwrap();
        write(&mut writer);
        writer.finish().unwrap();
        let mut reader = Reader::open(Input::new(file.reopen().unwrap()).unwrap()).unwrap();
        let mut seen = Vec::new();
        let outcome = reader.read(|event| seen.push(look(event))).unwrap();
        assert!(outcome.damage.is_none() && outcome.losses.iter().next().is_none(), "{outcome:?}");
        let names =
            |events: &[RecordedEvent]| events.iter().map(|event| event.description.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(reader.events()), names(events));
        if requires::perf() {
            perf_accepts(file.path());
        }
        all.push(seen);
    }
    let compressed = all.pop().unwrap();
    assert_eq!(all[0], compressed);
    compressed
}

fn depth(event: &Event<'_>) -> (usize, usize, Option<StackEnd>) {
    let Body::Sample(sample) = event.body else { panic!("{event:?}") };
    (sample.callchain.words().len(), sample.branches.iter().len(), sample.stack_end)
}

#[test]
fn stacks_that_no_record_holds_are_cut_and_say_so() {
    let kernel: Vec<u64> =
        std::iter::once(context::KERNEL).chain(0xffff_ffff_8100_0000..0xffff_ffff_8101_0000).collect();
    let frames: Vec<CodeAddress> = (0..65_536).map(|n| CodeAddress::ReturnAddress(Address(0x40_1000 + n))).collect();
    let found = written(
        &[event("cpu-clock", FIELDS)],
        |writer| {
            writer.event(&at(1, sample(&kernel, &[])), None).unwrap();
            let user = UserStack { frames: &frames, end: StackEnd::Bottom };
            writer.event(&at(2, sample(&kernel[..3], &[])), Some(user)).unwrap();
            let user = UserStack { frames: &frames[..5], end: StackEnd::Bottom };
            writer.event(&at(3, sample(&kernel[..3], &[])), Some(user)).unwrap();
        },
        depth,
    );
    let most = 65_528 / 8 - 8;
    let cut = (most, 0, Some(StackEnd::Limit));
    // Three of the kernel's words, the mark and five frames.
    assert_eq!(found, [cut, cut, (9, 0, Some(StackEnd::Bottom))]);
}

#[test]
fn branches_leave_room_for_a_stack() {
    let branches: Vec<u64> = (0..60_000).collect();
    let chain = [context::USER, 0x40_1000, 0x40_2000];
    let long: Vec<u64> = std::iter::once(context::USER).chain(0..20_000).collect();
    let found = written(
        &[event("cpu-clock", FIELDS | BRANCH_STACK)],
        |writer| {
            writer.event(&at(1, sample(&chain, &branches)), None).unwrap();
            writer.event(&at(2, sample(&long, &branches)), None).unwrap();
            writer.event(&at(3, sample(&long, &branches[..6])), None).unwrap();
        },
        depth,
    );
    let limit = Some(StackEnd::Limit);
    assert_eq!(found, [(3, 1365, None), (8191 - 8 - 4096, 1365, limit), (8191 - 8 - 7, 2, limit)]);
}

#[test]
fn long_paths_and_strange_names_are_cut() {
    let long = vec![b'x'; 5000];
    let mapping = |path| Mapping {
        start: Address(0x40_0000),
        len: 0x1000,
        offset: FileOffset(0),
        identity: FileIdentity::Unknown,
        path,
        kernel: false,
    };
    let found = written(
        &[event("cpu-clock", FIELDS)],
        |writer| {
            for (time, path) in [(1, &long[..]), (2, &long[..4096]), (3, &long[..4095]), (4, b"/bin/a\0b"), (5, b"")] {
                writer.event(&at(time, Body::Mapping(mapping(path))), None).unwrap();
            }
            for (time, name) in [(6, &long[..]), (7, b"na\0me"), (8, b""), (9, b"\xff\x01")] {
                writer.event(&at(time, Body::Name(name)), None).unwrap();
                writer.event(&at(time, Body::Exec(name)), None).unwrap();
            }
            let build_id = model::BuildId::new(&[7; 20]).unwrap();
            writer.build_id(FileBuildId { path: long.clone().into(), build_id, kernel: false });
        },
        |event| match event.body {
            Body::Mapping(mapping) => mapping.path.to_vec(),
            Body::Name(name) | Body::Exec(name) => name.to_vec(),
            other => panic!("{other:?}"),
        },
    );
    let cut = vec![b'x'; 4095];
    let paths = [cut.clone(), cut.clone(), cut.clone(), b"/bin/a".to_vec(), Vec::new()];
    let names = [cut, b"na".to_vec(), Vec::new(), b"\xff\x01".to_vec()];
    let wanted: Vec<_> = paths.into_iter().chain(names.into_iter().flat_map(|name| [name.clone(), name])).collect();
    assert_eq!(found, wanted);
}

#[test]
fn no_events_are_a_recording() {
    let found = written(&[event("cpu-clock", FIELDS)], |_| {}, |event| format!("{event:?}"));
    assert_eq!(found, [""; 0]);
    // Nor need there be an event that could be sampled; perf does not read that.
    let file = tempfile::NamedTempFile::new().unwrap();
    let writer = Writer::create(file.reopen().unwrap(), &[], Info::default(), WriteOptions::default()).unwrap();
    writer.finish().unwrap();
    let mut reader = Reader::open(Input::new(file.reopen().unwrap()).unwrap()).unwrap();
    assert!(reader.events().is_empty());
    assert!(reader.read(|event| panic!("{event:?}")).unwrap().damage.is_none());
}

#[test]
fn losses_and_throttling_stay_what_they_are() {
    let events = [event("cpu-clock", FIELDS), event("other", FIELDS)];
    let bodies = [
        Body::Lost(Lost { count: 3, of: LostRecords::Samples }),
        Body::Lost(Lost { count: 4, of: LostRecords::SideBand }),
        Body::Throttle(Throttle { event: Some(EventId::from_index(1)), begins: true }),
        Body::Throttle(Throttle { event: None, begins: false }),
        Body::Fork { parent: TaskIds::new(1, 2) },
        Body::Exit,
    ];
    for events in [&events[..], &events[..1]] {
        let file = tempfile::NamedTempFile::new().unwrap();
        let options = WriteOptions::default();
        let mut writer = Writer::create(file.reopen().unwrap(), events, Info::default(), options).unwrap();
        let bodies = if events.len() > 1 { &bodies[..] } else { &bodies[..2] };
        for (time, body) in (1..).zip(bodies) {
            writer.event(&at(time, *body), None).unwrap();
        }
        writer.finish().unwrap();
        let mut reader = Reader::open(Input::new(file.reopen().unwrap()).unwrap()).unwrap();
        let mut found = Vec::new();
        reader.read(|event| found.push(format!("{:?}", event.body))).unwrap();
        assert_eq!(found, bodies.iter().map(|body| format!("{body:?}")).collect::<Vec<_>>());
    }
}

#[test]
fn thousands_of_events_keep_their_names() {
    let events: Vec<RecordedEvent> = (0..5000).map(|n| event(&format!("event-number-{n}"), FIELDS)).collect();
    let chain = [context::USER, 0x40_1000];
    let one = |n: usize| match sample(&chain, &[]) {
        Body::Sample(sample) => Body::Sample(Sample { event: EventId::from_index(n), ..sample }),
        other => other,
    };
    let write = |writer: &mut Writer| {
        for n in 0..5000 {
            writer.event(&at(n as u64 + 1, one(n)), None).unwrap();
        }
    };
    let found = written(&events, write, |event| match event.body {
        Body::Sample(sample) => sample.event.index(),
        other => panic!("{other:?}"),
    });
    assert_eq!(found, (0..5000).collect::<Vec<_>>());
    // Names stand before the samples, too, where a killed writer leaves them.
    let file = tempfile::NamedTempFile::new().unwrap();
    let writer = Writer::create(file.reopen().unwrap(), &events, Info::default(), WriteOptions::default()).unwrap();
    drop(writer);
    let reader = Reader::open(Input::new(file.reopen().unwrap()).unwrap()).unwrap();
    assert_eq!(reader.events()[4999].description.name, "event-number-4999");
}
