//! The events of a recording, and which of them a record belongs to.

use crate::attributes::WithIds;
use crate::event_names;
use crate::off_cpu;
use model::{EventDescription, EventId, LostRecords, Unit, id::Id as _};
use records::registers::{AARCH64, NATIVE, X86_64};
use records::{Attribute, ByteOrder, Header, Layout, RegisterSet, flag};
use rustc_hash::FxHashMap;

/// An event of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedEvent {
    /// Its name, unit and rate.
    pub description: EventDescription,
    /// What the kernel was asked for.
    pub attribute: Attribute,
    /// The ids that its records carry.
    pub ids: Vec<u64>,
}

impl RecordedEvent {
    /// Whether its samples state when they were taken.
    pub fn has_time(&self) -> bool {
        self.attribute.sample_type & TIME != 0
    }
    /// Whether its samples state the CPU.
    pub fn has_cpu(&self) -> bool {
        self.attribute.sample_type & CPU != 0
    }
    /// Whether its samples state the address of the data.
    pub fn has_data_address(&self) -> bool {
        self.attribute.sample_type & ADDR != 0
    }
    /// Whether its samples carry the branches before them.
    pub fn has_branches(&self) -> bool {
        self.attribute.sample_type & BRANCH_STACK != 0
    }
}

/// All events of a recording, by [`EventId`].
pub(crate) struct EventTable {
    pub(crate) events: Vec<RecordedEvent>,
    layouts: Vec<Layout>,
    ids: FxHashMap<u64, EventId>,
    /// The first event of each tracepoint.
    tracepoints: FxHashMap<u64, usize>,
    /// Where fields stand in the records of the first event; with `alike`, of all.
    places: Places,
    alike: bool,
    /// Whether the rings of samples held other records, too.
    has_side_band: bool,
    /// The event whose samples tell of blocked time in their raw bytes.
    off_cpu: Option<EventId>,
    registers: Option<RegisterSet>,
}

/// No recording has more events: perf opens each on every CPU, and files are not as many.
const MOST_EVENTS: usize = 1 << 16;

/// Where the fields stand by which records are told apart and sorted, in words. Events may differ in
/// when a sample was taken being said at all (`perf record -e cycles/time=0/`), but not in where the
/// id stands, by which they are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Places {
    /// From the start of a sample.
    id_in_sample: Option<usize>,
    time_in_sample: Option<usize>,
    /// From the end of any other record.
    id_from_end: Option<usize>,
    time_from_end: Option<usize>,
}

impl EventTable {
    /// No event yet. The registers of the other byte order's machines are not known.
    pub(crate) fn new(order: ByteOrder) -> Self {
        let registers = NATIVE.filter(|_| order == ByteOrder::Native);
        Self {
            events: Vec::new(),
            layouts: Vec::new(),
            ids: FxHashMap::default(),
            tracepoints: FxHashMap::default(),
            alike: true,
            has_side_band: false,
            off_cpu: None,
            places: Places::default(),
            registers,
        }
    }

    /// Adds the next event; false where there are more than any recording has.
    #[must_use]
    pub(crate) fn add(&mut self, (attribute, ids): WithIds) -> bool {
        let index = self.events.len();
        if index >= MOST_EVENTS {
            return false;
        }
        let places = Places::of(&attribute);
        if index == 0 {
            self.places = places;
        }
        self.alike &= places == self.places;
        self.has_side_band |= attribute.has(flag::MMAP | flag::MMAP2 | flag::COMM | flag::TASK);
        if attribute.kind == TRACEPOINT {
            self.tracepoints.entry(attribute.config).or_insert(index);
        }
        let description = EventDescription {
            name: event_names::of(&attribute),
            unit: unit(&attribute, ""),
            sampling: attribute.sampling(),
        };
        self.layouts.push(Layout::of(&attribute, self.registers));
        self.ids.extend(ids.iter().map(|&id| (id, EventId::from_index(index))));
        self.events.push(RecordedEvent { description, attribute, ids });
        true
    }

    /// The event of this index carries one more id.
    pub(crate) fn add_id(&mut self, index: usize, id: u64) {
        let Some(event) = self.events.get_mut(index) else { return };
        if self.ids.insert(id, EventId::from_index(index)).is_none() {
            event.ids.push(id);
        }
    }

    /// The event of this index is called so.
    pub(crate) fn set_name(&mut self, index: usize, name: String) {
        let Some(event) = self.events.get_mut(index).filter(|_| !name.is_empty()) else { return };
        event.description.unit = unit(&event.attribute, &name);
        event.description.name = name;
        if off_cpu::is_raw(event) {
            self.off_cpu = Some(EventId::from_index(index));
        }
    }

    /// The tracepoint of this number is called so.
    pub(crate) fn set_name_of_tracepoint(&mut self, config: u64, name: String) {
        if let Some(&index) = self.tracepoints.get(&config) {
            self.set_name(index, name);
        }
    }

    /// The event with this id is called so.
    pub(crate) fn set_name_of_id(&mut self, id: u64, name: String) {
        if let Some(event) = self.event_of(id) {
            self.set_name(event.index(), name);
        }
    }

    /// Registers are numbered anew on every architecture.
    pub(crate) fn set_machine(&mut self, machine: Option<&str>) {
        self.registers = match machine {
            Some("x86_64" | "i686" | "i586" | "i486" | "i386") => Some(X86_64),
            Some("aarch64" | "aarch64_be") => Some(AARCH64),
            _ => None,
        };
        self.layouts.iter_mut().for_each(|layout| layout.registers = self.registers);
    }

    /// Which event an id belongs to; 0 stands for no id.
    pub(crate) fn event_of(&self, id: u64) -> Option<EventId> {
        match self.events.len() {
            0 => None,
            1 => Some(EventId::from_index(0)),
            _ if id == 0 => Some(EventId::from_index(0)),
            _ => self.ids.get(&id).copied(),
        }
    }

    /// Which records were lost of this id: perf's rings hold all kinds, those of flamel one each.
    pub(crate) fn lost_of(&self, id: u64) -> LostRecords {
        match (self.has_side_band, self.ids.is_empty() || self.ids.contains_key(&id)) {
            (true, _) => LostRecords::Any,
            (false, true) => LostRecords::Samples,
            (false, false) => LostRecords::SideBand,
        }
    }

    /// Whether samples of this event tell of blocked time in their raw bytes.
    pub(crate) fn is_off_cpu(&self, event: EventId) -> bool {
        self.off_cpu == Some(event)
    }

    /// The layout of a record; of one that nobody knows, that of the first event.
    pub(crate) fn layout_of(&self, record: &[u64]) -> Option<&Layout> {
        let event = self.event_of(self.id_of(record).unwrap_or(0));
        self.layouts.get(event.map_or(0, model::id::Id::index))
    }

    /// The id in a whole record.
    fn id_of(&self, record: &[u64]) -> Option<u64> {
        word(record, self.places.id_in_sample, self.places.id_from_end)
    }

    /// The time of a whole record; `None` where it has none, which perf's own records say by 0 or by
    /// all bits.
    pub(crate) fn time_of(&self, record: &[u64]) -> Option<u64> {
        let places = if self.alike { self.places } else { self.places_of(record) };
        word(record, places.time_in_sample, places.time_from_end).filter(|time| !matches!(*time, 0 | u64::MAX))
    }

    fn places_of(&self, record: &[u64]) -> Places {
        let event = self.event_of(self.id_of(record).unwrap_or(0)).and_then(|event| self.events.get(event.index()));
        event.map_or(self.places, |event| Places::of(&event.attribute))
    }
}

/// `PERF_TYPE_*`
const SOFTWARE: u32 = 1;
const TRACEPOINT: u32 = 2;

fn word(record: &[u64], in_sample: Option<usize>, from_end: Option<usize>) -> Option<u64> {
    let is_sample = Header::of(*record.first()?).is_sample();
    let at = if is_sample { in_sample? } else { record.len().checked_sub(from_end?).filter(|at| *at > 0)? };
    record.get(at).copied()
}

impl Places {
    fn of(attribute: &Attribute) -> Self {
        let has = |bit: u64| attribute.sample_type & bit != 0;
        let count = |bits: &[u64]| bits.iter().filter(|bit| has(**bit)).count();
        let by_identifier = has(IDENTIFIER);
        let trailer = attribute.has(flag::SAMPLE_ID_ALL);
        Self {
            id_in_sample: match by_identifier {
                true => Some(1),
                false => has(ID).then(|| 1 + count(&[IP, TID, TIME, ADDR])),
            },
            time_in_sample: has(TIME).then(|| 1 + count(&[IDENTIFIER, IP, TID])),
            id_from_end: match by_identifier {
                true => trailer.then_some(1),
                false => (trailer && has(ID)).then(|| 1 + count(&[STREAM_ID, CPU])),
            },
            time_from_end: (trailer && has(TIME)).then(|| 1 + count(&[ID, STREAM_ID, CPU, IDENTIFIER])),
        }
    }
}

/// `PERF_SAMPLE_*` of `enum perf_event_sample_format`.
pub(crate) const IP: u64 = 1;
pub(crate) const TID: u64 = 1 << 1;
pub(crate) const TIME: u64 = 1 << 2;
pub(crate) const ADDR: u64 = 1 << 3;
pub(crate) const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
pub(crate) const CPU: u64 = 1 << 7;
pub(crate) const PERIOD: u64 = 1 << 8;
const STREAM_ID: u64 = 1 << 9;
pub(crate) const RAW: u64 = 1 << 10;
pub(crate) const BRANCH_STACK: u64 = 1 << 11;
pub(crate) const STACK_USER: u64 = 1 << 13;
pub(crate) const IDENTIFIER: u64 = 1 << 16;

/// The kernel's clocks, and the blocked time that `perf record --off-cpu` measures, are in
/// nanoseconds.
fn unit(attribute: &Attribute, name: &str) -> Unit {
    const LAST_CLOCK: u64 = 1;
    let is_clock = attribute.kind == SOFTWARE && attribute.config <= LAST_CLOCK;
    if is_clock || name.starts_with(off_cpu::NAME) { Unit::Nanoseconds } else { Unit::Occurrences }
}
