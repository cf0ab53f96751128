//! Writes a recording while it is made: a perf.data file that perf and flamel can read at any
//! moment, also if the writer is killed.
//!
//! What a reader needs beside the samples (events' names, machine, compression) stands at the
//! beginning of the data as records, as in a pipe, and the files' build ids where they are first
//! mapped. At the end the same is put into the sections behind the data, where `perf report
//! --header` and others look.

use crate::FileBuildId;
use crate::encode::{self, Encoder, id_of, kept_fields};
use crate::error::Error;
use crate::event_table::{CALLCHAIN, CPU, RAW, RecordedEvent, TID, TIME};
use crate::feature_text::{self, Compression};
use crate::features;
use crate::info::Info;
use crate::input::Section;
use crate::off_cpu;
use crate::user_record as kind;
use model::{Event, Time, UserStack};
use records::{Attribute, Header, flag};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};
use zstd::stream::raw::{Encoder as Zstd, InBuffer, Operation as _, OutBuffer};

/// How a recording is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// The level of zstd's compression, 1 to 22; `None` for none.
    pub compression: Option<i32>,
}

/// A recording that is being written.
pub struct Writer {
    file: File,
    events: Vec<RecordedEvent>,
    encoder: Encoder,
    info: Info,
    /// Records that were not written yet.
    pending: Vec<u8>,
    zstd: Option<Zstd<'static>>,
    packed: Vec<u8>,
    level: i32,
    /// Where the tracing data stand, before the records.
    tracing_data: Option<Section>,
    data_start: u64,
    end: u64,
    /// The end of the data as the header says it.
    told_end: u64,
    /// Where a write has failed, the end of what can be read all the same.
    sound_end: u64,
    told_at: Instant,
    first_and_last: Option<(u64, u64)>,
    sizes: (u64, u64),
    /// Whether a write has failed: what it was to write is missing.
    broken: bool,
}

/// Records are collected up to so many bytes: much less than what perf unpacks at once.
const BATCH: usize = 256 << 10;
/// What a compressed record can hold of the stream.
const PACKED_PIECE: usize = 60 << 10;
/// How often the header says anew how much there is.
const TELL_EVERY: Duration = Duration::from_millis(500);
/// `struct perf_file_header`
const HEADER: u64 = 104;
/// An attribute and the section of its ids.
const ENTRY: u64 = Attribute::SIZE as u64 + 16;

impl Writer {
    /// Writes what comes before the records. `events` are those of the source; their ids are given
    /// out anew, and of their fields those are kept that [`Writer::event`] writes.
    pub fn create(file: File, events: &[RecordedEvent], info: Info, options: WriteOptions) -> Result<Self, Error> {
        let events: Vec<RecordedEvent> = {
            // Records of other kinds have the fields of the first event's, whose times are as good.
            let common = events.iter().fold(0, |all, event| all | event.attribute.sample_type) & (TID | TIME | CPU);
            events.iter().enumerate().map(|(index, event)| kept(index, event, common)).collect()
        };
        let front_len = HEADER + 8 * events.len() as u64 + ENTRY * events.len() as u64;
        let tracing_data =
            info.tracing_data.as_ref().map(|bytes| Section { offset: front_len, size: bytes.len() as u64 });
        let data_start = tracing_data.map_or(front_len, Section::end).next_multiple_of(8);
        let zstd = options.compression.map(Zstd::new).transpose().map_err(Error::Write)?;
        let mut writer = Self {
            encoder: Encoder::new(events.iter().map(|event| event.attribute.sample_type).collect()),
            file,
            events,
            info,
            pending: Vec::with_capacity(2 * BATCH),
            zstd,
            packed: vec![0; PACKED_PIECE],
            level: options.compression.unwrap_or(0),
            tracing_data,
            data_start,
            end: data_start,
            told_end: data_start,
            sound_end: data_start,
            told_at: Instant::now(),
            first_and_last: None,
            sizes: (0, 0),
            broken: false,
        };
        let mut front = Vec::new();
        for (index, event) in writer.events.iter().enumerate() {
            debug_assert_eq!(event.ids, [id_of(index)]);
            front.extend(id_of(index).to_ne_bytes());
        }
        for (index, event) in writer.events.iter().enumerate() {
            front.extend(event.attribute.to_bytes());
            front.extend((HEADER + 8 * index as u64).to_ne_bytes());
            front.extend(8u64.to_ne_bytes());
        }
        front.extend_from_slice(writer.info.tracing_data.as_deref().unwrap_or_default());
        // The header comes last: a file that has it can be read.
        writer.file.write_all_at(&front, HEADER).map_err(Error::Write)?;
        writer.tell()?;
        let told = feature_text::all(&writer.info, &writer.events, writer.compression(), None);
        for (feature, text) in told {
            if !writer.put_feature(feature, &text) && feature == features::EVENT_DESC {
                writer.put_names();
            }
        }
        for id in std::mem::take(&mut writer.info.build_ids) {
            writer.build_id(id);
        }
        writer.write_plain()?;
        writer.tell()?;
        Ok(writer)
    }

    /// Writes one event. Events come in the order of their times. `user` is what the user's part of a
    /// sample's stack was unwound to; without it, the callchain is written as it is. After an error
    /// nothing more can be written, but what was written before can be read.
    pub fn event(&mut self, event: &Event<'_>, user: Option<UserStack<'_>>) -> Result<(), Error> {
        if let (model::Body::Sample(_), Some(time)) = (&event.body, event.time.map(Time::as_ns)) {
            let (first, _) = *self.first_and_last.get_or_insert((time, time));
            self.first_and_last = Some((first, time));
        }
        let record = self.encoder.event(event, user);
        self.pending.extend_from_slice(bytemuck::cast_slice(record));
        if self.pending.len() >= BATCH { self.write_round() } else { Ok(()) }
    }

    /// The contents of a file that was mapped.
    pub fn build_id(&mut self, id: FileBuildId) {
        let record = encode::build_id(&id.path, &id.build_id, id.kernel);
        if self.info.build_ids.insert(id) {
            self.pending.extend(record);
        }
    }

    /// To be called a few times a second: lets readers see what was written so far.
    pub fn tick(&mut self) -> Result<(), Error> {
        if self.told_at.elapsed() < TELL_EVERY { Ok(()) } else { self.write_round() }
    }

    /// Writes what is left, and the sections behind it.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.write_round()?;
        self.info.sample_times = self.first_and_last;
        let sections = feature_text::all(&self.info, &self.events, self.compression(), Some(self.sizes));
        let before = self.sections_before();
        let mut at = self.end + 16 * (before.len() + sections.len()) as u64;
        let (mut places, mut contents) = (before, Vec::new());
        for (feature, text) in &sections {
            places.push((*feature, Section { offset: at, size: text.len() as u64 }));
            contents.extend_from_slice(text);
            at += text.len() as u64;
        }
        self.put_sections(&places, &contents).inspect_err(|_| self.mend())?;
        Ok(at)
    }

    /// Sections that do not stand behind the data.
    fn sections_before(&self) -> Vec<(usize, Section)> {
        self.tracing_data.map(|place| (features::TRACING_DATA, place)).into_iter().collect()
    }

    /// Writes behind the data where the sections lie, `contents` behind that, and then the header.
    fn put_sections(&self, places: &[(usize, Section)], contents: &[u8]) -> Result<(), Error> {
        let place = |&(_, place): &(usize, Section)| [place.offset.to_ne_bytes(), place.size.to_ne_bytes()].concat();
        let mut table: Vec<u8> = places.iter().flat_map(place).collect();
        table.extend_from_slice(contents);
        self.file.write_all_at(&table, self.end).map_err(Error::Write)?;
        self.put_header(self.end, places.iter().map(|(feature, _)| *feature))
    }

    /// Where a write has failed: cuts the file to what is whole, and says so in its header, so that
    /// all of it can be read. The header, and the place behind the data where sections were told last,
    /// have their blocks: they can be written again on a full disk. If not, the file stays as it is.
    fn mend(&mut self) {
        let before = self.sections_before();
        for end in [self.sound_end, self.told_end] {
            self.end = end;
            if self.put_sections(&before, &[]).is_ok() {
                let _ = self.file.set_len(self.end + 16 * before.len() as u64);
                return;
            }
        }
    }

    fn compression(&self) -> Option<Compression> {
        self.zstd.as_ref().map(|_| Compression { level: self.level, batch: 4 * BATCH as u32 })
    }

    /// Says a section's contents as a record. False where none can hold them: then they stand behind
    /// the data only.
    fn put_feature(&mut self, feature: usize, text: &[u8]) -> bool {
        let size = (8 + 8 + text.len()).next_multiple_of(8);
        if u16::try_from(size).is_err() {
            return false;
        }
        let start = self.pending.len();
        self.pending.extend(encode::header(kind::HEADER_FEATURE, 0, size).to_ne_bytes());
        self.pending.extend((feature as u64).to_ne_bytes());
        self.pending.extend_from_slice(text);
        self.pending.resize(start + size, 0);
        true
    }

    /// The names of events that are too many for one record.
    fn put_names(&mut self) {
        const LONGEST_NAME: usize = 4095;
        for (index, event) in self.events.iter().enumerate() {
            let name = event.description.name.as_bytes();
            let name = &name[..name.len().min(LONGEST_NAME)];
            let start = self.pending.len();
            let size = (8 + 8 + 8 + name.len() + 1).next_multiple_of(8);
            for word in [encode::header(kind::EVENT_UPDATE, 0, size), kind::UPDATE_NAME, id_of(index)] {
                self.pending.extend(word.to_ne_bytes());
            }
            self.pending.extend_from_slice(name);
            self.pending.resize(start + size, 0);
        }
    }

    /// Writes what is pending, as it is or compressed, and says that a round ends here: what
    /// follows is not earlier.
    fn write_round(&mut self) -> Result<(), Error> {
        if self.broken {
            return Err(Error::Write(io::Error::other("what came before could not be written")));
        }
        self.broken = true;
        self.write_pending().inspect_err(|_| self.mend())?;
        self.broken = false;
        Ok(())
    }

    fn write_pending(&mut self) -> Result<(), Error> {
        if !self.pending.is_empty() {
            if self.tracing_data.is_some() {
                // What is written next takes the place where the sections are told.
                self.put_header(self.end, [])?;
            }
            if self.zstd.is_some() {
                self.write_packed()?
            } else {
                self.write_plain()?
            }
            let round = encode::header(kind::FINISHED_ROUND, 0, 8);
            self.append(&round.to_ne_bytes())?;
        }
        self.told_at = Instant::now();
        self.tell()
    }

    fn write_plain(&mut self) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        let start = self.end;
        let written = self.append(&pending);
        if written.is_err() {
            self.sound_end = start + whole_records(&pending, self.end - start);
        }
        self.pending = pending;
        self.pending.clear();
        written
    }

    /// One stream through all records, given out whole at the end of each batch.
    fn write_packed(&mut self) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        pending.chunks(2 * BATCH).try_for_each(|piece| self.write_piece(piece))?;
        self.pending = pending;
        self.pending.clear();
        Ok(())
    }

    fn write_piece(&mut self, pending: &[u8]) -> Result<(), Error> {
        self.sizes.0 += pending.len() as u64;
        let mut input = InBuffer::around(pending);
        let mut ended = false;
        while !ended {
            let Some(zstd) = &mut self.zstd else { break };
            let mut packed = std::mem::take(&mut self.packed);
            let mut output = OutBuffer::around(&mut packed[..]);
            if input.pos() < pending.len() {
                zstd.run(&mut input, &mut output).map_err(Error::Write)?;
            }
            if input.pos() == pending.len() {
                ended = zstd.flush(&mut output).map_err(Error::Write)? == 0;
            }
            let len = output.pos();
            if len > 0 {
                self.sizes.1 += len as u64;
                // zstd would take bytes that fill up a word for the start of a frame: the record has
                // its odd size, as perf's own have.
                let header = encode::header(kind::COMPRESSED, 0, 8 + len);
                self.append(&header.to_ne_bytes())?;
                self.append(&packed[..len])?;
            }
            self.packed = packed;
        }
        Ok(())
    }

    /// Writes bytes behind the others. `end` is behind what of them could be written.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.file.write_at(rest, self.end) {
                Ok(0) => return Err(Error::Write(io::ErrorKind::WriteZero.into())),
                Ok(written) => {
                    self.end += written as u64;
                    rest = &rest[written..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::Write(error)),
            }
        }
        Ok(())
    }

    /// Lets readers see what was written so far.
    fn tell(&mut self) -> Result<(), Error> {
        self.put_sections(&self.sections_before(), &[])?;
        (self.told_end, self.sound_end) = (self.end, self.end);
        Ok(())
    }

    /// Writes the header: what of the file is data, and which sections are told behind it.
    fn put_header(&self, end: u64, features: impl IntoIterator<Item = usize>) -> Result<(), Error> {
        let count = self.events.len() as u64;
        let mut bits = [0u64; 4];
        features.into_iter().for_each(|feature| bits[feature / 64] |= 1 << (feature % 64));
        let words = [
            u64::from_ne_bytes(*b"PERFILE2"),
            HEADER,
            ENTRY,
            HEADER + 8 * count,
            ENTRY * count,
            self.data_start,
            end - self.data_start,
            0,
            0,
            bits[0],
            bits[1],
            bits[2],
            bits[3],
        ];
        self.file.write_all_at(bytemuck::cast_slice(&words), 0).map_err(Error::Write)
    }
}

/// Bytes of the whole records among the first `there`.
fn whole_records(records: &[u8], there: u64) -> u64 {
    let mut whole = 0;
    let there = usize::try_from(there).unwrap_or(usize::MAX).min(records.len());
    while let Some(header) = records[..there].get(whole..whole + 8) {
        let size = Header::size(bytemuck::pod_read_unaligned(header));
        if size == 0 || whole + size > there {
            break;
        }
        whole += size;
    }
    whole as u64
}

/// Fields of branch stacks that are not written.
const BRANCH_HW_INDEX: u64 = 1 << 17;
const BRANCH_COUNTERS: u64 = 1 << 19;

/// The event as it stands in the file that is written; `common` are fields that all have.
fn kept(index: usize, event: &RecordedEvent, common: u64) -> RecordedEvent {
    let fields = event.attribute.sample_type | common;
    // The callchain that stands in raw bytes is written as one.
    let fields = if off_cpu::is_raw(event) { (fields | CALLCHAIN) & !RAW } else { fields };
    let attribute = Attribute {
        sample_type: kept_fields(fields),
        read_format: 0,
        branch_sample_type: event.attribute.branch_sample_type & !(BRANCH_HW_INDEX | BRANCH_COUNTERS),
        // Whatever was left out of the callchain has come out of the copied stack.
        flags: (event.attribute.flags | flag::SAMPLE_ID_ALL) & !flag::EXCLUDE_CALLCHAIN,
        sample_regs_user: 0,
        sample_stack_user: 0,
        sample_regs_intr: 0,
        ..event.attribute
    };
    RecordedEvent { attribute, ids: vec![id_of(index)], ..event.clone() }
}
