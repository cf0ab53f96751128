//! Reads a recording from its beginning to its end and gives out its events in the order of time.

use crate::assembler::{Assembler, Next, Place};
use crate::attributes;
use crate::error::Error;
use crate::event_table::{CALLCHAIN, RecordedEvent, STACK_USER};
use crate::features;
use crate::header::{self, HEAD, Header};
use crate::info::Info;
use crate::input::{Input, Section};
use crate::intake::{Intake, Then};
use crate::off_cpu;
use crate::user_record as kind;
use model::{Event, Losses};

/// Whether bytes begin as a recording of perf does; sixteen are enough.
pub fn is_perf_data(head: &[u8]) -> bool {
    header::order_of(head).is_some()
}

/// A recording that is being read.
pub struct Reader {
    input: Input,
    /// Where the next bytes are to be read from, and where the records end.
    position: u64,
    end: Option<u64>,
    file_ends_early: bool,
    assembler: Assembler,
    /// The record that the events begin with.
    first: Option<Place>,
    intake: Intake,
}

/// Bytes that are read at once of what is no record.
const PIECE: u64 = 64 << 10;

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

impl Reader {
    /// Reads what comes before the events: a file's header and sections, and perf's own records up to
    /// the first of the kernel's, which in a pipe say the same.
    pub fn open(input: Input) -> Result<Self, Error> {
        let (header, mut input) = header::read(input)?;
        let order = match header {
            Header::Pipe { order } => order,
            Header::File(header) => header.order,
        };
        let mut intake = Intake::new(order);
        let (mut position, mut end, mut file_ends_early) = (HEAD as u64, None, false);
        if let Header::File(header) = header {
            if header.features().any(|feature| feature == features::DIR_FORMAT) {
                return Err(Error::Unsupported("it is part of a folder that `perf record --threads` wrote"));
            }
            for event in attributes::of_file(&mut input, &header)? {
                if !intake.table.add(event) {
                    return Err(Error::Unsupported("it has more than 65,536 events"));
                }
            }
            let len = input.len()?.unwrap_or(u64::MAX);
            // A recorder that was killed has not said how much it wrote.
            let size = if header.data.size == 0 { len.saturating_sub(header.data.offset) } else { header.data.size };
            let data = Section { size, ..header.data };
            if header.data.size > 0 {
                features::of_file(&mut input, &header, data, &mut intake.info, &mut intake.table);
            }
            file_ends_early = data.end() > len;
            (position, end) = (data.offset.min(len), Some(data.end().min(len)));
        }
        let assembler = Assembler::new(order);
        let mut reader = Self { input, position, end, file_ends_early, assembler, first: None, intake };
        reader.prologue()?;
        Ok(reader)
    }

    /// What the recording says of the machine and the run; in a pipe, what it has said so far.
    pub fn info(&self) -> &Info {
        &self.intake.info
    }

    /// The events, by [`EventId`](model::EventId); in a pipe, those that were named so far.
    pub fn events(&self) -> &[RecordedEvent] {
        &self.intake.table.events
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
                None => self.assembler.next(&mut self.intake.chunks),
            };
            match next {
                Next::Record(place) => match self.intake.take(place, sink) {
                    Then::GoOn => {}
                    Then::Skip(bytes) => self.skip(bytes),
                    Then::TracingData(bytes) => self.tracing_data(bytes)?,
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
        let (losses, trace_bytes) = self.intake.finish(sink);
        Ok(Outcome { damage, losses, trace_bytes })
    }

    /// Goes back to where the events begin, so that they can be read once more. What a pipe has given
    /// is gone; give it as [`Input::Bytes`] to read it twice.
    pub fn rewind(self) -> Result<Self, Error> {
        Self::open(self.input)
    }

    fn prologue(&mut self) -> Result<(), Error> {
        loop {
            match self.assembler.next(&mut self.intake.chunks) {
                Next::Record(place) => {
                    let kind = self.intake.header_of(place).kind;
                    if kind < kind::FIRST || matches!(kind, kind::COMPRESSED | kind::COMPRESSED2) {
                        self.first = Some(place);
                        return Ok(());
                    }
                    match self.intake.take(place, &mut |_| {}) {
                        Then::GoOn => {}
                        Then::Skip(bytes) => self.skip(bytes),
                        Then::TracingData(bytes) => self.tracing_data(bytes)?,
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
        let room = self.assembler.room(&mut self.intake.chunks);
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

    /// Keeps what tells of tracepoints' fields, where it is no longer than any is.
    fn tracing_data(&mut self, bytes: u64) -> Result<(), Error> {
        let begun = self.assembler.rest_bytes(&self.intake.chunks);
        let mut data = begun[..begun.len().min(usize::try_from(bytes).unwrap_or(usize::MAX))].to_vec();
        let left = self.assembler.skip(bytes);
        if bytes > features::LONGEST {
            self.position = self.position.saturating_add(left);
            return Ok(());
        }
        let left = left.min(self.end.map_or(u64::MAX, |end| end.saturating_sub(self.position)));
        let mut piece = vec![0; left.min(PIECE) as usize];
        let until = self.position.saturating_add(left);
        while self.position < until {
            let wanted = (until - self.position).min(PIECE) as usize;
            let count = self.input.read_at(self.position, &mut piece[..wanted])?;
            if count == 0 {
                break;
            }
            data.extend_from_slice(&piece[..count]);
            self.position += count as u64;
        }
        self.intake.info.tracing_data = Some(data.into());
        Ok(())
    }

    /// What is damaged begins so many bytes before what comes next.
    fn damage(&self, before: u64, what: &'static str) -> Damage {
        Damage { offset: self.position.saturating_sub(self.assembler.rest() as u64 + before), what }
    }

    fn damage_at_end(&self) -> Option<Damage> {
        if self.assembler.rest() > 0 {
            Some(self.damage(0, "the last record is cut"))
        } else if self.intake.is_within_a_record() {
            Some(self.damage(0, "the last compressed record is cut"))
        } else {
            self.file_ends_early.then(|| self.damage(0, "the file ends before its records do"))
        }
    }
}
