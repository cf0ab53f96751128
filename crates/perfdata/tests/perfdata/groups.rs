//! Samples that hold the values of a group's counters: the weights are by how much each has grown.

use crate::made::*;
use model::{Body, Time, id::Id as _};
use perfdata::{Input, Reader};
use std::process::Command;
use testkit::requires;

/// `PERF_FORMAT_*`
const TIME_ENABLED: u64 = 1;
const TIME_RUNNING: u64 = 2;
const ID: u64 = 4;
const GROUP: u64 = 8;

fn group(read_format: u64, bits: Vec<u32>) -> Vec<(Attribute, Vec<u64>)> {
    let sample_type = IDENTIFIER | IP | TID | TIME | READ | PERIOD;
    let leader = Attribute { sample_type, read_format, bits, ..Attribute::default() };
    let member = Attribute { config: 2, period: 0, ..leader.clone() };
    vec![(leader, vec![11, 12]), (member, vec![21, 22])]
}

/// A sample of a thread that reads these values and ids.
fn sample(id: u64, tid: u32, time: u64, values: &[(u64, u64)]) -> Vec<u8> {
    let body = Bytes::new(Order::Little).u64s(&[id, 0x40_1000]).u32(100).u32(tid).u64s(&[time, 1_000_000]);
    let body = body.u64s(&[values.len() as u64, 555, 444]);
    record(SAMPLE, 2, values.iter().fold(body, |body, &(value, id)| body.u64s(&[value, id])))
}

/// Event, thread and weight of every sample.
fn weights(events: Vec<(Attribute, Vec<u64>)>, records: &[Vec<u8>]) -> Vec<(usize, u32, u64)> {
    let (all, outcome) = read(Parts::new(events, records).file(), |event| match event.body {
        Body::Sample(sample) => (sample.event.index(), event.task.tid.0, sample.period),
        other => panic!("{other:?}"),
    });
    assert!(outcome.damage.is_none(), "{outcome:?}");
    all
}

#[test]
fn each_member_weighs_by_how_much_it_has_grown() {
    let events = group(GROUP | ID | TIME_ENABLED | TIME_RUNNING, vec![SAMPLE_ID_ALL]);
    let records = [
        sample(11, 101, 1_000, &[(1_000, 11), (5, 21)]),
        // The second CPU's counters have values of their own.
        sample(12, 102, 1_500, &[(300, 12), (0, 22)]),
        sample(11, 101, 2_000, &[(3_500, 11), (5, 21)]),
        sample(11, 102, 3_000, &[(4_000, 11), (12, 21)]),
    ];
    let wanted = [(0, 101, 1_000), (1, 101, 5), (0, 102, 300), (0, 101, 2_500), (0, 102, 500), (1, 102, 7)];
    assert_eq!(weights(events, &records), wanted);
}

#[test]
fn inherited_members_have_a_value_for_each_thread() {
    let events = group(GROUP | ID | TIME_ENABLED | TIME_RUNNING, vec![INHERIT, SAMPLE_ID_ALL]);
    let records = [
        sample(11, 101, 1_000, &[(1_000, 11), (5, 21)]),
        sample(11, 102, 2_000, &[(700, 11), (2, 21)]),
        sample(11, 101, 3_000, &[(1_800, 11), (6, 21)]),
        sample(11, 102, 4_000, &[(900, 11), (2, 21)]),
    ];
    let wanted = [(0, 101, 1_000), (1, 101, 5), (0, 102, 700), (1, 102, 2), (0, 101, 800), (1, 101, 1), (0, 102, 200)];
    assert_eq!(weights(events, &records), wanted);
}

#[test]
fn a_counter_that_was_set_back_has_grown_since() {
    let events = group(GROUP | ID | TIME_ENABLED | TIME_RUNNING, vec![SAMPLE_ID_ALL]);
    let records = [
        sample(11, 101, 1_000, &[(1_000, 11), (5, 21)]),
        sample(11, 101, 2_000, &[(400, 11), (1, 21)]),
        sample(11, 101, 3_000, &[(450, 11), (3, 21)]),
    ];
    assert_eq!(
        weights(events, &records),
        [(0, 101, 1_000), (1, 101, 5), (0, 101, 400), (1, 101, 1), (0, 101, 50), (1, 101, 2)]
    );
}

#[test]
fn values_of_unknown_ids_are_counted() {
    let events = group(GROUP | ID | TIME_ENABLED | TIME_RUNNING, vec![SAMPLE_ID_ALL]);
    let (found, outcome) = samples(Parts::new(events, &[sample(11, 101, 1_000, &[(7, 11), (5, 99)])]).file());
    assert_eq!(found, [(1_000, 7)]);
    assert_eq!(outcome.losses.count(model::SampleLoss::UnknownRecord), 1);
}

#[test]
fn root_weights_are_those_of_perf() {
    if !requires::root() || !requires::perf_events() || !requires::perf() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let script = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; ls -R /usr/share >/dev/null";
    let recorded = Command::new("perf")
        .args(["record", "-q", "-F", "2000", "-e", "{cpu-clock,page-faults}:S", "-o"])
        .arg(&path)
        .args(["--", "sh", "-c", script])
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{recorded:?}");
    let told = Command::new("perf").args(["script", "-F", "tid,time,event,period", "--ns", "-i"]).arg(&path).output();
    let told = String::from_utf8(told.unwrap().stdout).unwrap();
    let wanted: Vec<String> = told.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();

    let mut reader = Reader::open(Input::new(std::fs::File::open(&path).unwrap()).unwrap()).unwrap();
    let names: Vec<String> = reader.events().iter().map(|event| event.description.name.clone()).collect();
    let mut found = Vec::new();
    reader
        .read(|event| {
            let Body::Sample(sample) = event.body else { return };
            let time = event.time.map_or(0, Time::as_ns);
            let (seconds, ns) = (time / 1_000_000_000, time % 1_000_000_000);
            let name = &names[sample.event.index()];
            found.push(format!("{} {seconds}.{ns:09}: {} {name}:", event.task.tid.0, sample.period));
        })
        .unwrap();
    assert!(found.iter().any(|line| line.ends_with(" page-faults:")), "{found:?}");
    assert_eq!(found, wanted);
}
