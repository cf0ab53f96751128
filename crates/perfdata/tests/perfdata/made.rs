//! Recordings made by hand, field by field, in either byte order.

use model::Event;
use perfdata::{Input, Outcome, Reader};

/// Which byte order a recording is made in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Little,
    Big,
}

/// Bytes that are put together field by field.
#[derive(Clone)]
pub struct Bytes {
    order: Order,
    pub bytes: Vec<u8>,
}

impl Bytes {
    pub fn new(order: Order) -> Self {
        Self { order, bytes: Vec::new() }
    }
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }
    pub fn u16(self, value: u16) -> Self {
        let order = self.order;
        self.raw(&if order == Order::Little { value.to_le_bytes() } else { value.to_be_bytes() })
    }
    pub fn u32(self, value: u32) -> Self {
        let order = self.order;
        self.raw(&if order == Order::Little { value.to_le_bytes() } else { value.to_be_bytes() })
    }
    pub fn u64(self, value: u64) -> Self {
        let order = self.order;
        self.raw(&if order == Order::Little { value.to_le_bytes() } else { value.to_be_bytes() })
    }
    pub fn u64s(self, values: &[u64]) -> Self {
        values.iter().fold(self, |bytes, &value| bytes.u64(value))
    }
    /// A text, ended and filled up to whole words by zeroes.
    pub fn text(self, text: &str) -> Self {
        let len = (text.len() + 1).next_multiple_of(8);
        let mut bytes = self.raw(text.as_bytes());
        bytes.bytes.resize(bytes.bytes.len() + len - text.len(), 0);
        bytes
    }
    /// A text of a section: its length before it.
    pub fn string(self, text: &str) -> Self {
        let len = (text.len() + 1).next_multiple_of(64);
        let mut bytes = self.u32(len as u32).raw(text.as_bytes());
        bytes.bytes.resize(bytes.bytes.len() + len - text.len(), 0);
        bytes
    }
}

/// `PERF_RECORD_*`
pub const LOST: u32 = 2;
pub const COMM: u32 = 3;
pub const EXIT: u32 = 4;
pub const FORK: u32 = 7;
pub const SAMPLE: u32 = 9;
pub const MMAP2: u32 = 10;
pub const HEADER_ATTR: u32 = 64;
pub const FINISHED_ROUND: u32 = 68;
pub const AUXTRACE: u32 = 71;
pub const EVENT_UPDATE: u32 = 78;
pub const HEADER_FEATURE: u32 = 80;
pub const COMPRESSED: u32 = 81;

/// `PERF_SAMPLE_*`
pub const IP: u64 = 1;
pub const TID: u64 = 1 << 1;
pub const TIME: u64 = 1 << 2;
pub const READ: u64 = 1 << 4;
pub const CALLCHAIN: u64 = 1 << 5;
pub const CPU: u64 = 1 << 7;
pub const PERIOD: u64 = 1 << 8;
pub const RAW: u64 = 1 << 10;
pub const BRANCH_STACK: u64 = 1 << 11;
pub const REGS_USER: u64 = 1 << 12;
pub const STACK_USER: u64 = 1 << 13;
pub const IDENTIFIER: u64 = 1 << 16;

/// Bits of an attribute, by their place on a little-endian machine.
pub const INHERIT: u32 = 1;
pub const MMAP_BIT: u32 = 8;
pub const COMM_BIT: u32 = 9;
pub const FREQ: u32 = 10;
pub const SAMPLE_ID_ALL: u32 = 18;

/// What a made-up event is; the rest is 0.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub kind: u32,
    pub config: u64,
    pub period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub bits: Vec<u32>,
    pub precise: u64,
    pub branch_sample_type: u64,
    pub registers: u64,
    pub stack: u32,
    pub size: u32,
}

impl Default for Attribute {
    /// The CPU's clock each millisecond.
    fn default() -> Self {
        Self {
            kind: 1,
            config: 0,
            period: 1_000_000,
            sample_type: IDENTIFIER | IP | TID | TIME | PERIOD,
            read_format: 0,
            bits: vec![SAMPLE_ID_ALL],
            precise: 0,
            branch_sample_type: 0,
            registers: 0,
            stack: 0,
            size: 128,
        }
    }
}

impl Attribute {
    /// `struct perf_event_attr`, of as many bytes as [`Self::size`] says.
    pub fn bytes(&self, order: Order) -> Vec<u8> {
        let place = |bit: u32, width: u32| if order == Order::Little { bit } else { 64 - bit - width };
        let flags = self.bits.iter().fold(self.precise << place(15, 2), |flags, &bit| flags | 1 << place(bit, 1));
        let mut bytes = Bytes::new(order)
            .u32(self.kind)
            .u32(self.size)
            .u64s(&[self.config, self.period, self.sample_type, self.read_format, flags])
            .u32(0)
            .u32(0)
            .u64s(&[0, 0, self.branch_sample_type, self.registers])
            .u32(self.stack)
            .bytes;
        bytes.resize(self.size as usize, 0);
        bytes
    }
}

/// A record, its header included.
pub fn record(kind: u32, misc: u16, body: Bytes) -> Vec<u8> {
    let size = 8 + body.bytes.len();
    Bytes::new(body.order).u32(kind).u16(misc).u16(size as u16).raw(&body.bytes).bytes
}

/// The end of a round.
pub fn round(order: Order) -> Vec<u8> {
    record(FINISHED_ROUND, 0, Bytes::new(order))
}

/// What a recording is made of.
#[derive(Clone)]
pub struct Parts {
    pub order: Order,
    pub events: Vec<(Attribute, Vec<u64>)>,
    pub features: Vec<(usize, Vec<u8>)>,
    pub data: Vec<u8>,
}

impl Parts {
    pub fn new(events: Vec<(Attribute, Vec<u64>)>, records: &[Vec<u8>]) -> Self {
        Self { order: Order::Little, events, features: Vec::new(), data: records.concat() }
    }

    /// As a file.
    pub fn file(&self) -> Vec<u8> {
        const HEADER: u64 = 104;
        let order = self.order;
        let attribute_size = self.events.first().map_or(128, |(attribute, _)| u64::from(attribute.size));
        let count = self.events.len() as u64;
        let (mut attributes, mut ids) = (Bytes::new(order), Bytes::new(order));
        let ids_at = HEADER + count * (attribute_size + 16);
        for (attribute, own) in &self.events {
            attributes = attributes.raw(&attribute.bytes(order));
            attributes = attributes.u64s(&[ids_at + ids.bytes.len() as u64, 8 * own.len() as u64]);
            ids = ids.u64s(own);
        }
        let data_at = ids_at + ids.bytes.len() as u64;
        let mut bits = [0u64; 4];
        self.features.iter().for_each(|(feature, _)| bits[feature / 64] |= 1 << (feature % 64));
        let mut file = Bytes::new(order)
            .u64(u64::from_le_bytes(*b"PERFILE2"))
            .u64s(&[HEADER, attribute_size + 16, HEADER, count * (attribute_size + 16)])
            .u64s(&[data_at, self.data.len() as u64, 0, 0])
            .u64s(&bits)
            .raw(&attributes.bytes)
            .raw(&ids.bytes)
            .raw(&self.data);
        let mut at = file.bytes.len() as u64 + 16 * self.features.len() as u64;
        for (_, contents) in &self.features {
            file = file.u64s(&[at, contents.len() as u64]);
            at += contents.len() as u64;
        }
        self.features.iter().fold(file, |file, (_, contents)| file.raw(contents)).bytes
    }

    /// As a pipe.
    pub fn pipe(&self) -> Vec<u8> {
        let order = self.order;
        let mut pipe = Bytes::new(order).u64(u64::from_le_bytes(*b"PERFILE2")).u64(16);
        for (attribute, ids) in &self.events {
            pipe = pipe.raw(&record(HEADER_ATTR, 0, Bytes::new(order).raw(&attribute.bytes(order)).u64s(ids)));
        }
        for (feature, contents) in &self.features {
            pipe = match feature {
                // Entries of build ids are records of their own.
                2 => pipe.raw(contents),
                _ => pipe.raw(&record(HEADER_FEATURE, 0, Bytes::new(order).u64(*feature as u64).raw(contents))),
            };
        }
        pipe.raw(&self.data).bytes
    }
}

/// The task of every made-up sample.
pub const TASK: (u32, u32) = (100, 101);

/// A sample of the default attribute: id, time and period.
pub fn sample(id: u64, time: u64, period: u64) -> Vec<u8> {
    let body = Bytes::new(Order::Little).u64s(&[id, 0x40_1000]).u32(TASK.0).u32(TASK.1).u64s(&[time, period]);
    record(SAMPLE, 2, body)
}

/// All events as text, and how the recording ended.
pub fn events(bytes: Vec<u8>) -> (Vec<String>, Outcome) {
    read(bytes, |event| format!("{event:?}"))
}

/// What is made of each event, and how the recording ended.
pub fn read<T>(bytes: Vec<u8>, mut of: impl FnMut(&Event<'_>) -> T) -> (Vec<T>, Outcome) {
    let mut reader = Reader::open(Input::Bytes(bytes)).unwrap();
    let mut all = Vec::new();
    let outcome = reader.read(|event| all.push(of(event))).unwrap();
    (all, outcome)
}

/// Time and period of each sample, and how the recording ended.
pub fn samples(bytes: Vec<u8>) -> (Vec<(u64, u64)>, Outcome) {
    let (all, outcome) = read(bytes, |event| match event.body {
        model::Body::Sample(sample) => Some((event.time.map_or(0, model::Time::as_ns), sample.period)),
        _ => None,
    });
    (all.into_iter().flatten().collect(), outcome)
}
