//! Takes record by record: the kernel's wait for their turn, perf's own tell of the run, end rounds,
//! or hold others, compressed. What a damaged or hostile recording can cost is bounded here.

use crate::assembler::{Assembler, Chunks, Next, Place};
use crate::decoding::Decoding;
use crate::event_table::EventTable;
use crate::info::Info;
use crate::rounds::Rounds;
use crate::told;
use crate::unpack::Unpacker;
use crate::user_record as kind;
use model::{Event, Losses, SampleLoss};
use records::{ByteOrder, Header, to_native, to_native_header};

/// What records are taken with.
pub(crate) struct Intake {
    order: ByteOrder,
    pub(crate) info: Info,
    pub(crate) table: EventTable,
    /// Where the records lie.
    pub(crate) chunks: Chunks,
    rounds: Rounds,
    unpacker: Unpacker,
    unpacked: Assembler,
    decoding: Decoding,
    trace_bytes: u64,
    /// Bytes that compressed records held, and those that came out of them.
    packed: u64,
    unpacked_bytes: u64,
    /// Bytes of perf's own records among the latter.
    told: u64,
}

/// What has to happen after a record.
pub(crate) enum Then {
    GoOn,
    /// So many bytes follow that are no records.
    Skip(u64),
    /// So many bytes follow that tell of tracepoints' fields.
    TracingData(u64),
    /// Nothing after it can be read.
    Stop(&'static str),
}

/// Bytes of a record's header.
const HEADER: usize = 8;

/// How many times more may come out of compressed records than went in, beyond what is always
/// allowed: records of 60 KB that differ in 64 bytes are packed some hundred times smaller. What goes
/// beyond was made to fill somebody's memory.
const MOST_UNPACKED: u64 = 4096;
const UNPACKED_AT_LEAST: u64 = 64 << 20;
/// How much of what came out of compressed records waits for the end of its round. Two rounds of the
/// rings of 256 CPUs fit in; where rounds do not end, order gives way before memory does.
const MOST_WAITING: usize = 256 << 20;
/// How much of it may be perf's own records, which are kept for longer than two rounds.
const MOST_TOLD: u64 = 16 << 20;

impl Intake {
    pub(crate) fn new(order: ByteOrder) -> Self {
        Self {
            order,
            info: Info::default(),
            table: EventTable::new(order),
            chunks: Chunks::default(),
            rounds: Rounds::default(),
            unpacker: Unpacker::default(),
            unpacked: Assembler::new(order),
            decoding: Decoding::new(order),
            trace_bytes: 0,
            packed: 0,
            unpacked_bytes: 0,
            told: 0,
        }
    }

    /// Handles one record of the file itself.
    pub(crate) fn take(&mut self, place: Place, sink: &mut dyn FnMut(&Event<'_>)) -> Then {
        let header = self.header_of(place);
        if header.kind < kind::FIRST {
            self.kernels_own(place, sink);
            return Then::GoOn;
        }
        let (order, body) = (self.order, &self.chunks.bytes(place)[HEADER..]);
        match header.kind {
            kind::COMPRESSED => {
                self.packed += body.len() as u64;
                self.unpacker.begin(body);
            }
            kind::COMPRESSED2 => {
                let size = order.u64_at(body, 0).and_then(|size| usize::try_from(size).ok());
                let Some(packed) = size.and_then(|size| body.get(8..)?.get(..size)) else {
                    return Then::Stop("a compressed record is longer than itself");
                };
                self.packed += packed.len() as u64;
                self.unpacker.begin(packed);
            }
            kind::FINISHED_ROUND => {
                let Self { chunks, rounds, table, decoding, .. } = self;
                rounds.finish_round(|place| {
                    decoding.give_out(chunks.record(place), table, sink);
                    chunks.done(place);
                });
                return Then::GoOn;
            }
            kind::HEADER_TRACING_DATA => {
                let size = order.u32_at(body, 0).unwrap_or(0);
                return Then::TracingData(u64::from(size).next_multiple_of(8));
            }
            kind::AUXTRACE => {
                let size = order.u64_at(body, 0).unwrap_or(0);
                self.trace_bytes = self.trace_bytes.saturating_add(size);
                return Then::Skip(size);
            }
            _ => {
                told::take(
                    header,
                    body,
                    order,
                    told::Run { info: &mut self.info, table: &mut self.table, losses: &mut self.decoding.losses },
                );
                return Then::GoOn;
            }
        }
        self.unpack(sink)
    }

    /// Handles the records of a compressed one.
    fn unpack(&mut self, sink: &mut dyn FnMut(&Event<'_>)) -> Then {
        let mut more = true;
        loop {
            loop {
                match self.unpacked.next(&mut self.chunks) {
                    Next::Record(place) => {
                        if let Then::Stop(what) = self.take_unpacked(place, sink) {
                            return Then::Stop(what);
                        }
                    }
                    Next::More => break,
                    Next::Damaged => return Then::Stop("a compressed record states a size that none has"),
                }
            }
            if !more {
                return Then::GoOn;
            }
            let before = self.unpacked.rest();
            more = match self.unpacker.go_on(&mut self.unpacked, &mut self.chunks) {
                Ok(more) => more,
                Err(_) => return Then::Stop("a compressed record cannot be unpacked"),
            };
            self.unpacked_bytes += (self.unpacked.rest() - before) as u64;
            if self.unpacked_bytes > UNPACKED_AT_LEAST.saturating_add(self.packed.saturating_mul(MOST_UNPACKED)) {
                return Then::Stop("compressed records hold more than any recording does");
            }
            if self.chunks.held() + self.rounds.held() > MOST_WAITING {
                self.give_out_all(sink);
            }
        }
    }

    fn take_unpacked(&mut self, place: Place, sink: &mut dyn FnMut(&Event<'_>)) -> Then {
        match self.header_of(place).kind {
            kind::COMPRESSED | kind::COMPRESSED2 | kind::AUXTRACE | kind::HEADER_TRACING_DATA => {
                return Then::Stop("a compressed record holds what none can hold");
            }
            own if own >= kind::FIRST && own != kind::FINISHED_ROUND => self.told += u64::from(place.bytes),
            _ => {}
        }
        if self.told > MOST_TOLD {
            return Then::Stop("compressed records tell more of the run than there is");
        }
        self.take(place, sink)
    }

    /// Gives out what still waits; what could not be used, and how many bytes of hardware traces there
    /// were.
    pub(crate) fn finish(&mut self, sink: &mut dyn FnMut(&Event<'_>)) -> (Losses, u64) {
        self.give_out_all(sink);
        let mut losses = std::mem::take(&mut self.decoding.losses);
        losses.add(SampleLoss::OutOfOrder, self.rounds.late);
        (losses, self.trace_bytes)
    }

    /// Whether what came out of compressed records ends within one.
    pub(crate) fn is_within_a_record(&self) -> bool {
        self.unpacked.rest() > 0
    }

    /// A record's header, also before the record was turned into this machine's byte order.
    pub(crate) fn header_of(&self, place: Place) -> Header {
        let first = self.chunks.record(place)[0];
        Header::of(if self.order == ByteOrder::Native { first } else { to_native_header(first) })
    }

    /// Gives out what waits for the end of its round.
    fn give_out_all(&mut self, sink: &mut dyn FnMut(&Event<'_>)) {
        let Self { chunks, rounds, table, decoding, .. } = self;
        rounds.finish(|place| {
            decoding.give_out(chunks.record(place), table, sink);
            chunks.done(place);
        });
    }

    /// Puts a record of the kernel's into its place; one without a time is given out at once.
    fn kernels_own(&mut self, place: Place, sink: &mut dyn FnMut(&Event<'_>)) {
        let Self { chunks, rounds, table, decoding, .. } = self;
        if self.order == ByteOrder::Swapped {
            let layout = |record: &[u64]| table.layout_of(record).copied().unwrap_or_default();
            if to_native(chunks.record_mut(place), layout).is_none() {
                decoding.losses.add(SampleLoss::Damaged, 1);
                return;
            }
        }
        match table.time_of(chunks.record(place)) {
            Some(time) => {
                chunks.keep(place);
                rounds.add(time, place);
            }
            None => decoding.give_out(chunks.record(place), table, sink),
        }
    }
}
