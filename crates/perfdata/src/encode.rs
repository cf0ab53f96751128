//! Events as records: what the kernel would have written, with stacks as they were unwound.

use crate::decoding::NO_MOMENT;
use crate::event_table::{ADDR, BRANCH_STACK, CALLCHAIN, CPU, IDENTIFIER, IP, PERIOD, RAW, STACK_USER, TID, TIME};
use model::{
    Body, BuildId, Callchain, CodeAddress, Context, Event, FileIdentity, Inode, LostRecords, Mapping, Sample, StackEnd,
    UserStack, context_words as context, id::Id as _,
};
use records::stack_end_to_misc;

/// `PERF_RECORD_*`
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const THROTTLE: u32 = 5;
const UNTHROTTLE: u32 = 6;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const LOST_SAMPLES: u32 = 13;
/// `PERF_RECORD_MISC_*`
const COMM_EXEC: u16 = 1 << 13;
const MMAP_BUILD_ID: u16 = 1 << 14;
/// `PROT_READ | PROT_EXEC` and `MAP_PRIVATE`: only executable mappings are told.
const PROT_AND_FLAGS: (u32, u32) = (5, 2);
/// No record is longer, header included: its size is a number of 16 bits.
const LONGEST: usize = u16::MAX as usize & !7;

/// Half of a record for branches, three words each: no CPU has as many, and some callchain is to
/// have room beside them.
const MOST_BRANCH_WORDS: usize = 4095;
/// The longest path: PATH_MAX without its NUL, for which perf has room.
const LONGEST_TEXT: usize = 4095;

/// Encodes records one after the other.
pub(crate) struct Encoder {
    /// The fields of each event's samples, by [`EventId`](model::EventId).
    sample_types: Vec<u64>,
    record: Vec<u64>,
}

/// The id of no event.
const NO_ID: u64 = u64::MAX;

/// The id that an event's records carry.
pub(crate) fn id_of(event: usize) -> u64 {
    event as u64 + 1
}

impl Encoder {
    pub(crate) fn new(sample_types: Vec<u64>) -> Self {
        Self { sample_types, record: Vec::with_capacity(LONGEST / 8) }
    }

    /// The record of an event. `user` replaces the user's part of a sample's callchain.
    pub(crate) fn event(&mut self, event: &Event<'_>, user: Option<UserStack<'_>>) -> &[u64] {
        self.record.clear();
        self.record.push(0);
        let (kind, misc) = match &event.body {
            Body::Sample(sample) => (SAMPLE, self.sample(event, sample, user)),
            Body::Mapping(mapping) => (MMAP2, self.mapping(event, mapping)),
            Body::Name(name) | Body::Exec(name) => {
                self.task(event);
                self.text(name);
                (COMM, if matches!(event.body, Body::Exec(_)) { COMM_EXEC } else { 0 })
            }
            Body::Fork { parent } => {
                self.pair(event.task.pid.0, parent.pid.0);
                self.pair(event.task.tid.0, parent.tid.0);
                self.time(event);
                (FORK, 0)
            }
            Body::Exit => {
                self.pair(event.task.pid.0, event.task.pid.0);
                self.pair(event.task.tid.0, event.task.tid.0);
                self.time(event);
                (EXIT, 0)
            }
            Body::Lost(lost) => {
                if lost.of == LostRecords::Samples {
                    self.record.push(lost.count);
                    (LOST_SAMPLES, 0)
                } else {
                    self.record.extend([NO_ID, lost.count]);
                    (LOST, 0)
                }
            }
            Body::Throttle(throttle) => {
                self.time(event);
                let id = throttle.event.map_or(NO_ID, |event| id_of(event.index()));
                self.record.extend([id, id]);
                (if throttle.begins { THROTTLE } else { UNTHROTTLE }, 0)
            }
        };
        if kind != SAMPLE {
            self.sample_id(event);
        }
        self.record[0] = header(kind, misc, self.record.len() * 8);
        &self.record
    }

    fn sample(&mut self, event: &Event<'_>, sample: &Sample<'_>, user: Option<UserStack<'_>>) -> u16 {
        let fields = self.sample_types.get(sample.event.index()).copied().unwrap_or(0);
        let has = |bit| fields & bit != 0;
        let leaf_at = self.record.len() + 1;
        self.record.extend([id_of(sample.event.index()), 0]);
        if has(TID) {
            self.task(event);
        }
        if has(TIME) {
            self.record.push(event.time.map_or(NO_MOMENT, model::Time::as_ns));
        }
        if has(ADDR) {
            self.record.push(sample.data_address.unwrap_or_default().0);
        }
        if has(CPU) {
            self.cpu(event);
        }
        self.record.push(sample.period);
        let branches = sample.branches.words();
        let branches = &branches[..branches.len().min(MOST_BRANCH_WORDS)];
        let branch_words = if has(BRANCH_STACK) { 1 + branches.len() } else { 0 };
        // Behind what stands here already and the length of the callchain, whatever room branches leave.
        let raw = if has(RAW) { raw_words(sample.raw, LONGEST / 8 - self.record.len() - 1 - branch_words) } else { 0 };
        let mut end = user.map(|user| user.end).or(sample.stack_end);
        let leaf = user.and_then(|user| user.frames.first()).map(|leaf| (Context::User, *leaf));
        let leaf = sample.callchain.frames().next().or(leaf);
        if has(CALLCHAIN) {
            let count_at = self.record.len();
            self.record.push(0);
            let most = LONGEST / 8 - branch_words - raw;
            self.callchain(sample.callchain, user);
            // Deeper than a record can be.
            if self.record.len() > most {
                self.record.truncate(most);
                end = Some(StackEnd::Limit);
            }
            self.record[count_at] = (self.record.len() - count_at - 1) as u64;
        }
        if raw > 0 {
            self.raw(sample.raw, raw);
        }
        if has(BRANCH_STACK) {
            self.record.push(branches.len() as u64 / 3);
            self.record.extend_from_slice(branches);
        }
        self.record[leaf_at] = leaf.map_or(0, |(_, leaf)| leaf.raw().0);
        mode_of(leaf.map_or(Context::Unknown, |(context, _)| context)) | end.map_or(0, stack_end_to_misc)
    }

    fn callchain(&mut self, chain: Callchain<'_>, user: Option<UserStack<'_>>) {
        // A leaf alone has the context of its sample, which a chain says by a mark.
        if let (Some(mark), true) = (chain.context().mark(), !chain.words().is_empty()) {
            self.record.push(mark);
        }
        let Some(user) = user else {
            return self.record.extend_from_slice(chain.words());
        };
        self.record.extend_from_slice(chain.before_user().words());
        for (index, frame) in user.frames.iter().enumerate() {
            // What a signal interrupted was not called: the mark says that a leaf follows.
            if index == 0 || matches!(frame, CodeAddress::InstructionPointer(_)) {
                self.record.push(context::USER);
            }
            self.record.push(frame.raw().0);
        }
    }

    fn mapping(&mut self, event: &Event<'_>, mapping: &Mapping<'_>) -> u16 {
        self.task(event);
        self.record.extend([mapping.start.0, mapping.len, mapping.offset.0]);
        let mut misc = if mapping.kernel { mode_of(Context::Kernel) } else { mode_of(Context::User) };
        match mapping.identity {
            FileIdentity::Inode(Inode { major, minor, number, generation }) => {
                self.pair(major, minor);
                self.record.extend([number, generation]);
            }
            FileIdentity::BuildId(id) => {
                misc |= MMAP_BUILD_ID;
                let mut bytes = [0; 24];
                bytes[0] = id.as_bytes().len() as u8;
                bytes[4..4 + id.as_bytes().len()].copy_from_slice(id.as_bytes());
                self.bytes(&bytes);
            }
            FileIdentity::Unknown => self.record.extend([0; 3]),
        }
        self.pair(PROT_AND_FLAGS.0, PROT_AND_FLAGS.1);
        self.text(mapping.path);
        misc
    }

    /// `struct sample_id`, with the fields that the first event has.
    fn sample_id(&mut self, event: &Event<'_>) {
        let fields = self.sample_types.first().copied().unwrap_or(0);
        if fields & TID != 0 {
            self.task(event);
        }
        if fields & TIME != 0 {
            self.time(event);
        }
        if fields & CPU != 0 {
            self.cpu(event);
        }
        self.record.push(id_of(0));
    }

    fn pair(&mut self, low: u32, high: u32) {
        let [[a, b, c, d], [e, f, g, h]] = [low.to_ne_bytes(), high.to_ne_bytes()];
        self.record.push(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
    }

    fn task(&mut self, event: &Event<'_>) {
        self.pair(event.task.pid.0, event.task.tid.0);
    }

    fn time(&mut self, event: &Event<'_>) {
        self.record.push(event.time.map_or(0, model::Time::as_ns));
    }

    fn cpu(&mut self, event: &Event<'_>) {
        self.pair(event.cpu.map_or(u32::MAX, |cpu| cpu.0), 0);
    }

    /// A text of any bytes, ended and filled up by zeroes; cut where a record could not hold it.
    fn text(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(LONGEST_TEXT)];
        self.bytes(text);
        if text.len().is_multiple_of(8) {
            self.record.push(0);
        }
    }

    /// The bytes' size and the bytes, in so many words.
    fn raw(&mut self, raw: &[u8], words: usize) {
        let bytes = &mut vec![0; words * 8][..];
        let (size, room) = bytes.split_at_mut(RAW_SIZE);
        size.copy_from_slice(&(room.len() as u32).to_ne_bytes());
        let len = raw.len().min(room.len());
        room[..len].copy_from_slice(&raw[..len]);
        self.bytes(bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.record.extend(bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        }));
    }
}

/// Bytes of the size of raw bytes.
const RAW_SIZE: usize = 4;

/// How many words raw bytes and their size take, `most` at most. The kernel fills both up to whole
/// words and says so in the size, by which perf finds what follows.
fn raw_words(raw: &[u8], most: usize) -> usize {
    (RAW_SIZE + raw.len()).div_ceil(8).min(most)
}

/// `struct perf_event_header` in a word.
pub(crate) fn header(kind: u32, misc: u16, size: usize) -> u64 {
    let ([a, b, c, d], [e, f], [g, h]) = (kind.to_ne_bytes(), misc.to_ne_bytes(), (size as u16).to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// `PERF_RECORD_MISC_CPUMODE_MASK`
fn mode_of(context: Context) -> u16 {
    match context {
        Context::Unknown => 0,
        Context::Kernel => 1,
        Context::User => 2,
        Context::Hypervisor => 3,
        Context::Guest => 4,
    }
}

/// The entry of a file's contents, header included.
pub(crate) fn build_id(path: &[u8], id: &BuildId, kernel: bool) -> Vec<u8> {
    /// Behind header, process, and 24 bytes for the id.
    const PATH: usize = 36;
    const LENGTH_STATED: u16 = 1 << 15;
    let misc = LENGTH_STATED | mode_of(if kernel { Context::Kernel } else { Context::User });
    let path = &path[..path.len().min(LONGEST_TEXT)];
    let size = (PATH + path.len() + 1).next_multiple_of(8);
    let mut bytes = vec![0; size];
    bytes[..8].copy_from_slice(&header(crate::user_record::HEADER_BUILD_ID, misc, size).to_ne_bytes());
    let process: i32 = if kernel { -1 } else { 0 };
    bytes[8..12].copy_from_slice(&process.to_ne_bytes());
    bytes[12..12 + id.as_bytes().len()].copy_from_slice(id.as_bytes());
    bytes[32] = id.as_bytes().len() as u8;
    bytes[PATH..PATH + path.len()].copy_from_slice(path);
    bytes
}

/// The fields of samples that are written of an event whose samples had these.
pub(crate) fn kept_fields(sample_type: u64) -> u64 {
    // A copied stack becomes a callchain.
    let unwound = if sample_type & STACK_USER != 0 { CALLCHAIN } else { 0 };
    IDENTIFIER | unwound | IP | PERIOD | sample_type & (TID | TIME | ADDR | CPU | CALLCHAIN | RAW | BRANCH_STACK)
}
