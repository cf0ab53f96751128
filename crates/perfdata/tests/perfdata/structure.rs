//! Recordings whose parts are missing, strange or in an unusual order.

use crate::made::*;
use model::SampleLoss;
use perfdata::{Error, Input, Reader};
use std::process::Command;
use testkit::requires;

const LITTLE: Order = Order::Little;

fn one_event() -> Vec<(Attribute, Vec<u64>)> {
    vec![(Attribute::default(), vec![7])]
}

fn at(time: u64) -> Vec<u8> {
    sample(7, time, time)
}

fn times(bytes: Vec<u8>) -> Vec<u64> {
    samples(bytes).0.into_iter().map(|(time, _)| time).collect()
}

#[test]
fn records_are_sorted_over_two_rounds() {
    let records = [at(30), at(10), round(LITTLE), at(40), at(20), round(LITTLE), at(35), round(LITTLE), at(50)];
    let parts = Parts::new(one_event(), &records);
    for bytes in [parts.file(), parts.pipe()] {
        let (found, outcome) = samples(bytes);
        assert_eq!(found.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [10, 20, 30, 35, 40, 50]);
        assert_eq!((outcome.damage, outcome.losses.count(SampleLoss::OutOfOrder)), (None, 0));
    }
}

#[test]
fn what_comes_too_late_is_given_out_and_counted() {
    let records = [at(10), at(30), round(LITTLE), at(40), round(LITTLE), at(20), round(LITTLE)];
    let (found, outcome) = samples(Parts::new(one_event(), &records).file());
    assert_eq!(found.len(), 4);
    assert_eq!(outcome.losses.count(SampleLoss::OutOfOrder), 1);
}

#[test]
fn a_pipe_without_rounds_is_sorted_as_a_whole() {
    let records: Vec<_> = (1..2000u64).map(|n| at(n * 7919 % 2003)).collect();
    let found = times(Parts::new(one_event(), &records).pipe());
    assert_eq!(found.len(), 1999);
    assert!(found.is_sorted());
}

#[test]
fn hardware_traces_are_passed_over_and_counted() {
    for len in [4096u64, 4099, 1 << 20] {
        let trace = record(AUXTRACE, 0, Bytes::new(LITTLE).u64s(&[len, 0, 0]).u32(0).u32(1).u32(2).u32(0));
        let records = [at(1), trace, vec![0xa5; len as usize], at(2)];
        let parts = Parts::new(one_event(), &records);
        for bytes in [parts.file(), parts.pipe()] {
            let (found, outcome) = samples(bytes);
            assert_eq!((found.len(), outcome.trace_bytes, outcome.damage), (2, len, None));
        }
    }
}

#[test]
fn a_trace_longer_than_the_recording_ends_it() {
    for len in [1000, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX] {
        let trace = record(AUXTRACE, 0, Bytes::new(LITTLE).u64s(&[len, 0, 0]).u64s(&[0, 0]));
        let parts = Parts::new(one_event(), &[at(1), trace.clone(), trace, at(2)]);
        for bytes in [parts.file(), parts.pipe()] {
            assert_eq!(times(bytes.clone()), [1], "{len}");
            let path = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(path.path(), bytes).unwrap();
            let mut reader = Reader::open(Input::new(path.reopen().unwrap()).unwrap()).unwrap();
            reader.read(|_| {}).unwrap();
        }
    }
}

#[test]
fn events_are_called_what_updates_say() {
    let events = vec![(Attribute::default(), vec![7]), (Attribute { config: 2, ..Attribute::default() }, vec![8])];
    let update = |id, name: &str| record(EVENT_UPDATE, 0, Bytes::new(LITTLE).u64s(&[2, id]).text(name));
    // Of the unit (0) nothing is read, and nobody has the id 99.
    let unit = record(EVENT_UPDATE, 0, Bytes::new(LITTLE).u64s(&[0, 7]).text("ms"));
    let records = [update(8, "my-faults"), unit, update(99, "nobody's"), at(1)];
    let reader = Reader::open(Input::Bytes(Parts::new(events, &records).pipe())).unwrap();
    let names: Vec<_> = reader.events().iter().map(|event| event.description.name.as_str()).collect();
    assert_eq!(names, ["cpu-clock:HG", "my-faults"]);
}

#[test]
fn unknown_records_are_passed_over_and_counted() {
    let strange = |kind| record(kind, 0, Bytes::new(LITTLE).u64s(&[1, 2, 3, 4]));
    let (found, outcome) = samples(Parts::new(one_event(), &[strange(40), strange(200), at(1)]).file());
    assert_eq!(found.len(), 1);
    assert_eq!(outcome.losses.count(SampleLoss::UnknownRecord), 2);
}

#[test]
fn records_before_the_first_attribute_are_of_no_event() {
    let parts = Parts::new(one_event(), &[at(2)]);
    let mut bytes = parts.pipe();
    bytes.splice(16..16, at(1));
    let (found, outcome) = samples(bytes);
    assert_eq!((found, outcome.losses.count(SampleLoss::UnknownRecord)), (vec![(2, 2)], 1));
}

#[test]
fn a_recorder_that_was_killed_has_not_said_how_much_there_is() {
    let mut bytes = Parts::new(one_event(), &[at(1), at(2)]).file();
    bytes[48..56].fill(0);
    assert_eq!(times(bytes.clone()), [1, 2]);
    bytes.truncate(bytes.len() - 3);
    let (found, outcome) = samples(bytes);
    assert_eq!((found.len(), outcome.damage.unwrap().what), (1, "the last record is cut"));
}

#[test]
fn records_may_end_before_the_header_says() {
    let mut bytes = Parts::new(one_event(), &[at(1), at(2)]).file();
    for size in [1 << 20, u64::MAX, u64::MAX >> 1] {
        bytes[48..56].copy_from_slice(&u64::to_le_bytes(size));
        let (found, outcome) = samples(bytes.clone());
        assert_eq!(found.len(), 2);
        let damage = outcome.damage.unwrap();
        assert_eq!((damage.offset, damage.what), (bytes.len() as u64, "the file ends before its records do"));
    }
}

#[test]
fn events_may_differ_in_their_fields() {
    let without_time = Attribute { sample_type: IDENTIFIER | IP | TID | PERIOD, ..Attribute::default() };
    let more = Attribute { sample_type: IDENTIFIER | TID | TIME | CPU | PERIOD, ..Attribute::default() };
    let events = vec![(without_time, vec![1]), (Attribute::default(), vec![7]), (more, vec![9])];
    let short = record(SAMPLE, 2, Bytes::new(LITTLE).u64s(&[1, 0x10]).u32(5).u32(5).u64(77));
    let third = record(SAMPLE, 2, Bytes::new(LITTLE).u64(9).u32(5).u32(6).u64s(&[15, 3, 88]));
    let records = [at(20), short, third, at(10), round(LITTLE), round(LITTLE)];
    let (found, outcome) = samples(Parts::new(events, &records).file());
    // What has no time comes at once.
    assert_eq!(found, [(0, 77), (10, 10), (15, 88), (20, 20)]);
    assert!(outcome.losses.iter().next().is_none(), "{outcome:?}");
}

#[test]
fn records_of_no_event_are_counted() {
    let parts = Parts::new(Vec::new(), &[at(1), round(LITTLE)]);
    for bytes in [parts.file(), parts.pipe()] {
        let (found, outcome) = samples(bytes);
        assert_eq!((found.len(), outcome.losses.count(SampleLoss::UnknownRecord)), (0, 1));
        assert_eq!(outcome.damage, None);
    }
}

#[test]
fn attributes_may_be_of_any_version() {
    for size in [64, 72, 96, 128, 136, 4096] {
        let parts = Parts::new(vec![(Attribute { size, ..Attribute::default() }, vec![7])], &[at(1)]);
        for bytes in [parts.file(), parts.pipe()] {
            assert_eq!(times(bytes), [1], "{size}");
        }
    }
    let mut file = Parts::new(one_event(), &[at(1)]).file();
    for size in [0u64, 16, 79, 1 << 17, u64::MAX] {
        file[16..24].copy_from_slice(&size.to_le_bytes());
        let opened = Reader::open(Input::Bytes(file.clone())).err();
        assert!(matches!(opened, Some(Error::Damaged { offset: 16, .. })), "{size}: {opened:?}");
    }
    // The attribute says that it is shorter than any was, or longer than its record.
    for size in [8u32, 1 << 20] {
        let mut pipe = Parts::new(one_event(), &[at(1)]).pipe();
        pipe[28..32].copy_from_slice(&size.to_le_bytes());
        let (found, outcome) = samples(pipe);
        assert_eq!((found.len(), outcome.losses.count(SampleLoss::Damaged)), (0, 1), "{size}");
    }
}

#[test]
fn lists_of_ids_are_read_once_where_they_overlap() {
    let mut parts = Parts::new(vec![one_event().remove(0); 5000], &[at(1)]);
    parts.events[0].1 = (1000..100_000).collect();
    let mut bytes = parts.file();
    let ids_at = 104 + 5000 * 144u64;
    for event in 0..5000 {
        let section = 104 + event * 144 + 128;
        bytes[section..section + 8].copy_from_slice(&ids_at.to_le_bytes());
        bytes[section + 8..section + 16].copy_from_slice(&(8 * 99_000u64).to_le_bytes());
    }
    let len = bytes.len();
    let (_, most) = crate::memory::most_held(|| Reader::open(Input::Bytes(bytes)).unwrap());
    assert!(most < 20 * len + (64 << 20), "{most} bytes of {len}");
}

#[test]
fn records_of_odd_sizes_cost_no_more_than_others() {
    // Perf's own records of nine bytes, a megabyte of them.
    let odd = record(79, 0, Bytes::new(LITTLE).raw(&[1]));
    let mut records = vec![odd.clone(); 120_000];
    records.push(at(3));
    records.extend(vec![odd; 5]);
    records.push(at(4));
    assert_eq!(times(Parts::new(one_event(), &records).pipe()), [3, 4]);
}

#[test]
fn pipe_with_formats_of_tracepoints() {
    if !requires::root() || !requires::perf_events() || !requires::perf() || !requires::tracefs() {
        return;
    }
    let arguments = ["record", "-q", "-e", "sched:sched_switch", "-c", "1", "-o", "-", "--", "sh", "-c"];
    let script = "for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done";
    let recorded = Command::new("perf").args(arguments).arg(script).output().unwrap();
    assert!(recorded.status.success(), "{:?}", String::from_utf8_lossy(&recorded.stderr));
    let (found, outcome) = samples(recorded.stdout.clone());
    let mut reader = Reader::open(Input::Bytes(recorded.stdout)).unwrap();
    reader.read(|_| {}).unwrap();
    assert_eq!(reader.events()[0].description.name, "sched:sched_switch");
    assert!(found.len() >= 8 && outcome.damage.is_none(), "{} {outcome:?}", found.len());
    assert_eq!(outcome.losses.iter().next(), None);
}
