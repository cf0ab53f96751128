//! The name of an event that no section names, by its attribute, in perf's spelling.

use records::{Attribute, flag};

/// `PERF_TYPE_*`
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const TRACEPOINT: u32 = 2;
const CACHE: u32 = 3;
const RAW: u32 = 4;
const BREAKPOINT: u32 = 5;

/// `PERF_COUNT_HW_*`
const HARDWARE_NAMES: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

/// `PERF_COUNT_SW_*`
const SOFTWARE_NAMES: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

/// `PERF_COUNT_HW_CACHE_*`, their operations and results.
const CACHES: [&str; 7] = ["L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"];
const OPERATIONS: [(&str, &str); 3] = [("loads", "load"), ("stores", "store"), ("prefetches", "prefetch")];

/// The name with its modifiers.
pub(crate) fn of(attribute: &Attribute) -> String {
    let config = attribute.config;
    let known =
        |names: &[&str]| usize::try_from(config).ok().and_then(|index| names.get(index)).map(|&name| name.into());
    let name: Option<String> = match attribute.kind {
        HARDWARE => known(&HARDWARE_NAMES),
        SOFTWARE => known(&SOFTWARE_NAMES),
        CACHE => cache(config),
        RAW => Some(format!("raw {config:#x}")),
        TRACEPOINT => Some(format!("tracepoint {config}")),
        BREAKPOINT => Some(format!("mem:{:#x}", attribute.config1)),
        _ => None,
    };
    name.unwrap_or_else(|| format!("event {}:{config:#x}", attribute.kind)) + &modifiers(attribute)
}

fn cache(config: u64) -> Option<String> {
    let part = |shift: u32| (config >> shift & 0xff) as usize;
    let (cache, (plural, singular)) = (CACHES.get(part(0))?, OPERATIONS.get(part(8))?);
    match part(16) {
        0 => Some(format!("{cache}-{plural}")),
        1 => Some(format!("{cache}-{singular}-misses")),
        _ => None,
    }
}

/// `:` and letters for what is counted and how precisely, where that is not the usual.
fn modifiers(attribute: &Attribute) -> String {
    let mut letters = String::new();
    let mut if_counted = |excluded, letter| {
        if !attribute.has(excluded) {
            letters.push(letter);
        }
    };
    let leaves_out = attribute.has(flag::EXCLUDE_USER | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV);
    if leaves_out {
        if_counted(flag::EXCLUDE_KERNEL, 'k');
        if_counted(flag::EXCLUDE_USER, 'u');
        if_counted(flag::EXCLUDE_HV, 'h');
    }
    letters.extend(std::iter::repeat_n('p', attribute.precision()));
    // perf leaves guests out by itself where one of the others is asked for.
    let guests_left_out = leaves_out || attribute.precision() > 0;
    if attribute.has(flag::EXCLUDE_HOST) || attribute.has(flag::EXCLUDE_GUEST) == guests_left_out {
        if !attribute.has(flag::EXCLUDE_HOST) {
            letters.push('H');
        }
        if !attribute.has(flag::EXCLUDE_GUEST) {
            letters.push('G');
        }
    }
    if letters.is_empty() { letters } else { format!(":{letters}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(kind: u32, config: u64, flags: u64) -> String {
        of(&Attribute { kind, config, flags, ..Attribute::default() })
    }

    #[test]
    fn names_as_perf_spells_them() {
        assert_eq!(named(0, 0, flag::EXCLUDE_GUEST), "cycles");
        assert_eq!(named(0, 1, flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV), "instructions:u");
        assert_eq!(named(0, 1, flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV | flag::EXCLUDE_GUEST), "instructions:uH");
        assert_eq!(named(1, 0, flag::EXCLUDE_GUEST), "cpu-clock");
        assert_eq!(named(0, 0, 2 << flag::PRECISE_SHIFT), "cycles:pp");
        assert_eq!(named(3, 0x1_00_00, flag::EXCLUDE_GUEST), "L1-dcache-load-misses");
        assert_eq!(named(4, 0x1a2, 0), "raw 0x1a2:HG");
        assert_eq!(named(99, 5, flag::EXCLUDE_GUEST), "event 99:0x5");
    }
}
