//! Records as the kernel writes them, turned into events. Pure: words in, a borrowed event out.
//! The layouts are those of `enum perf_event_type` in `include/uapi/linux/perf_event.h` and of
//! perf_event_open(2), "Sampling"; every read is checked against the record's own size.

use crate::attribute::{Attribute, flag};
use crate::fields::{Fields, SampleId};
use crate::registers::RegisterSet;
use crate::{sample_raw, sample_read, side_band, stack_end};
use model::{Address, Body, BranchStack, Callchain, Context, Event, EventId, Sample, Time, UserState};
use perf_event_open_sys::bindings as sys;

/// What a record's fields depend on: the attribute of the event that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Layout {
    /// `attr.sample_type`
    pub sample_type: u64,
    /// `attr.read_format`
    pub read_format: u64,
    /// `attr.branch_sample_type`
    pub branch_sample_type: u64,
    /// `attr.sample_regs_user`
    pub sample_regs_user: u64,
    /// `attr.sample_stack_user`
    pub sample_stack_user: u32,
    /// `attr.sample_id_all`: whether records other than samples end in `struct sample_id`.
    pub sample_id_all: bool,
    /// What a sample stands for that does not state its period: `attr.sample_period`.
    pub period: u64,
    /// Which registers the machine has; `None` for one whose registers are not known.
    pub registers: Option<RegisterSet>,
}

impl Layout {
    /// The layout of records that events with this attribute write on a machine with these
    /// registers.
    pub fn of(attribute: &Attribute, registers: Option<RegisterSet>) -> Self {
        Self {
            sample_type: attribute.sample_type,
            read_format: attribute.read_format,
            branch_sample_type: attribute.branch_sample_type,
            sample_regs_user: attribute.sample_regs_user,
            sample_stack_user: attribute.sample_stack_user,
            sample_id_all: attribute.has(flag::SAMPLE_ID_ALL),
            period: attribute.fixed_period(),
            registers,
        }
    }

    pub(crate) fn has(&self, bit: sys::perf_event_sample_format) -> bool {
        self.sample_type & u64::from(bit) != 0
    }
}

/// What a record turned out to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decoded<'a> {
    /// An event.
    Event(Event<'a>),
    /// A kind of record that says nothing about where time goes.
    Ignored,
    /// A kind of record that this version does not know, or a sample of an event that nobody knows.
    Unknown,
    /// The record is shorter than its fields.
    Damaged,
}

/// The header of a record: `struct perf_event_header`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind, `PERF_RECORD_*`.
    pub kind: u32,
    /// Flags, `PERF_RECORD_MISC_*`.
    pub misc: u16,
    /// The size in words of eight bytes, header included.
    pub words: usize,
}

impl Header {
    /// The header in a record's first word.
    pub fn of(word: u64) -> Self {
        let bytes = word.to_ne_bytes();
        Self {
            kind: u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            misc: u16::from_ne_bytes([bytes[4], bytes[5]]),
            words: Self::size(word) / size_of::<u64>(),
        }
    }

    /// The size in bytes that a record's first word states.
    pub fn size(word: u64) -> usize {
        let bytes = word.to_ne_bytes();
        usize::from(u16::from_ne_bytes([bytes[6], bytes[7]]))
    }

    /// Where the CPU was, by `PERF_RECORD_MISC_CPUMODE_MASK`.
    pub fn context(self) -> Context {
        match u32::from(self.misc) & sys::PERF_RECORD_MISC_CPUMODE_MASK {
            sys::PERF_RECORD_MISC_KERNEL => Context::Kernel,
            sys::PERF_RECORD_MISC_USER => Context::User,
            sys::PERF_RECORD_MISC_HYPERVISOR => Context::Hypervisor,
            sys::PERF_RECORD_MISC_GUEST_KERNEL | sys::PERF_RECORD_MISC_GUEST_USER => Context::Guest,
            _ => Context::Unknown,
        }
    }

    /// Whether the record is a sample.
    pub fn is_sample(self) -> bool {
        self.kind == sys::PERF_RECORD_SAMPLE
    }
}

/// Decodes one whole record, header included. `event_of` names the event that an id belongs to, 0
/// standing for a record without an id.
pub fn decode<'a>(record: &'a [u64], layout: &Layout, event_of: impl Fn(u64) -> Option<EventId>) -> Decoded<'a> {
    let Some((&first, body)) = record.split_first() else { return Decoded::Damaged };
    let header = Header::of(first);
    let decoded = match header.kind {
        sys::PERF_RECORD_SAMPLE => sample(header, body, layout, event_of),
        _ => side_band::decode(header, body, layout, event_of),
    };
    decoded.unwrap_or(Decoded::Damaged)
}

fn sample<'a>(
    header: Header,
    body: &'a [u64],
    layout: &Layout,
    event_of: impl Fn(u64) -> Option<EventId>,
) -> Option<Decoded<'a>> {
    let mut fields = Fields { rest: body };
    let mut callchain = None;
    let mut raw = &[][..];
    let mut branches = &[][..];
    let mut registers = None;
    let mut user = None;

    let Start { common, leaf, data_address, period } = until_read(&mut fields, layout)?;
    if layout.has(sys::PERF_SAMPLE_READ) {
        sample_read::skip(&mut fields, layout.read_format)?;
    }
    if layout.has(sys::PERF_SAMPLE_CALLCHAIN) {
        let count = fields.word()?;
        callchain = Some(Callchain::new(fields.words(count)?));
    }
    if layout.has(sys::PERF_SAMPLE_RAW) {
        raw = sample_raw::take(&mut fields)?;
    }
    if layout.has(sys::PERF_SAMPLE_BRANCH_STACK) {
        let count = fields.word()?;
        if layout.branch_sample_type & u64::from(sys::PERF_SAMPLE_BRANCH_HW_INDEX) != 0 {
            fields.word()?;
        }
        branches = fields.words(count.checked_mul(3)?)?;
        if layout.branch_sample_type & u64::from(sys::PERF_SAMPLE_BRANCH_COUNTERS) != 0 {
            fields.words(count)?;
        }
    }
    if layout.has(sys::PERF_SAMPLE_REGS_USER) {
        let abi = fields.word()?;
        if abi != 0 {
            let values = fields.words(layout.sample_regs_user.count_ones().into())?;
            registers = layout.registers.map(|set| set.read(abi, layout.sample_regs_user, values));
        }
    }
    if layout.has(sys::PERF_SAMPLE_STACK_USER) {
        let size = fields.word()?;
        let bytes = fields.bytes(size)?;
        // The kernel fills up to the size asked for and says behind it how much of it is true.
        let valid = if size == 0 { 0 } else { fields.word()? };
        let stack = bytes.get(..usize::try_from(valid).ok()?)?;
        // No record can hold the most that can be asked for, so that the kernel asks for less itself.
        let stack_limit = usize::try_from(size).ok()?;
        user = registers.map(|registers| UserState { registers, stack, stack_limit });
    }
    // What may follow (weight, data source, physical address, cgroup, …) is not used yet.

    // An empty chain that was asked for stays empty where a copied stack holds what was to be in it,
    // or where there is no leaf either.
    let stays_empty = user.is_some() || leaf.iter().all(|&ip| ip == 0);
    let callchain = callchain.filter(|chain| !chain.words().is_empty() || stays_empty);
    let callchain = callchain.unwrap_or_else(|| Callchain::starting_in(header.context(), leaf));
    let Some(event) = event_of(common.id.unwrap_or(0)) else { return Some(Decoded::Unknown) };
    Some(Decoded::Event(Event {
        time: common.time,
        cpu: common.cpu,
        task: common.task,
        body: Body::Sample(Sample {
            event,
            period,
            count: 1,
            callchain,
            user,
            branches: BranchStack::new(branches),
            data_address,
            raw,
            stack_end: stack_end::of_misc(header.misc),
        }),
    }))
}

/// The fields that a sample starts with.
pub(crate) struct Start<'a> {
    common: SampleId,
    /// The instruction pointer, as a chain of one.
    leaf: &'a [u64],
    data_address: Option<Address>,
    period: u64,
}

/// Reads a sample's fields up to its counter values.
pub(crate) fn until_read<'a>(fields: &mut Fields<'a>, layout: &Layout) -> Option<Start<'a>> {
    let mut start = Start { common: SampleId::default(), leaf: &[], data_address: None, period: layout.period };
    let common = &mut start.common;
    if layout.has(sys::PERF_SAMPLE_IDENTIFIER) {
        common.id = Some(fields.word()?);
    }
    if layout.has(sys::PERF_SAMPLE_IP) {
        start.leaf = fields.words(1)?;
    }
    if layout.has(sys::PERF_SAMPLE_TID) {
        common.task = fields.task()?;
    }
    if layout.has(sys::PERF_SAMPLE_TIME) {
        common.time = Some(Time::from_ns(fields.word()?));
    }
    if layout.has(sys::PERF_SAMPLE_ADDR) {
        start.data_address = Some(Address(fields.word()?)).filter(|address| address.0 != 0);
    }
    if layout.has(sys::PERF_SAMPLE_ID) {
        common.id = Some(fields.word()?);
    }
    if layout.has(sys::PERF_SAMPLE_STREAM_ID) {
        fields.word()?;
    }
    if layout.has(sys::PERF_SAMPLE_CPU) {
        common.cpu = fields.cpu()?;
    }
    if layout.has(sys::PERF_SAMPLE_PERIOD) {
        start.period = fields.word()?;
    }
    Some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers;
    use model::{
        Branch, Cpu, FileIdentity, FileOffset, Inode, Lost, LostRecords, TaskIds, Throttle, UserRegisters,
        context_words as context, id::Id as _,
    };

    fn layout(sample_type: sys::perf_event_sample_format) -> Layout {
        Layout {
            sample_type: u64::from(sample_type),
            read_format: 0,
            branch_sample_type: 0,
            sample_regs_user: registers::X86_64.mask(),
            sample_stack_user: 16,
            sample_id_all: true,
            period: 3,
            registers: Some(registers::X86_64),
        }
    }

    fn record(kind: u32, misc: u32, body: &[u64]) -> Vec<u64> {
        let size = (body.len() + 1) * 8;
        let first = u64::from(kind) | u64::from(misc) << 32 | (size as u64) << 48;
        [&[first], body].concat()
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from(low) | u64::from(high) << 32
    }

    fn word(text: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        bytes[..text.len()].copy_from_slice(text);
        u64::from_ne_bytes(bytes)
    }

    fn only(id: u64) -> Option<EventId> {
        (id == 7).then(|| EventId::from_index(0))
    }

    fn event(decoded: Decoded<'_>) -> Event<'_> {
        match decoded {
            Decoded::Event(event) => event,
            other => panic!("{other:?}"),
        }
    }

    const FULL: sys::perf_event_sample_format = sys::PERF_SAMPLE_IDENTIFIER
        | sys::PERF_SAMPLE_IP
        | sys::PERF_SAMPLE_TID
        | sys::PERF_SAMPLE_TIME
        | sys::PERF_SAMPLE_ADDR
        | sys::PERF_SAMPLE_CPU
        | sys::PERF_SAMPLE_PERIOD
        | sys::PERF_SAMPLE_READ
        | sys::PERF_SAMPLE_CALLCHAIN
        | sys::PERF_SAMPLE_RAW
        | sys::PERF_SAMPLE_BRANCH_STACK
        | sys::PERF_SAMPLE_REGS_USER
        | sys::PERF_SAMPLE_STACK_USER;

    fn full_sample() -> Vec<u64> {
        let body = [
            7,
            0x10,
            pair(100, 101),
            5_000,
            0xda7a,
            pair(1, 0),
            250, // identifier … period
            42,  // read
            3,
            context::USER,
            0x10,
            0x20,                 // callchain
            pair(4, 0xaaaa_bbbb), // raw: size and four bytes
            1,
            0x30,
            0x40,
            0x5, // branches
            2,
            0xb,
            0x5,
            0x1, // registers: bp, sp, ip
            16,
            0x1111,
            0x2222,
            8, // stack: size, bytes, how many are valid
        ];
        record(sys::PERF_RECORD_SAMPLE, 2, &body)
    }

    #[test]
    fn every_field_of_a_sample_is_found_behind_the_others() {
        let words = full_sample();
        let event = event(decode(&words, &layout(FULL), only));
        assert_eq!(event.task, TaskIds::new(100, 101));
        assert_eq!((event.time, event.cpu), (Some(Time::from_ns(5_000)), Some(Cpu(1))));
        let Body::Sample(sample) = event.body else { panic!() };
        assert_eq!((sample.period, sample.count, sample.data_address), (250, 1, Some(Address(0xda7a))));
        assert_eq!(sample.callchain.words(), [context::USER, 0x10, 0x20]);
        assert_eq!(
            sample.branches.iter().collect::<Vec<_>>(),
            [Branch { from: Address(0x30), to: Address(0x40), flags: 5 }]
        );
        assert_eq!(sample.raw, 0xaaaa_bbbb_u32.to_ne_bytes());
        let user = sample.user.unwrap();
        assert_eq!(user.registers, UserRegisters { ip: 1, sp: 5, fp: 0xb, lr: 0, is_foreign: false });
        assert_eq!(user.stack, 0x1111u64.to_ne_bytes());
        assert_eq!(user.stack_limit, 16);
    }

    #[test]
    fn a_sample_cut_anywhere_is_damaged_and_never_a_panic() {
        let words = full_sample();
        for len in 0..words.len() {
            assert_eq!(decode(&words[..len], &layout(FULL), only), Decoded::Damaged, "{len}");
        }
        for at in 1..words.len() {
            let mut changed = words.clone();
            changed[at] = u64::MAX;
            let _ = decode(&changed, &layout(FULL), only);
        }
    }

    #[test]
    fn a_leaf_alone_has_the_context_of_its_header() {
        let with_chain = layout(sys::PERF_SAMPLE_IDENTIFIER | sys::PERF_SAMPLE_IP | sys::PERF_SAMPLE_CALLCHAIN);
        let without = layout(sys::PERF_SAMPLE_IDENTIFIER | sys::PERF_SAMPLE_IP);
        let chain = |words: &[u64], layout: &Layout| match event(decode(words, layout, only)).body {
            Body::Sample(sample) => sample.callchain.frames().collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let leaf = record(sys::PERF_RECORD_SAMPLE, sys::PERF_RECORD_MISC_USER, &[7, 0x10]);
        assert_eq!(chain(&leaf, &without), [(Context::User, model::CodeAddress::InstructionPointer(Address(0x10)))]);
        // Neither chain nor copied stack: the leaf is what there is.
        let empty = record(sys::PERF_RECORD_SAMPLE, sys::PERF_RECORD_MISC_USER, &[7, 0x10, 0]);
        assert_eq!(
            chain(&empty, &with_chain),
            [(Context::User, model::CodeAddress::InstructionPointer(Address(0x10)))]
        );
        // The copied stack is unwound from the registers: the leaf is no frame of its own.
        let with_stack = layout(
            sys::PERF_SAMPLE_IDENTIFIER
                | sys::PERF_SAMPLE_IP
                | sys::PERF_SAMPLE_CALLCHAIN
                | sys::PERF_SAMPLE_REGS_USER
                | sys::PERF_SAMPLE_STACK_USER,
        );
        let copied = record(sys::PERF_RECORD_SAMPLE, sys::PERF_RECORD_MISC_USER, &[7, 0x10, 0, 2, 0xb, 0x5, 0x1, 0]);
        assert_eq!(chain(&copied, &with_stack), []);
    }

    const SIDE_BAND: sys::perf_event_sample_format =
        sys::PERF_SAMPLE_IDENTIFIER | sys::PERF_SAMPLE_TID | sys::PERF_SAMPLE_TIME | sys::PERF_SAMPLE_CPU;
    const TRAILER: [u64; 4] = [100 | 101 << 32, 9_000, 1, 7];

    fn side_band_event(words: &[u64]) -> Event<'_> {
        event(decode(words, &layout(SIDE_BAND), only))
    }

    #[test]
    fn names_and_execs_are_told_apart() {
        let body = [&[pair(5, 6), word(b"worker;\xff")][..], &TRAILER].concat();
        let named = record(sys::PERF_RECORD_COMM, 0, &body);
        let event = side_band_event(&named);
        assert_eq!((event.task, event.time, event.cpu), (TaskIds::new(5, 6), Some(Time::from_ns(9_000)), Some(Cpu(1))));
        assert_eq!(event.body, Body::Name(b"worker;\xff"));
        let exec = record(sys::PERF_RECORD_COMM, sys::PERF_RECORD_MISC_COMM_EXEC, &body);
        assert_eq!(side_band_event(&exec).body, Body::Exec(b"worker;\xff"));
    }

    #[test]
    fn mappings_say_which_file_they_are() {
        let place = [pair(5, 6), 0x1000, 0x2000, 0x3000];
        let by_inode = [&place[..], &[pair(8, 1), 99, 3, pair(5, 2), word(b"/bin/x")], &TRAILER].concat();
        let words = record(sys::PERF_RECORD_MMAP2, 2, &by_inode);
        let Body::Mapping(mapping) = side_band_event(&words).body else { panic!() };
        assert_eq!((mapping.start, mapping.len, mapping.offset), (Address(0x1000), 0x2000, FileOffset(0x3000)));
        assert_eq!(mapping.identity, FileIdentity::Inode(Inode { major: 8, minor: 1, number: 99, generation: 3 }));
        assert_eq!((mapping.path, mapping.kernel), (&b"/bin/x"[..], false));

        let id = [word(&[20, 0, 0, 0, 1, 2, 3, 4]), u64::MAX, u64::MAX];
        let by_contents = [&place[..], &id, &[pair(5, 2), word(b"/bin/x")], &TRAILER].concat();
        let words = record(sys::PERF_RECORD_MMAP2, sys::PERF_RECORD_MISC_MMAP_BUILD_ID | 1, &by_contents);
        let Body::Mapping(mapping) = side_band_event(&words).body else { panic!() };
        let FileIdentity::BuildId(id) = mapping.identity else { panic!() };
        assert_eq!((id.as_bytes().len(), &id.as_bytes()[..5]), (20, &[1, 2, 3, 4, 255][..]));
        assert!(mapping.kernel);

        let old = [&place[..], &[word(b"[vdso]")], &TRAILER].concat();
        let words = record(sys::PERF_RECORD_MMAP, 2, &old);
        let Body::Mapping(mapping) = side_band_event(&words).body else { panic!() };
        assert_eq!((mapping.path, mapping.identity), (&b"[vdso]"[..], FileIdentity::Unknown));
    }

    #[test]
    fn forks_exits_losses_and_throttles() {
        let with_trailer = |body: &[u64]| [body, &TRAILER].concat();
        let task = [pair(5, 1), pair(6, 2), 777];
        let fork = record(sys::PERF_RECORD_FORK, 0, &with_trailer(&task));
        assert_eq!(side_band_event(&fork).task, TaskIds::new(5, 6));
        assert_eq!(side_band_event(&fork).body, Body::Fork { parent: TaskIds::new(1, 2) });
        let exit = record(sys::PERF_RECORD_EXIT, 0, &with_trailer(&task));
        assert_eq!(side_band_event(&exit).body, Body::Exit);
        let of_samples = record(sys::PERF_RECORD_LOST, 0, &with_trailer(&[7, 12]));
        assert_eq!(side_band_event(&of_samples).body, Body::Lost(Lost { count: 12, of: LostRecords::Samples }));
        let of_side_band = record(sys::PERF_RECORD_LOST, 0, &with_trailer(&[8, 3]));
        assert_eq!(side_band_event(&of_side_band).body, Body::Lost(Lost { count: 3, of: LostRecords::SideBand }));
        let throttle = record(sys::PERF_RECORD_THROTTLE, 0, &with_trailer(&[1, 7, 0]));
        let event = Some(EventId::from_index(0));
        assert_eq!(side_band_event(&throttle).body, Body::Throttle(Throttle { event, begins: true }));
    }

    #[test]
    fn unknown_kinds_are_said_to_be_unknown() {
        assert_eq!(decode(&record(99, 0, &TRAILER), &layout(SIDE_BAND), only), Decoded::Unknown);
        assert_eq!(decode(&record(sys::PERF_RECORD_SWITCH, 0, &TRAILER), &layout(SIDE_BAND), only), Decoded::Ignored);
        assert_eq!(decode(&record(sys::PERF_RECORD_COMM, 0, &[1]), &layout(SIDE_BAND), only), Decoded::Damaged);
        assert_eq!(decode(&[], &layout(SIDE_BAND), only), Decoded::Damaged);
    }
}
