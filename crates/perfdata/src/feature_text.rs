//! The contents of the sections that tell of the machine and the run; `features` reads them.

use crate::encode;
use crate::event_table::RecordedEvent;
use crate::features::{
    ARCH, BUILD_ID, CLOCK_DATA, CLOCKID, CMDLINE, COMPRESSED, CPUDESC, CPUID, EVENT_DESC, GROUP_DESC, HOSTNAME, NRCPUS,
    OSRELEASE, SAMPLE_TIME, TOTAL_MEM, VERSION,
};
use crate::info::Info;
use records::{Attribute, flag};

/// How the records are compressed.
#[derive(Clone, Copy)]
pub(crate) struct Compression {
    pub(crate) level: i32,
    /// The most bytes that one record unpacks to, for which perf makes room.
    pub(crate) batch: u32,
}

/// All sections that there is something to say in, in the order of their numbers. `sizes` are the
/// bytes before and after compression.
pub(crate) fn all(
    info: &Info,
    events: &[RecordedEvent],
    compression: Option<Compression>,
    sizes: Option<(u64, u64)>,
) -> Vec<(usize, Vec<u8>)> {
    let mut sections = Vec::new();
    let mut add = |feature, contents: Option<Vec<u8>>| sections.extend(contents.map(|contents| (feature, contents)));
    let at_the_end = sizes.is_some();
    if at_the_end && !info.build_ids.is_empty() {
        let entries = info.build_ids.iter().flat_map(|id| encode::build_id(&id.path, &id.build_id, id.kernel));
        add(BUILD_ID, Some(entries.collect()));
    }
    let texts = [(HOSTNAME, &info.host), (OSRELEASE, &info.kernel), (VERSION, &info.perf), (ARCH, &info.machine)];
    for (feature, value) in texts {
        add(feature, value.as_deref().map(text));
    }
    let cpus = info.cpus_online.map(|online| (info.cpus_available.unwrap_or(online), online));
    add(NRCPUS, cpus.map(|(available, online)| [available.to_ne_bytes(), online.to_ne_bytes()].concat()));
    add(CPUDESC, info.cpu.as_deref().map(text));
    add(CPUID, info.cpu_id.as_deref().map(text));
    add(TOTAL_MEM, info.memory_kib.map(|kib| kib.to_ne_bytes().to_vec()));
    add(CMDLINE, (!info.command.is_empty()).then(|| strings(&info.command)));
    add(EVENT_DESC, Some(event_descriptions(events)));
    add(GROUP_DESC, (!info.groups.is_empty()).then(|| groups(&info.groups)));
    let times = info.sample_times.filter(|_| at_the_end);
    add(SAMPLE_TIME, times.map(|(first, last)| [first.to_ne_bytes(), last.to_ne_bytes()].concat()));
    let chosen_clock = events.first().filter(|event| event.attribute.has(flag::USE_CLOCKID));
    // The section holds the clock's resolution.
    add(CLOCKID, chosen_clock.map(|_| 1u64.to_ne_bytes().to_vec()));
    add(COMPRESSED, compression.map(|compression| compressed(compression, sizes)));
    let moment = info.clock.zip(info.clock_moment);
    add(
        CLOCK_DATA,
        moment.map(|(clock, (wall, at))| {
            const VERSION: u32 = 1;
            [&VERSION.to_ne_bytes()[..], &clock.to_ne_bytes(), &wall.to_ne_bytes(), &at.to_ne_bytes()].concat()
        }),
    );
    sections
}

/// Its length, filled up to a multiple of 64 as perf does it, and the text ended by zeroes.
fn text(text: &str) -> Vec<u8> {
    let len = (text.len() + 1).next_multiple_of(64);
    let mut bytes = (len as u32).to_ne_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(4 + len, 0);
    bytes
}

fn strings(all: &[String]) -> Vec<u8> {
    let count = (all.len() as u32).to_ne_bytes();
    [&count[..], &all.iter().flat_map(|one| text(one)).collect::<Vec<_>>()].concat()
}

fn event_descriptions(events: &[RecordedEvent]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((events.len() as u32).to_ne_bytes());
    bytes.extend((Attribute::SIZE as u32).to_ne_bytes());
    for event in events {
        bytes.extend(event.attribute.to_bytes());
        bytes.extend((event.ids.len() as u32).to_ne_bytes());
        bytes.extend(text(&event.description.name));
        bytes.extend(event.ids.iter().flat_map(|id| id.to_ne_bytes()));
    }
    bytes
}

fn groups(groups: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes = (groups.len() as u32).to_ne_bytes().to_vec();
    for (leader, members) in groups {
        // No name of its own.
        bytes.extend(text(""));
        bytes.extend(leader.to_ne_bytes());
        bytes.extend(members.to_ne_bytes());
    }
    bytes
}

fn compressed(compression: Compression, sizes: Option<(u64, u64)>) -> Vec<u8> {
    const VERSION: u32 = 1;
    const ZSTD: u32 = 1;
    let ratio = sizes.map_or(0, |(before, after)| before.checked_div(after).unwrap_or(0));
    [VERSION, ZSTD, compression.level as u32, ratio as u32, compression.batch]
        .iter()
        .flat_map(|number| number.to_ne_bytes())
        .collect()
}
