//! Blocked time as `perf record --off-cpu` lays it out (the kernel's tools/perf/util/bpf_off_cpu.c):
//! until Linux 6.14 samples summed up at the end, since then one sample a wait, told in raw bytes.

use crate::made::*;
use model::{Body, TaskIds, Time, Unit, context_words as context, id::Id as _};
use perfdata::{Input, Reader, WriteOptions, Writer};

const BPF_OUTPUT: u64 = 10;
const CLOCK: u64 = 1;
const OFF_CPU: u64 = 2;

fn clock(sample_type: u64) -> (Attribute, Vec<u64>) {
    (Attribute { sample_type, bits: vec![MMAP_BIT, SAMPLE_ID_ALL], ..Attribute::default() }, vec![CLOCK])
}

fn off_cpu(sample_type: u64) -> (Attribute, Vec<u64>) {
    let attribute = Attribute {
        config: BPF_OUTPUT,
        period: 1,
        sample_type,
        bits: vec![FREQ, SAMPLE_ID_ALL],
        ..Attribute::default()
    };
    (attribute, vec![OFF_CPU])
}

fn named(mut parts: Parts) -> Parts {
    let new = Bytes::new(parts.order).u32(2).u32(128);
    let all = parts.events.iter().zip(["cpu-clock", "offcpu-time"]);
    let described = all.fold(new, |bytes, ((event, ids), name)| {
        bytes.raw(&event.bytes(parts.order)).u32(ids.len() as u32).string(name).u64s(ids)
    });
    parts.features.push((12, described.bytes));
    parts
}

/// What a sample tells.
#[derive(Clone, PartialEq, Debug)]
struct Told {
    event: usize,
    task: TaskIds,
    time: Option<Time>,
    period: u64,
    chain: Vec<u64>,
}

/// What every sample tells.
fn told(bytes: Vec<u8>) -> Vec<Told> {
    let (all, outcome) = read(bytes, |event| match event.body {
        Body::Sample(sample) => Told {
            event: sample.event.index(),
            task: event.task,
            time: event.time,
            period: sample.period,
            chain: sample.callchain.words().to_vec(),
        },
        other => panic!("{other:?}"),
    });
    assert!(outcome.damage.is_none() && outcome.losses.iter().next().is_none(), "{outcome:?}");
    all
}

fn rewritten(bytes: Vec<u8>) -> Vec<u8> {
    let mut reader = Reader::open(Input::Bytes(bytes)).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let options = WriteOptions::default();
    let mut writer = Writer::create(file.reopen().unwrap(), reader.events(), reader.info().clone(), options).unwrap();
    reader.read(|event| writer.event(event, None).unwrap()).unwrap();
    writer.finish().unwrap();
    std::fs::read(file.path()).unwrap()
}

#[test]
fn sums_at_the_end_have_no_moment() {
    const FIELDS: u64 = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN;
    let sample = |id, time, period, chain: &[u64]| {
        let body = Bytes::new(Order::Little).u64s(&[id, 0x40_1000]).u32(100).u32(101).u64(time).u32(0).u32(0);
        record(SAMPLE, 2, body.u64s(&[period, chain.len() as u64]).u64s(chain))
    };
    let on_cpu = [context::KERNEL, 0xffff_ffff_8100_0000, context::USER, 0x40_1000];
    let blocked = [context::USER, 0x40_1000, 0x40_2000];
    let stamp = u64::MAX << 32;
    let records = [
        sample(CLOCK, 5_000, 1_000_000, &on_cpu),
        sample(CLOCK, 6_000, 1_000_000, &on_cpu),
        round(Order::Little),
        sample(OFF_CPU, stamp, 123_456_789, &blocked),
        sample(OFF_CPU, stamp + 1, 77, &blocked),
    ];
    let bytes = named(Parts::new(vec![clock(FIELDS), off_cpu(FIELDS)], &records)).file();
    let reader = Reader::open(Input::Bytes(bytes.clone())).unwrap();
    let description = &reader.events()[1].description;
    assert_eq!((&*description.name, description.unit), ("offcpu-time", Unit::Nanoseconds));
    let running = Told {
        event: 0,
        task: TaskIds::new(100, 101),
        time: Some(Time::from_ns(5_000)),
        period: 1_000_000,
        chain: on_cpu.to_vec(),
    };
    let waiting = Told { event: 1, time: None, period: 77, chain: blocked.to_vec(), ..running.clone() };
    let wanted = [
        running.clone(),
        Told { time: Some(Time::from_ns(6_000)), ..running },
        Told { period: 123_456_789, ..waiting.clone() },
        waiting,
    ];
    assert_eq!(told(bytes.clone()), wanted);
    assert_eq!(told(rewritten(bytes)), wanted);
}

#[test]
fn each_wait_is_told_in_raw_bytes() {
    const FIELDS: u64 = IDENTIFIER | IP | TID | TIME | CPU | PERIOD;
    for order in [Order::Little, Order::Big] {
        let new = || Bytes::new(order);
        // Whoever ran next is in the sample's own fields.
        let outer = |id, time| new().u64s(&[id, 0]).u32(1).u32(1).u64(time).u32(2).u32(0).u64(1);
        let inner = new().u32(100).u32(101).u64s(&[5_000_000, 3, context::USER, 0x40_1000, 0x40_2000, 9]).bytes;
        let raw = outer(OFF_CPU, 6_000).u32(inner.len() as u32 + 4).raw(&inner).raw(&[0; 4]);
        let cut = outer(OFF_CPU, 7_000).u32(20).raw(&inner[..20]);
        let records = [record(SAMPLE, 2, outer(CLOCK, 5_000)), record(SAMPLE, 2, raw), round(order)];
        let events = vec![clock(FIELDS), off_cpu(FIELDS | RAW)];
        let bytes = named(Parts { order, ..Parts::new(events.clone(), &records) }).file();
        let reader = Reader::open(Input::Bytes(bytes.clone())).unwrap();
        assert!(reader.has_callchains());
        let wanted = Told {
            event: 1,
            task: TaskIds::new(100, 101),
            time: Some(Time::from_ns(6_000)),
            period: 5_000_000,
            chain: vec![context::USER, 0x40_1000, 0x40_2000],
        };
        assert_eq!(told(bytes.clone())[1], wanted, "{order:?}");
        assert_eq!(told(rewritten(bytes))[1], wanted, "{order:?}");

        let bytes = named(Parts { order, ..Parts::new(events, &[record(SAMPLE, 2, cut)]) }).file();
        let (found, outcome) = samples(bytes);
        assert_eq!((found.len(), outcome.losses.count(model::SampleLoss::Damaged)), (0, 1));
    }
}
