//! A recording of a big-endian machine says the same as its little-endian twin.

use crate::made::*;
use model::{Address, Body, Callchain, TaskIds, Unit, context_words as context, id::Id as _};
use perfdata::{Input, Reader};

const ALL: u64 = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN | RAW | BRANCH_STACK | REGS_USER | STACK_USER;
/// x29, lr, sp and pc of AArch64, which runs in either order.
const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;
const HAS_BUILD_ID: u16 = 1 << 14;

/// `struct perf_branch_entry`'s flags: predicted, 77 cycles, a call.
fn branch_flags(order: Order) -> u64 {
    let parts = [(1, 1, 1u64), (4, 16, 77), (20, 4, 5)];
    let place = |at, width| if order == Order::Little { at } else { 64 - at - width };
    parts.iter().fold(0, |flags, &(at, width, value)| flags | value << place(at, width))
}

fn trailer(bytes: Bytes, time: u64) -> Bytes {
    bytes.u32(100).u32(101).u64(time).u32(3).u32(0).u64(7)
}

fn recording(order: Order) -> Parts {
    let new = || Bytes::new(order);
    let attribute = Attribute {
        sample_type: ALL,
        period: 999,
        bits: vec![MMAP_BIT, COMM_BIT, FREQ, SAMPLE_ID_ALL],
        precise: 2,
        branch_sample_type: 1,
        registers: REGISTERS,
        stack: 24,
        ..Attribute::default()
    };
    let other = Attribute { config: 2, ..attribute.clone() };
    let task = || new().u32(100).u32(101);
    let place = |bytes: Bytes| bytes.u64s(&[0x40_0000, 0x2000, 0x1000]);
    let by_inode = place(task()).u32(8).u32(1).u64s(&[4711, 3]).u32(5).u32(2).text("/bin/spin");
    let id: Vec<u8> = (1..=20).collect();
    let by_id = place(task()).raw(&[20, 0, 0, 0]).raw(&id).u32(5).u32(2).text("/lib/libspin.so");
    let sample = new()
        .u64s(&[8, 0x40_1234])
        .u32(100)
        .u32(101)
        .u64(5_000)
        .u32(3)
        .u32(0)
        .u64(250)
        .u64s(&[4, context::KERNEL, 0xffff_8000_0000_1000, context::USER, 0x40_1234])
        .u32(12)
        .raw(b"twelve bytes")
        .u64s(&[1, 0x40_1000, 0x40_1100, branch_flags(order)])
        .u64s(&[2, 29, 30, 31, 32])
        .u64(24)
        .raw(b"the stack's bytes, 24 ..")
        .u64(16);
    let records = [
        record(MMAP2, 2, trailer(by_inode, 1_000)),
        record(MMAP2, 2 | HAS_BUILD_ID, trailer(by_id, 1_100)),
        record(COMM, 0, trailer(task().text("spin"), 2_000)),
        record(FORK, 0, trailer(new().u32(200).u32(100).u32(201).u32(101).u64(3_000), 3_000)),
        record(LOST, 0, trailer(new().u64s(&[7, 42]), 4_000)),
        record(SAMPLE, 2, sample),
        record(EXIT, 0, trailer(new().u32(200).u32(100).u32(201).u32(101).u64(6_000), 6_000)),
        round(order),
    ];
    let build_id = record(67, 1 << 15 | 2, new().u32(100).raw(&id).raw(&[20, 0, 0, 0]).text("/bin/spin"));
    let events = vec![(attribute, vec![7]), (other, vec![8, 9])];
    let described =
        events.iter().zip(["clock", "faults"]).fold(new().u32(2).u32(128), |bytes, ((event, ids), name)| {
            bytes.raw(&event.bytes(order)).u32(ids.len() as u32).string(name).u64s(ids)
        });
    let features = vec![
        (2, build_id),
        (3, new().string("emmy").bytes),
        (6, new().string("aarch64_be").bytes),
        (12, described.bytes),
    ];
    Parts { order, events, features, data: records.concat() }
}

#[test]
fn both_orders_say_the_same_in_files_and_pipes() {
    let (little, big) = (recording(Order::Little), recording(Order::Big));
    let (wanted, _) = events(little.file());
    assert_eq!(wanted.len(), 7);
    for (what, bytes) in [("little pipe", little.pipe()), ("big file", big.file()), ("big pipe", big.pipe())] {
        let (found, outcome) = events(bytes.clone());
        assert_eq!(found, wanted, "{what}");
        assert_eq!((outcome.damage, outcome.losses.iter().next().is_none()), (None, true), "{what}: {outcome:?}");
        let reader = Reader::open(Input::Bytes(bytes)).unwrap();
        let wanted = Reader::open(Input::Bytes(little.file())).unwrap();
        assert_eq!(reader.events(), wanted.events(), "{what}");
        assert_eq!(reader.info(), wanted.info(), "{what}");
    }
}

#[test]
fn every_field_is_what_was_written() {
    for order in [Order::Little, Order::Big] {
        let bytes = recording(order).file();
        let mut reader = Reader::open(Input::Bytes(bytes)).unwrap();
        let event = &reader.events()[0];
        assert_eq!((&*event.description.name, event.description.unit), ("clock", Unit::Nanoseconds));
        assert_eq!((event.attribute.precision(), event.attribute.sample_stack_user), (2, 24));
        assert_eq!((reader.events()[1].ids.as_slice(), reader.info().build_ids.len()), (&[8, 9][..], 1));
        assert_eq!(reader.info().host.as_deref(), Some("emmy"));
        let mut seen = 0;
        reader
            .read(|event| {
                let Body::Sample(sample) = event.body else { return };
                seen += 1;
                assert_eq!((event.task, event.cpu), (TaskIds::new(100, 101), Some(model::Cpu(3))));
                assert_eq!((sample.event.index(), sample.period), (1, 250));
                let chain = [context::KERNEL, 0xffff_8000_0000_1000, context::USER, 0x40_1234];
                assert_eq!(sample.callchain, Callchain::new(&chain));
                let branch = sample.branches.iter().next().unwrap();
                assert_eq!((branch.from, branch.to), (Address(0x40_1000), Address(0x40_1100)));
                assert_eq!(branch.flags, branch_flags(Order::Little));
                let user = sample.user.unwrap();
                assert_eq!(user.stack, b"the stack's byte");
                let registers = user.registers;
                assert_eq!((registers.fp, registers.lr, registers.sp, registers.ip), (29, 30, 31, 32));
            })
            .unwrap();
        assert_eq!(seen, 1);
    }
}
