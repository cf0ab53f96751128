//! Names that need no look at the machine.

use crate::tree::Machine;
use model::{Sampling, Unit};
use perf::events::{CACHES, EventKind, EventRate, HARDWARE, SOFTWARE};

/// Name, type and config, for all names and aliases that perf 6.1 takes.
const GENERIC: &[(&str, u32, u64)] = &[
    ("cycles", 0, 0x0),
    ("cpu-cycles", 0, 0x0),
    ("instructions", 0, 0x1),
    ("cache-references", 0, 0x2),
    ("cache-misses", 0, 0x3),
    ("branches", 0, 0x4),
    ("branch-instructions", 0, 0x4),
    ("branch-misses", 0, 0x5),
    ("bus-cycles", 0, 0x6),
    ("stalled-cycles-frontend", 0, 0x7),
    ("idle-cycles-frontend", 0, 0x7),
    ("stalled-cycles-backend", 0, 0x8),
    ("idle-cycles-backend", 0, 0x8),
    ("ref-cycles", 0, 0x9),
    ("cpu-clock", 1, 0x0),
    ("task-clock", 1, 0x1),
    ("page-faults", 1, 0x2),
    ("faults", 1, 0x2),
    ("context-switches", 1, 0x3),
    ("cs", 1, 0x3),
    ("cpu-migrations", 1, 0x4),
    ("migrations", 1, 0x4),
    ("minor-faults", 1, 0x5),
    ("major-faults", 1, 0x6),
    ("alignment-faults", 1, 0x7),
    ("emulation-faults", 1, 0x8),
    ("dummy", 1, 0x9),
    ("cgroup-switches", 1, 0xb),
    ("r1a8", 4, 0x1a8),
    ("r1A8", 4, 0x1a8),
    ("r01a8", 4, 0x1a8),
    ("r0", 4, 0x0),
    ("rffffffffffffffff", 4, u64::MAX),
];

/// Cache events, of type 3.
const CACHE: &[(&str, u64)] = &[
    ("L1-dcache", 0x0),
    ("L1-dcache-loads", 0x0),
    ("L1-dcache-load-misses", 0x10000),
    ("L1-dcache-load-miss", 0x10000),
    ("L1-dcache-load-refs", 0x0),
    ("L1-dcache-load-ops", 0x0),
    ("L1-dcache-load-access", 0x0),
    ("L1-dcache-load-Reference", 0x0),
    ("L1-dcache-stores", 0x100),
    ("L1-dcache-store-misses", 0x10100),
    ("L1-dcache-prefetches", 0x200),
    ("L1-dcache-prefetch-misses", 0x10200),
    ("L1-dcache-speculative-read", 0x200),
    ("L1-dcache-speculative-load", 0x200),
    ("L1-dcache-misses", 0x10000),
    ("L1-dcache-misses-load", 0x10000),
    ("l1d-read", 0x0),
    ("l1-d-write", 0x100),
    ("L1-data-prefetch", 0x200),
    ("L1-icache-load-misses", 0x10001),
    ("L1-icache-prefetches", 0x201),
    ("l1i-refs", 0x1),
    ("l1-i-loads", 0x1),
    ("L1-instruction-load", 0x1),
    ("LLC-loads", 0x2),
    ("LLC-store-misses", 0x10102),
    ("L2-misses", 0x10002),
    ("dTLB-load-misses", 0x10003),
    ("dTLB-store-misses", 0x10103),
    ("d-tlb-stores", 0x103),
    ("Data-TLB-prefetches", 0x203),
    ("iTLB-load-misses", 0x10004),
    ("i-tlb-loads", 0x4),
    ("Instruction-TLB", 0x4),
    ("branch-loads", 0x5),
    ("branch-load-misses", 0x10005),
    ("bpu-load", 0x5),
    ("btb-misses", 0x10005),
    ("bpc-read", 0x5),
    ("node-loads", 0x6),
    ("node-stores", 0x106),
    ("node-prefetches", 0x206),
    ("node-prefetch-misses", 0x10206),
    // Newer versions of perf than 6.1 take any case and these; there is nothing else they could mean.
    ("llc-loads", 0x2),
    ("dtlb-misses", 0x10003),
    ("branches-load-misses", 0x10005),
    ("l1-dcache-LOADS", 0x0),
];

#[test]
fn generic_names_have_perfs_numbers() {
    let machine = Machine::bare();
    for &(name, kind, config) in GENERIC {
        let spec = machine.one(name);
        assert_eq!((spec.kind.number(), spec.config), (kind, config), "{name}");
        assert_eq!(spec.name, name, "perf shows a name as it was written");
        assert_eq!(spec.rate, EventRate::Run);
        let is_clock = ["cpu-clock", "task-clock"].contains(&name);
        assert_eq!(spec.unit, if is_clock { Unit::Nanoseconds } else { Unit::Occurrences }, "{name}");
    }
    let tested = |name: &&str| GENERIC.iter().any(|(tested, ..)| tested == name);
    for entry in HARDWARE.iter().chain(SOFTWARE) {
        assert!(std::iter::once(&entry.name).chain(entry.aliases).all(tested), "{} is not tested", entry.name);
    }
}

#[test]
fn cache_names_have_perfs_numbers() {
    let machine = Machine::bare();
    for &(name, config) in CACHE {
        let spec = machine.one(name);
        assert_eq!((spec.kind, spec.config), (EventKind::HardwareCache, config), "{name}");
    }
    let any = |name: &&str| CACHE.iter().any(|(tested, _)| tested.to_lowercase().starts_with(&name.to_lowercase()));
    for cache in CACHES {
        assert!(cache.names.iter().all(any), "{:?} are not all tested", cache.names);
    }
}

#[test]
fn what_is_no_cache_event() {
    let machine = Machine::bare();
    for name in [
        "L1-icache-stores",
        "iTLB-stores",
        "branch-prefetches",
        "bpu-write",
        "L1-dcache-",
        "L1-dcache-loads-ops-misses",
        "L1-dcache-x",
        "loads",
        "R1a8",
        "read",
    ] {
        assert!(machine.error(name).contains("there is no such event"), "{name}");
    }
}

/// Bits of `exclude_…` in the order user, kernel, hv, host, guest, idle, then `precise_ip`.
#[test]
fn modifiers_have_perfs_bits() {
    let machine = Machine::bare();
    for (modifiers, bits, precise) in [
        ("", "----g-", 0),
        ("u", "-kh-g-", 0),
        ("uk", "--h-g-", 0),
        ("uh", "-k--g-", 0),
        ("ukh", "----g-", 0),
        ("G", "---H--", 0),
        ("H", "----g-", 0),
        ("GH", "------", 0),
        ("uG", "-khH--", 0),
        ("Gk", "u-hH--", 0),
        ("uI", "-kh-gi", 0),
        ("p", "----g-", 1),
        ("pp", "----g-", 2),
        ("ppp", "----g-", 3),
        ("pu", "-kh-g-", 1),
        ("P", "------", 3),
        // Here perf 6.1 forgets to leave guests out; flamel does not.
        ("k", "u-h-g-", 0),
        ("h", "uk--g-", 0),
        ("I", "----gi", 0),
        ("D", "----g-", 0),
    ] {
        let spec = machine.one(&format!("cycles:{modifiers}"));
        let attr = spec.attr();
        let excluded = [
            (attr.exclude_user(), 'u'),
            (attr.exclude_kernel(), 'k'),
            (attr.exclude_hv(), 'h'),
            (attr.exclude_host(), 'H'),
            (attr.exclude_guest(), 'g'),
            (attr.exclude_idle(), 'i'),
        ];
        let shown: String = excluded.iter().map(|&(bit, letter)| if bit == 1 { letter } else { '-' }).collect();
        assert_eq!((shown.as_str(), attr.precise_ip()), (bits, precise), "cycles:{modifiers}");
        assert_eq!(attr.pinned(), u64::from(modifiers.contains('D')));
    }
    assert_eq!(machine.one("cycles:e").attr().exclusive(), 1);
}

#[test]
fn breakpoints_have_perfs_numbers() {
    let machine = Machine::bare();
    for (text, address, len, access) in [
        ("mem:0x1000", 0x1000, 4, 3),
        ("mem:4096", 0x1000, 4, 3),
        ("mem:010:r", 10, 4, 1),
        ("mem:0x1000:x", 0x1000, 8, 4),
        ("mem:0x1000:r", 0x1000, 4, 1),
        ("mem:0x1000:w", 0x1000, 4, 2),
        ("mem:0x1000:rw", 0x1000, 4, 3),
        ("mem:0x1000:wr", 0x1000, 4, 3),
        ("mem:0x1000:wx", 0x1000, 4, 6),
        ("mem:0x1000:rwx", 0x1000, 4, 7),
        ("mem:0x1000/1:w", 0x1000, 1, 2),
        ("mem:0x1000/2:r", 0x1000, 2, 1),
        ("mem:0x1000/8", 0x1000, 8, 3),
        ("mem:0x1000/4:x", 0x1000, 4, 4),
        ("mem:0x1000/8:rw:u", 0x1000, 8, 3),
        ("mem:0x1000:u", 0x1000, 4, 3),
        ("mem:0x1000/8:u", 0x1000, 8, 3),
        ("mem:0x1000:w:p", 0x1000, 4, 2),
        ("mem:0xffffffffffffffff:w", u64::MAX, 4, 2),
    ] {
        let spec = machine.one(text);
        assert_eq!((spec.kind, spec.config, spec.name.as_str()), (EventKind::Breakpoint, 0, text));
        assert_eq!((spec.config1, spec.config2, spec.breakpoint), (address, len, access), "{text}");
        assert_eq!(spec.modifiers.is_user_only(), text.ends_with(":u"), "{text}");
        assert_eq!(spec.rate, EventRate::Usually(Sampling::Period(1)));
    }
}

#[test]
fn lists_keep_their_order() {
    let machine = Machine::bare();
    let names: Vec<_> =
        machine.parse("cs,cpu-clock:u, mem:0x10/8:w:u,r1").unwrap().into_iter().map(|s| s.name).collect();
    assert_eq!(names, ["cs", "cpu-clock:u", "mem:0x10/8:w:u", "r1"]);
}

#[test]
fn generic_events_take_common_terms() {
    let machine = Machine::bare();
    let clock = machine.one("cpu-clock/period=100000/");
    assert_eq!((clock.kind, clock.rate), (EventKind::Software, EventRate::Fixed(Sampling::Period(100_000))));
    assert_eq!(clock.name, "cpu-clock/period=100000/");
    let faults = machine.one("page-faults/freq=10,name=x/u");
    assert_eq!((faults.name.as_str(), faults.config), ("x:u", 2));
    assert_eq!(faults.rate, EventRate::Fixed(Sampling::Frequency(10)));
    assert_eq!(machine.one("L1-dcache-loads//").kind, EventKind::HardwareCache);
}
