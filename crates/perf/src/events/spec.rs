//! An event as the kernel takes it, before it is said how it is to be sampled.

use super::modifiers::{Modifiers, Precision};
use model::{Cpu, Sampling, Unit};
use perf_event_open_sys::bindings as sys;

/// Which part of the kernel an event comes from: the `type` of `struct perf_event_attr`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventKind {
    /// `PERF_TYPE_HARDWARE`: a counter that most processors have.
    Hardware,
    /// `PERF_TYPE_SOFTWARE`: the kernel's own timers and counts.
    Software,
    /// `PERF_TYPE_TRACEPOINT`
    Tracepoint,
    /// `PERF_TYPE_HW_CACHE`: a counter of one of the processor's caches.
    HardwareCache,
    /// `PERF_TYPE_RAW`: a number from the processor's manual.
    Raw,
    /// `PERF_TYPE_BREAKPOINT`: a hardware breakpoint on an address.
    Breakpoint,
    /// A performance monitoring unit with a number of its own, from its `type` file in sysfs.
    Pmu(u32),
}

impl EventKind {
    /// The kind with this `type` number.
    pub const fn from_number(number: u32) -> Self {
        match number {
            sys::PERF_TYPE_HARDWARE => Self::Hardware,
            sys::PERF_TYPE_SOFTWARE => Self::Software,
            sys::PERF_TYPE_TRACEPOINT => Self::Tracepoint,
            sys::PERF_TYPE_HW_CACHE => Self::HardwareCache,
            sys::PERF_TYPE_RAW => Self::Raw,
            sys::PERF_TYPE_BREAKPOINT => Self::Breakpoint,
            other => Self::Pmu(other),
        }
    }
    /// The `type` number.
    pub const fn number(self) -> u32 {
        match self {
            Self::Hardware => sys::PERF_TYPE_HARDWARE,
            Self::Software => sys::PERF_TYPE_SOFTWARE,
            Self::Tracepoint => sys::PERF_TYPE_TRACEPOINT,
            Self::HardwareCache => sys::PERF_TYPE_HW_CACHE,
            Self::Raw => sys::PERF_TYPE_RAW,
            Self::Breakpoint => sys::PERF_TYPE_BREAKPOINT,
            Self::Pmu(number) => number,
        }
    }
    /// Whether it needs counters of the processor, which virtual machines often lack.
    pub const fn needs_hardware(self) -> bool {
        matches!(self, Self::Hardware | Self::HardwareCache | Self::Raw | Self::Pmu(_))
    }
}

/// How often an event is to be sampled, as far as the event itself has a say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventRate {
    /// As the run is: by frequency, unless the user asks for a period.
    Run,
    /// In this way, unless the user asks for something else. Tracepoints and breakpoints are
    /// sampled each time they fire, as in perf.
    Usually(Sampling),
    /// In this way, whatever is asked for the run: a `period=` or `freq=` in the event.
    Fixed(Sampling),
}

/// On which CPUs an event can be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Placement {
    /// On any, and for threads.
    Anywhere,
    /// For threads and CPUs, but on these CPUs only: one kind of core of a hybrid processor (the
    /// pmu's `cpus` file). On others perf_event_open(2) fails.
    Cores(Vec<Cpu>),
    /// Not for threads; on these CPUs, each of which counts for a whole package (the pmu's
    /// `cpumask` file).
    Packages(Vec<Cpu>),
}

/// What a count of the event is to be multiplied with, and what comes out: the files `.scale` and
/// `.unit` beside an event in sysfs.
#[derive(Clone, PartialEq, Debug)]
pub struct Scale {
    /// The factor, 1 where there is no `.scale` file.
    pub factor: f64,
    /// The unit, such as `Joules`; empty where there is no `.unit` file.
    pub unit: String,
}

/// An event, found on this machine.
#[derive(Clone, PartialEq, Debug)]
pub struct EventSpec {
    /// Its name as perf prints it: as it was written, modifiers included, or its `name=` term.
    pub name: String,
    /// Where it comes from.
    pub kind: EventKind,
    /// The `config` of `struct perf_event_attr`: which event of its kind.
    pub config: u64,
    /// `config1`; for a breakpoint its address (`bp_addr`).
    pub config1: u64,
    /// `config2`; for a breakpoint its length in bytes (`bp_len`).
    pub config2: u64,
    /// `bp_type` of a breakpoint: bits of `HW_BREAKPOINT_R`, `_W`, `_X`; otherwise 0.
    pub breakpoint: u32,
    /// What is left out, and how exact addresses are to be.
    pub modifiers: Modifiers,
    /// How often it is sampled, as far as it has a say; see [`Self::sampling`].
    pub rate: EventRate,
    /// What its weight counts.
    pub unit: Unit,
    /// How a count becomes the unit that people read, where sysfs says so.
    pub scale: Option<Scale>,
    /// On which CPUs it can be opened.
    pub placement: Placement,
    /// [`Self::name`] without its modifiers.
    base: String,
}

impl EventSpec {
    /// The event number `config` of a kind, named `base`, without modifiers.
    pub(super) fn new(base: &str, kind: EventKind, config: u64) -> Self {
        let is_clock = kind == EventKind::Software
            && [sys::PERF_COUNT_SW_CPU_CLOCK, sys::PERF_COUNT_SW_TASK_CLOCK].map(u64::from).contains(&config);
        Self {
            name: base.to_owned(),
            kind,
            config,
            config1: 0,
            config2: 0,
            breakpoint: 0,
            modifiers: Modifiers::default(),
            rate: EventRate::Run,
            unit: if is_clock { Unit::Nanoseconds } else { Unit::Occurrences },
            scale: None,
            placement: Placement::Anywhere,
            base: base.to_owned(),
        }
    }

    /// The same under another name.
    pub(super) fn renamed(&self, name: &str) -> Self {
        Self { name: name.to_owned(), base: name.to_owned(), ..self.clone() }
    }

    /// The same with modifiers, which were written as `written`.
    pub(super) fn with_modifiers(mut self, modifiers: Modifiers, written: &str) -> Self {
        self.modifiers = modifiers;
        self.name = joined(&self.base, written);
        self
    }

    /// How it is sampled in a run for which the user has asked for `asked`, or for nothing, in
    /// which case `default` holds.
    pub fn sampling(&self, asked: Option<Sampling>, default: Sampling) -> Sampling {
        match (self.rate, asked) {
            (EventRate::Fixed(fixed), _) => fixed,
            (_, Some(asked)) => asked,
            (EventRate::Usually(usual), None) => usual,
            (EventRate::Run, None) => default,
        }
    }

    /// Whether it counts the processor's cycles, for which the clock is a substitute.
    pub fn is_cycles(&self) -> bool {
        // The upper half names the kind of core on a hybrid processor.
        self.kind == EventKind::Hardware && self.config as u32 == sys::PERF_COUNT_HW_CPU_CYCLES
    }

    /// A tracepoint's group and name.
    pub fn tracepoint(&self) -> Option<(&str, &str)> {
        if self.kind == EventKind::Tracepoint { self.base.split_once(':') } else { None }
    }

    /// Whether the kernel may be named by the event at all: false for `:u`.
    pub fn includes_kernel(&self) -> bool {
        self.modifiers.kernel || self.modifiers.hypervisor
    }

    /// The kernel's clock instead of it, with the same modifiers but for the precision, which
    /// clocks have not. A period, which would be one of cycles, is dropped.
    pub fn as_cpu_clock(&self) -> Self {
        let clock = Self::new("cpu-clock", EventKind::Software, sys::PERF_COUNT_SW_CPU_CLOCK.into());
        let modifiers = Modifiers { precision: Precision::Exactly(0), ..self.modifiers };
        let rate = match self.rate {
            EventRate::Fixed(Sampling::Frequency(_)) => self.rate,
            _ => EventRate::Run,
        };
        Self { rate, ..clock.with_modifiers(modifiers, &modifiers.to_string()) }
    }

    /// Leaves the kernel's and the hypervisor's side out, and says so in the name.
    pub fn exclude_kernel(&mut self) {
        self.modifiers.user = true;
        self.modifiers.kernel = false;
        self.modifiers.hypervisor = false;
        self.name = joined(&self.base, &self.modifiers.to_string());
    }

    /// Asks for addresses one level less exact, where that was left open (`:P`). False where
    /// there is nothing to be lowered.
    pub fn lower_precision(&mut self) -> bool {
        match self.modifiers.precision {
            Precision::AtMost(level @ 1..) => {
                self.modifiers.precision = Precision::AtMost(level - 1);
                true
            }
            _ => false,
        }
    }

    /// The event as `struct perf_event_attr`, with nothing said yet about sampling.
    pub fn attr(&self) -> sys::perf_event_attr {
        let modifiers = self.modifiers;
        let mut attr = sys::perf_event_attr { type_: self.kind.number(), config: self.config, ..Default::default() };
        attr.__bindgen_anon_3.config1 = self.config1;
        attr.__bindgen_anon_4.config2 = self.config2;
        attr.bp_type = self.breakpoint;
        attr.set_exclude_user((!modifiers.user).into());
        attr.set_exclude_kernel((!modifiers.kernel).into());
        attr.set_exclude_hv((!modifiers.hypervisor).into());
        attr.set_exclude_host((!modifiers.host).into());
        attr.set_exclude_guest((!modifiers.guest).into());
        attr.set_exclude_idle((!modifiers.idle).into());
        attr.set_precise_ip(modifiers.precision.level().into());
        attr.set_pinned(modifiers.pinned.into());
        attr.set_exclusive(modifiers.exclusive.into());
        attr
    }
}

/// A name with its modifiers: after the slash of a pmu's event, after a colon elsewhere.
fn joined(base: &str, modifiers: &str) -> String {
    match modifiers {
        "" => base.to_owned(),
        _ if base.ends_with('/') => format!("{base}{modifiers}"),
        _ => format!("{base}:{modifiers}"),
    }
}
