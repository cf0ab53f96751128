//! The sections behind a file's data, or records in a pipe, that tell of the machine and the run:
//! `HEADER_*` in the kernel's tools/perf/util/header.h. What cannot be read is left out: none of it
//! is needed for the samples themselves.

use crate::build_ids;
use crate::event_table::EventTable;
use crate::header::FileHeader;
use crate::info::Info;
use crate::input::{Input, Section};
use model::text;
use records::ByteOrder;

pub(crate) const TRACING_DATA: usize = 1;
pub(crate) const BUILD_ID: usize = 2;
pub(crate) const HOSTNAME: usize = 3;
pub(crate) const OSRELEASE: usize = 4;
pub(crate) const VERSION: usize = 5;
pub(crate) const ARCH: usize = 6;
pub(crate) const NRCPUS: usize = 7;
pub(crate) const CPUDESC: usize = 8;
pub(crate) const CPUID: usize = 9;
pub(crate) const TOTAL_MEM: usize = 10;
pub(crate) const CMDLINE: usize = 11;
pub(crate) const EVENT_DESC: usize = 12;
const BRANCH_STACK: usize = 15;
pub(crate) const GROUP_DESC: usize = 17;
pub(crate) const SAMPLE_TIME: usize = 21;
pub(crate) const CLOCKID: usize = 23;
pub(crate) const DIR_FORMAT: usize = 24;
pub(crate) const COMPRESSED: usize = 27;
pub(crate) const CLOCK_DATA: usize = 29;

/// The longest sections that are read: hundreds of thousands of files, all tracepoints' formats, and a
/// command line as long as the kernel takes it. Of texts, the whole of which is kept, perf writes no more than a few lines.
pub(crate) const LONGEST: u64 = 64 << 20;
const LONGEST_LIST: u64 = 2 << 20;
const LONGEST_TEXT: u64 = 64 << 10;

/// Reads the sections of a file.
pub(crate) fn of_file(input: &mut Input, header: &FileHeader, data: Section, info: &mut Info, events: &mut EventTable) {
    let order = header.order;
    let features: Vec<usize> = header.features().collect();
    let table = Section { offset: data.end(), size: 16 * features.len() as u64 };
    let Ok(table) = input.section(table) else { return };
    for (feature, place) in features.into_iter().zip(table.chunks_exact(16)) {
        let at = |at| order.u64_at(place, at).unwrap_or(0);
        let longest = match feature {
            TRACING_DATA | BUILD_ID | EVENT_DESC => LONGEST,
            CMDLINE | GROUP_DESC => LONGEST_LIST,
            _ => LONGEST_TEXT,
        };
        let section = Section { offset: at(0), size: at(8).min(longest) };
        // Only what is read at all, and of tracing data, which are kept as they are, the whole or none.
        let is_cut = feature == TRACING_DATA && at(8) > longest;
        if is_cut || matches!(feature, BRANCH_STACK | COMPRESSED) {
            continue;
        }
        let Ok(bytes) = input.section(section) else { continue };
        one(feature, &bytes, order, info, events);
    }
}

/// Reads one section's contents.
pub(crate) fn one(feature: usize, bytes: &[u8], order: ByteOrder, info: &mut Info, events: &mut EventTable) {
    let mut fields = Fields { rest: bytes, order };
    match feature {
        TRACING_DATA => info.tracing_data = (!bytes.is_empty()).then(|| bytes.into()),
        BUILD_ID => info.build_ids.extend(build_ids::of_section(bytes, order)),
        HOSTNAME => info.host = fields.string(),
        OSRELEASE => info.kernel = fields.string(),
        VERSION => info.perf = fields.string(),
        ARCH => {
            info.machine = fields.string();
            events.set_machine(info.machine.as_deref());
        }
        NRCPUS => {
            info.cpus_available = fields.u32();
            info.cpus_online = fields.u32();
        }
        CPUDESC => info.cpu = fields.string(),
        CPUID => info.cpu_id = fields.string(),
        TOTAL_MEM => info.memory_kib = fields.u64(),
        CMDLINE => info.command = fields.strings(),
        EVENT_DESC => {
            event_descriptions(&mut fields, events);
        }
        GROUP_DESC => info.groups = groups(&mut fields),
        SAMPLE_TIME => info.sample_times = fields.u64().zip(fields.u64()),
        CLOCK_DATA => {
            let (_version, clock) = (fields.u32(), fields.u32());
            info.clock = clock;
            info.clock_moment = fields.u64().zip(fields.u64());
        }
        // CLOCKID holds the clock's resolution; which clock it is, the attribute says.
        _ => {}
    }
}

/// Names and ids of all events, in the order of the attributes.
fn event_descriptions(fields: &mut Fields<'_>, events: &mut EventTable) -> Option<()> {
    let (count, attribute_size) = (fields.u32()?, fields.u32()?);
    for index in 0..count as usize {
        fields.bytes(attribute_size)?;
        let ids = fields.u32()?;
        let name = fields.string()?;
        for _ in 0..ids {
            events.add_id(index, fields.u64()?);
        }
        events.set_name(index, name);
    }
    Some(())
}

fn groups(fields: &mut Fields<'_>) -> Vec<(u32, u32)> {
    let count = fields.u32().unwrap_or(0);
    let mut group = || {
        fields.string()?;
        fields.u32().zip(fields.u32())
    };
    std::iter::from_fn(&mut group).take(count as usize).collect()
}

/// Reads one field after the other.
struct Fields<'a> {
    rest: &'a [u8],
    order: ByteOrder,
}

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: u32) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count as usize)?;
        self.rest = rest;
        Some(bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        let order = self.order;
        self.bytes(4).and_then(|bytes| order.u32_at(bytes, 0))
    }
    fn u64(&mut self) -> Option<u64> {
        let order = self.order;
        self.bytes(8).and_then(|bytes| order.u64_at(bytes, 0))
    }
    /// A length, and as many bytes, filled up with zeroes.
    fn string(&mut self) -> Option<String> {
        let len = self.u32()?;
        Some(text::from_bytes(text::until_nul(self.bytes(len)?)).into_owned())
    }
    fn strings(&mut self) -> Vec<String> {
        let count = self.u32().unwrap_or(0);
        std::iter::from_fn(|| self.string()).take(count as usize).collect()
    }
}
