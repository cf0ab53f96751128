//! What the numbers of a profile count.

/// The unit of an event's weight.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Nanoseconds of CPU or other time.
    Nanoseconds,
    /// Occurrences of the event: cycles, faults, switches.
    Occurrences,
    /// Bytes.
    Bytes,
    /// Samples: the input gave plain counts.
    Samples,
}

/// How often an event is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampling {
    /// So many times a second of CPU time.
    Frequency(u64),
    /// Once every so many of the event's unit.
    Period(u64),
    /// Not known: the input does not say.
    Unknown,
}

/// An event of a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventDescription {
    /// Its name as the user knows it: `cycles`, `cpu-clock`, `sched:sched_switch`.
    pub name: String,
    /// What its weight counts.
    pub unit: Unit,
    /// How often it is sampled.
    pub sampling: Sampling,
}

impl EventDescription {
    /// The event of an input that holds counts without a name.
    pub fn plain_samples() -> Self {
        Self { name: "samples".into(), unit: Unit::Samples, sampling: Sampling::Unknown }
    }
}
