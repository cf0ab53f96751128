//! What becomes of an event on its way to the kernel.

use crate::tree::{DESKTOP, HYBRID, Machine};
use model::{Sampling, Unit};
use perf::events::{EventKind, EventRate, Precision, Roots, parse};
use perf::{Counter, Scope, Whose};

const DEFAULT: Sampling = Sampling::Frequency(997);

/// `perf record -F 99` and `-c 7` override what is usual for tracepoints and breakpoints, and
/// nothing overrides a term of the event.
#[test]
fn the_rate_is_the_events_then_the_runs_then_the_usual_one() {
    let machine = Machine::with(DESKTOP);
    for (text, asked, expected) in [
        ("cpu-clock", None, DEFAULT),
        ("cpu-clock", Some(Sampling::Period(7)), Sampling::Period(7)),
        ("page-faults", None, DEFAULT),
        ("mem:0x1000", None, Sampling::Period(1)),
        ("mem:0x1000", Some(Sampling::Frequency(99)), Sampling::Frequency(99)),
        ("cpu/event=1,period=50/", Some(Sampling::Frequency(99)), Sampling::Period(50)),
        ("cpu-clock/freq=33/", Some(Sampling::Period(7)), Sampling::Frequency(33)),
    ] {
        assert_eq!(machine.one(text).sampling(asked, DEFAULT), expected, "{text} {asked:?}");
    }
}

#[test]
fn the_kernels_side_can_be_left_out() {
    let machine = Machine::with(DESKTOP);
    for (text, name) in [
        ("cycles", "cycles:u"),
        ("cycles:ppp", "cycles:uppp"),
        ("cycles:uk", "cycles:u"),
        ("cpu/event=1/", "cpu/event=1/u"),
        ("cpu/event=1,name=x/", "x:u"),
        ("mem:0x10:w", "mem:0x10:w:u"),
    ] {
        let mut spec = machine.one(text);
        assert!(spec.includes_kernel());
        spec.exclude_kernel();
        assert_eq!(spec.name, name);
        assert!(spec.modifiers.is_user_only() && !spec.includes_kernel());
        assert_eq!((spec.attr().exclude_user(), spec.attr().exclude_kernel()), (0, 1));
    }
}

#[test]
fn the_clock_stands_in_for_cycles() {
    let machine = Machine::bare();
    for (text, name, rate) in [
        ("cycles", "cpu-clock", EventRate::Run),
        ("cycles:u", "cpu-clock:u", EventRate::Run),
        ("cycles:ppp", "cpu-clock", EventRate::Run),
        ("cycles/period=1000000/", "cpu-clock", EventRate::Run),
        ("cycles/freq=99/u", "cpu-clock:u", EventRate::Fixed(Sampling::Frequency(99))),
    ] {
        let spec = machine.one(text);
        assert!(spec.is_cycles());
        let clock = spec.as_cpu_clock();
        assert_eq!((clock.name.as_str(), clock.rate, clock.unit), (name, rate, Unit::Nanoseconds), "{text}");
        assert_eq!((clock.kind, clock.config), (EventKind::Software, 0));
        assert_eq!(clock.modifiers.user, spec.modifiers.user);
    }
    assert!(!machine.one("instructions").is_cycles() && !machine.one("cpu-clock").is_cycles());
}

#[test]
fn precision_is_lowered_where_it_was_left_open() {
    let mut open = Machine::with(HYBRID).parse("cpu_core/cycles/P").unwrap().remove(0);
    let levels: Vec<_> =
        std::iter::from_fn(|| open.lower_precision().then(|| open.modifiers.precision.level())).collect();
    assert_eq!(levels, [2, 1, 0]);
    let mut said = Machine::bare().one("cycles:pp");
    assert!(!said.lower_precision());
    assert_eq!(said.modifiers.precision, Precision::Exactly(2));
}

/// The kernel itself takes what is made of the names: perf_event_open(2) on this very thread,
/// user side only, which needs no rights up to a perf_event_paranoid of 2.
#[test]
fn perf_events_are_taken_by_this_kernel() {
    for name in
        ["cpu-clock:u", "task-clock:u", "page-faults:u", "cs:u", "dummy:u", "software/config=5/u", "cpu-clock:ppu"]
    {
        let spec = parse(name, &Roots::live()).unwrap().remove(0);
        match Counter::open(&spec.attr(), Scope { whose: Whose::Thread(model::Tid(0)), cpu: None }) {
            Ok(_) => {}
            Err(errno @ (rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::NOSYS)) => {
                skipped(&format!("{name}: perf_event_open: {errno}"));
            }
            Err(errno) => panic!("{name}: {errno}"),
        }
    }
}

#[allow(clippy::print_stderr)]
fn skipped(why: &str) {
    eprintln!("SKIPPED perf_events_are_taken_by_this_kernel: {why}");
}
