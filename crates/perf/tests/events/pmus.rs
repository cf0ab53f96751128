//! Events that sysfs describes. perf could not be asked about a made-up sysfs; the numbers follow
//! from its documentation, except for the pmus that real machines have without a counter.

use crate::tree::{DESKTOP, HYBRID, Machine};
use model::{Cpu, Sampling};
use perf::events::{EventKind, EventRate, Placement, Precision, Scale};

/// Text, type, config, config1, config2.
const TERMS: &[(&str, u32, [u64; 3])] = &[
    ("cpu//", 4, [0, 0, 0]),
    ("cpu/event=0x3c,umask=0x1/", 4, [0x13c, 0, 0]),
    ("cpu/event=60,umask=1/u", 4, [0x13c, 0, 0]),
    ("cpu/event=0x3c,edge/", 4, [0x4003c, 0, 0]),
    ("cpu/event=0xcd,ldlat=30/pp", 4, [0xcd, 30, 0]),
    ("cpu/offcore_rsp=0xffffffffffffffff,event=0xb7/", 4, [0xb7, u64::MAX, 0]),
    ("cpu/frontend=0x12,event=1/", 4, [1, 0, 0x12]),
    ("cpu/split=0xa3c/", 4, [0xa_0000_003c, 0, 0]),
    ("cpu/config=0x10,config1=2,config2=3/", 4, [0x10, 2, 3]),
    ("cpu/edge,config=0x10/", 4, [0x40010, 0, 0]),
    ("cpu/r1a8/", 4, [0x1a8, 0, 0]),
    ("cpu/cpu-cycles/", 4, [0x3c, 0, 0]),
    ("cpu/mem-loads/", 4, [0x1cd, 3, 0]),
    ("cpu/mem-loads,ldlat=100/P", 4, [0x1cd, 100, 0]),
    ("cpu/ldlat=100,mem-loads/P", 4, [0x1cd, 100, 0]),
    ("mem-loads", 4, [0x1cd, 3, 0]),
    ("slots:u", 4, [0x400, 0, 0]),
    ("power/energy-pkg/", 14, [2, 0, 0]),
    ("hv_24x7/HPM_INST,core=5/", 20, [0x20_0005_0002, 0, 0]),
    ("software/config=9/", 1, [9, 0, 0]),
    ("software/r9/", 1, [9, 0, 0]),
];

#[test]
fn terms_are_written_into_their_bits() {
    let machine = Machine::with(DESKTOP);
    for &(text, kind, config) in TERMS {
        let spec = machine.one(text);
        assert_eq!((spec.kind.number(), [spec.config, spec.config1, spec.config2]), (kind, config), "{text}");
        assert_eq!(spec.name, text);
        let attr = spec.attr();
        assert_eq!((attr.type_, attr.config), (kind, config[0]));
    }
}

#[test]
fn modifiers_come_with_and_without_a_colon() {
    let machine = Machine::with(DESKTOP);
    for text in ["cpu/event=1/u", "cpu/event=1/:u"] {
        let spec = machine.one(text);
        assert!(spec.modifiers.is_user_only());
        assert_eq!(spec.name, "cpu/event=1/u");
    }
}

#[test]
fn names_and_rates_are_terms() {
    let machine = Machine::with(DESKTOP);
    let spec = machine.one("cpu/event=1,name='my event, mine',period=200003/u");
    assert_eq!(spec.name, "my event, mine:u");
    assert_eq!(spec.rate, EventRate::Fixed(Sampling::Period(200_003)));
    assert_eq!(machine.one("cpu/freq=99,event=1/").rate, EventRate::Fixed(Sampling::Frequency(99)));
}

#[test]
fn packages_have_a_mask_a_scale_and_a_unit() {
    let spec = Machine::with(DESKTOP).one("power/energy-pkg/");
    assert_eq!(spec.placement, Placement::Packages(vec![Cpu(0), Cpu(4)]));
    assert_eq!(spec.scale, Some(Scale { factor: 2.0_f64.powi(-32), unit: "Joules".into() }));
}

#[test]
fn precision_starts_where_the_pmu_ends() {
    let machine = Machine::with(DESKTOP);
    assert_eq!(machine.one("cycles:P").modifiers.precision, Precision::AtMost(2));
    assert_eq!(machine.one("cpu/event=1/P").modifiers.precision, Precision::AtMost(2));
    assert_eq!(machine.one("cycles:ppp").modifiers.precision, Precision::Exactly(3));
    assert_eq!(machine.one("cpu-clock:P").modifiers.precision, Precision::AtMost(0));
    assert_eq!(Machine::bare().one("cycles:P").modifiers.precision, Precision::AtMost(3));
}

/// The kind of core stands above bit 32, and 4 is the number of the first kind:
/// `PERF_PMU_TYPE_SHIFT` of include/uapi/linux/perf_event.h.
#[test]
fn each_kind_of_core_has_its_counter() {
    let machine = Machine::with(HYBRID);
    let cores = |range: std::ops::RangeInclusive<u32>| Placement::Cores(range.map(Cpu).collect());
    let seen = |text: &str| -> Vec<_> {
        let specs = machine.parse(text).unwrap();
        specs.into_iter().map(|spec| (spec.name, spec.kind.number(), spec.config, spec.placement)).collect()
    };
    let atom = |name: &str, kind, config| (name.to_owned(), kind, config, cores(8..=11));
    let core = |name: &str, kind, config| (name.to_owned(), kind, config, cores(0..=7));
    assert_eq!(seen("cycles:u"), [atom("cpu_atom/cycles/u", 0, 10 << 32), core("cpu_core/cycles/u", 0, 0)]);
    assert_eq!(
        seen("LLC-load-misses"),
        [atom("cpu_atom/LLC-load-misses/", 3, 10 << 32 | 0x10002), core("cpu_core/LLC-load-misses/", 3, 0x10002)]
    );
    assert_eq!(seen("r3c"), [atom("cpu_atom/r3c/", 10, 0x3c), core("cpu_core/r3c/", 4, 0x3c)]);
    assert_eq!(seen("mem-loads"), [atom("cpu_atom/mem-loads/", 10, 0xd0), core("cpu_core/mem-loads/", 4, 0xcd)]);
    assert_eq!(seen("cpu_core/cycles/"), [core("cpu_core/cycles/", 0, 0)]);
    assert_eq!(seen("cpu_atom/instructions/k"), [atom("cpu_atom/instructions/k", 0, 10 << 32 | 1)]);
    assert_eq!(seen("cpu_atom/event=1/"), [atom("cpu_atom/event=1/", 10, 1)]);
    assert_eq!(seen("slots"), [core("slots", 4, 0)]);
    assert_eq!(seen("cpu-clock").len(), 1);
    assert!(machine.parse("cycles").unwrap().iter().all(|spec| spec.is_cycles()));
    assert_eq!(machine.parse("cycles/period=5/").unwrap()[0].rate, EventRate::Fixed(Sampling::Period(5)));
}

#[test]
fn generic_events_are_terms_of_a_core() {
    let spec = Machine::with(DESKTOP).one("cpu/LLC-loads/");
    assert_eq!((spec.kind, spec.config), (EventKind::HardwareCache, 2));
}
