//! Reads a recording from its beginning to its end and gives out its events in the order of time.

use crate::assembler::{Assembler, Chunks, Next, Place};
use crate::build_ids;
use crate::decoding::Decoding;
use crate::error::Error;
use crate::event_table::{CALLCHAIN, EventTable, RecordedEvent, STACK_USER};
use crate::features;
use crate::header::{self, HEAD, Header};
use crate::info::Info;
use crate::input::{Input, Section};
use crate::off_cpu;
use crate::rounds::Rounds;
use crate::unpack::Unpacker;
use crate::{attributes, user_record as kind};
use model::{Event, Losses, SampleLoss, text};
use records::{ByteOrder, Header as RecordHeader, to_native, to_native_header};

/// Whether bytes begin as a recording of perf does; sixteen are enough.
pub fn is_perf_data(head: &[u8]) -> bool {
    header::order_of(head).is_some()
}

/// A recording that is being read.
pub struct Reader {
    input: Input,
    order: ByteOrder,
    /// Where the next bytes are to be read from, and where the records end.
    position: u64,
    end: Option<u64>,
    file_ends_early: bool,
    assembler: Assembler,
    /// The record that the events begin with.
    first: Option<Place>,
    state: State,
}

/// What records are handled with.
struct State {
    order: ByteOrder,
    info: Info,
    table: EventTable,
    chunks: Chunks,
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

/// How a recording ended.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Where it could not be read on, and why.
    pub damage: Option<Damage>,
    /// What could not be used.
    pub losses: Losses,
    /// Bytes of hardware traces (Intel PT, CoreSight), which are not decoded.
    pub trace_bytes: u64,
}

/// Where a recording is damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damage {
    /// In bytes from the beginning.
    pub offset: u64,
    /// What is wrong there.
    pub what: &'static str,
}

/// Bytes of a record's header.
const HEADER: usize = 8;

/// How much more may come out of compressed records than went in, beside what every recording may:
/// the most that zstd has made of records of 64 KiB that differed in little but their times was some
/// hundreds. What goes beyond was made to fill somebody's memory.
const MOST_UNPACKED: u64 = 4096;
const UNPACKED_AT_LEAST: u64 = 64 << 20;
/// How much of what came out of compressed records waits for the end of its round. Two rounds of the
/// rings of 256 CPUs fit in; where rounds do not end, order gives way before memory does.
const MOST_WAITING: usize = 256 << 20;
/// How much of it may be perf's own records, which are kept for longer than two rounds.
const MOST_TOLD: u64 = 16 << 20;

/// What has to happen after a record.
enum Then {
    GoOn,
    /// So many bytes follow that are no records.
    Skip(u64),
    /// Nothing after it can be read.
    Stop(&'static str),
}

impl Reader {
    /// Reads what comes before the events: a file's header and sections, and perf's own records up to
    /// the first of the kernel's, which in a pipe say the same.
    pub fn open(input: Input) -> Result<Self, Error> {
        let (header, mut input) = header::read(input)?;
        let order = match header {
            Header::Pipe { order } => order,
            Header::File(header) => header.order,
        };
        let mut state = State {
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
        };
        let (mut position, mut end, mut file_ends_early) = (HEAD as u64, None, false);
        if let Header::File(header) = header {
            if header.features().any(|feature| feature == features::DIR_FORMAT) {
                return Err(Error::Unsupported("it is part of a folder that `perf record --threads` wrote"));
            }
            for event in attributes::of_file(&mut input, &header)? {
                if !state.table.add(event) {
                    return Err(Error::Unsupported("it has more than 65,536 events"));
                }
            }
            let len = input.len()?.unwrap_or(u64::MAX);
            // A recorder that was killed has not said how much it wrote.
            let size = if header.data.size == 0 { len.saturating_sub(header.data.offset) } else { header.data.size };
            let data = Section { size, ..header.data };
            if header.data.size > 0 {
                features::of_file(&mut input, &header, data, &mut state.info, &mut state.table);
            }
            file_ends_early = data.end() > len;
            (position, end) = (data.offset.min(len), Some(data.end().min(len)));
        }
        let assembler = Assembler::new(order);
        let mut reader = Self { input, order, position, end, file_ends_early, assembler, first: None, state };
        reader.prologue()?;
        Ok(reader)
    }

    /// What the recording says of the machine and the run; in a pipe, what it has said so far.
    pub fn info(&self) -> &Info {
        &self.state.info
    }

    /// The events, by [`EventId`](model::EventId); in a pipe, those that were named so far.
    pub fn events(&self) -> &[RecordedEvent] {
        &self.state.table.events
    }

    /// Whether samples have callchains, or copied stacks.
    pub fn has_callchains(&self) -> bool {
        let has = |event: &RecordedEvent| {
            event.attribute.sample_type & (CALLCHAIN | STACK_USER) != 0 || off_cpu::is_raw(event)
        };
        self.events().iter().any(has)
    }

    /// Gives out all events. What is damaged ends it; everything before that is given out.
    pub fn read(&mut self, mut sink: impl FnMut(&Event<'_>)) -> Result<Outcome, Error> {
        let sink: &mut dyn FnMut(&Event<'_>) = &mut sink;
        let damage = loop {
            let next = match self.first.take() {
                Some(place) => Next::Record(place),
                None => self.assembler.next(&mut self.state.chunks),
            };
            match next {
                Next::Record(place) => match self.state.take(place, sink) {
                    Then::GoOn => {}
                    Then::Skip(bytes) => self.skip(bytes),
                    Then::Stop(what) => break Some(self.damage(u64::from(place.bytes), what)),
                },
                Next::Damaged => break Some(self.damage(0, "a record states a size that none has")),
                Next::More => {
                    if !self.fill()? {
                        break self.damage_at_end();
                    }
                }
            }
        };
        let state = &mut self.state;
        state.give_out_all(sink);
        let mut losses = std::mem::take(&mut state.decoding.losses);
        losses.add(SampleLoss::OutOfOrder, state.rounds.late);
        Ok(Outcome { damage, losses, trace_bytes: state.trace_bytes })
    }

    /// Goes back to where the events begin, so that they can be read once more. What a pipe has given
    /// is gone; give it as [`Input::Bytes`] to read it twice.
    pub fn rewind(self) -> Result<Self, Error> {
        Self::open(self.input)
    }

    fn prologue(&mut self) -> Result<(), Error> {
        loop {
            match self.assembler.next(&mut self.state.chunks) {
                Next::Record(place) => {
                    let first = self.state.chunks.record(place)[0];
                    let header = RecordHeader::of(match self.order {
                        ByteOrder::Native => first,
                        ByteOrder::Swapped => to_native_header(first),
                    });
                    if header.kind < kind::FIRST || header.kind == kind::COMPRESSED || header.kind == kind::COMPRESSED2
                    {
                        self.first = Some(place);
                        return Ok(());
                    }
                    match self.state.take(place, &mut |_| {}) {
                        Then::GoOn => {}
                        Then::Skip(bytes) => self.skip(bytes),
                        // Only a compressed record can stop it, and that is read with the events.
                        Then::Stop(_) => return Ok(()),
                    }
                }
                Next::Damaged => return Ok(()),
                Next::More => {
                    if !self.fill()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads more bytes; false at the end.
    fn fill(&mut self) -> Result<bool, Error> {
        let room = self.assembler.room(&mut self.state.chunks);
        let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(self.position));
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(room.len());
        let count = if wanted == 0 { 0 } else { self.input.read_at(self.position, &mut room[..wanted])? };
        self.assembler.filled(count);
        self.position += count as u64;
        Ok(count > 0)
    }

    /// Passes over bytes that are no records.
    fn skip(&mut self, bytes: u64) {
        self.position = self.position.saturating_add(self.assembler.skip(bytes));
    }

    /// What is damaged begins so many bytes before what comes next.
    fn damage(&self, before: u64, what: &'static str) -> Damage {
        Damage { offset: self.position.saturating_sub(self.assembler.rest() as u64 + before), what }
    }

    fn damage_at_end(&self) -> Option<Damage> {
        if self.assembler.rest() > 0 {
            Some(self.damage(0, "the last record is cut"))
        } else if self.state.unpacked.rest() > 0 {
            Some(self.damage(0, "the last compressed record is cut"))
        } else {
            self.file_ends_early.then(|| self.damage(0, "the file ends before its records do"))
        }
    }
}

impl State {
    /// Handles one record of the file itself.
    fn take(&mut self, place: Place, sink: &mut dyn FnMut(&Event<'_>)) -> Then {
        let first = self.chunks.record(place)[0];
        let first = if self.order == ByteOrder::Native { first } else { to_native_header(first) };
        let header = RecordHeader::of(first);
        if header.kind < kind::FIRST {
            self.from_kernel(place, sink);
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
                return Then::Skip(u64::from(size).next_multiple_of(8));
            }
            kind::AUXTRACE => {
                let size = order.u64_at(body, 0).unwrap_or(0);
                self.trace_bytes = self.trace_bytes.saturating_add(size);
                return Then::Skip(size);
            }
            _ => {
                tells(header, body, order, &mut self.info, &mut self.table, &mut self.decoding.losses);
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
        let first = self.chunks.record(place)[0];
        let first = if self.order == ByteOrder::Native { first } else { to_native_header(first) };
        match RecordHeader::of(first).kind {
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

    /// Gives out what waits for the end of its round.
    fn give_out_all(&mut self, sink: &mut dyn FnMut(&Event<'_>)) {
        let Self { chunks, rounds, table, decoding, .. } = self;
        rounds.finish(|place| {
            decoding.give_out(chunks.record(place), table, sink);
            chunks.done(place);
        });
    }

    /// Puts a record of the kernel's into its place; one without a time is given out at once.
    fn from_kernel(&mut self, place: Place, sink: &mut dyn FnMut(&Event<'_>)) {
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

/// A record by which perf tells something of the run.
fn tells(
    header: RecordHeader,
    body: &[u8],
    order: ByteOrder,
    info: &mut Info,
    table: &mut EventTable,
    losses: &mut Losses,
) {
    let string = |at: usize| text::from_bytes(text::until_nul(body.get(at..).unwrap_or_default())).into_owned();
    match header.kind {
        kind::HEADER_ATTR => {
            if !attributes::of_record(body, order).is_some_and(|event| table.add(event)) {
                losses.add(SampleLoss::Damaged, 1);
            }
        }
        kind::HEADER_EVENT_TYPE => {
            if let Some(config) = order.u64_at(body, 0) {
                table.set_name_of_tracepoint(config, string(8));
            }
        }
        kind::HEADER_BUILD_ID => {
            info.build_ids.extend(build_ids::of_record(header.misc, body));
        }
        kind::EVENT_UPDATE => {
            if let (Some(kind::UPDATE_NAME), Some(id)) = (order.u64_at(body, 0), order.u64_at(body, 8)) {
                table.set_name_of_id(id, string(16));
            }
        }
        kind::HEADER_FEATURE => {
            let feature = order.u64_at(body, 0).and_then(|feature| usize::try_from(feature).ok());
            if let Some(feature) = feature {
                features::one(feature, body.get(8..).unwrap_or_default(), order, info, table);
            }
        }
        kind::FINISHED_INIT => {}
        known if known <= kind::LAST => {}
        _ => losses.add(SampleLoss::UnknownRecord, 1),
    }
}
