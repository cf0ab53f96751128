//! Events as pprof's types of values, in both directions. pprof's own convention for a profile
//! of CPU time is two values a sample: `samples` in `count`, and `cpu` in `nanoseconds`.

use model::{EventDescription, Sampling, Unit};

/// What a number counts, and in which unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TypeName<'a> {
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
}

/// The type of the number of samples.
pub(super) const SAMPLES: TypeName<'static> = TypeName { name: "samples", unit: "count" };

/// The type of an event's weight.
pub(super) fn weight_type(event: &EventDescription) -> TypeName<'_> {
    // A modifier (`cpu-clock:u`) says which code is sampled, not what is measured.
    let clock = event.name.split(':').next().unwrap_or_default();
    match event.unit {
        Unit::Nanoseconds if ["cpu-clock", "task-clock"].contains(&clock) => {
            TypeName { name: "cpu", unit: "nanoseconds" }
        }
        Unit::Nanoseconds => TypeName { name: &event.name, unit: "nanoseconds" },
        Unit::Bytes => TypeName { name: &event.name, unit: "bytes" },
        Unit::Occurrences | Unit::Samples => TypeName { name: &event.name, unit: "count" },
    }
}

/// How much of the event lies between two samples, in the event's unit; 0 where that is not
/// known or changes.
pub(super) fn period(event: &EventDescription) -> i64 {
    let period = match (event.sampling, event.unit) {
        (Sampling::Period(period), _) => period,
        (Sampling::Frequency(hertz), Unit::Nanoseconds) => 1_000_000_000u64.checked_div(hertz).unwrap_or(0),
        _ => 0,
    };
    i64::try_from(period).unwrap_or(0)
}

/// An event whose values are those of a type, each multiplied by the factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TypedEvent {
    pub(super) event: EventDescription,
    pub(super) factor: u64,
}

/// The event that a type of values stands for.
pub(super) fn event(of: TypeName<'_>) -> TypedEvent {
    // The units that pprof knows (internal/measurement), as far as a model of whole nanoseconds
    // and bytes has them; all else is counted, under a name that tells its unit.
    let known = match of.unit {
        "nanoseconds" | "nanosecond" | "ns" => Some((Unit::Nanoseconds, 1)),
        "microseconds" | "microsecond" | "us" => Some((Unit::Nanoseconds, 1_000)),
        "milliseconds" | "millisecond" | "ms" => Some((Unit::Nanoseconds, 1_000_000)),
        "seconds" | "second" | "s" => Some((Unit::Nanoseconds, 1_000_000_000)),
        "bytes" | "byte" => Some((Unit::Bytes, 1)),
        "kilobytes" | "kilobyte" | "kb" => Some((Unit::Bytes, 1 << 10)),
        "megabytes" | "megabyte" | "mb" => Some((Unit::Bytes, 1 << 20)),
        "count" | "" if of.name == SAMPLES.name => Some((Unit::Samples, 1)),
        "count" | "" => Some((Unit::Occurrences, 1)),
        _ => None,
    };
    let (unit, factor) = known.unwrap_or((Unit::Occurrences, 1));
    let name = if known.is_some() { of.name.to_owned() } else { format!("{} ({})", of.name, of.unit) };
    TypedEvent { event: EventDescription { name, unit, sampling: Sampling::Unknown }, factor }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(name: &str, unit: Unit, sampling: Sampling) -> EventDescription {
        EventDescription { name: name.into(), unit, sampling }
    }

    #[test]
    fn clocks_are_cpu_time_and_all_else_keeps_its_name() {
        for (name, unit, expected) in [
            ("cpu-clock", Unit::Nanoseconds, ("cpu", "nanoseconds")),
            ("task-clock:u", Unit::Nanoseconds, ("cpu", "nanoseconds")),
            ("offcpu", Unit::Nanoseconds, ("offcpu", "nanoseconds")),
            ("sched:sched_switch", Unit::Occurrences, ("sched:sched_switch", "count")),
            ("allocated", Unit::Bytes, ("allocated", "bytes")),
            ("samples", Unit::Samples, ("samples", "count")),
        ] {
            let event = described(name, unit, Sampling::Unknown);
            let TypeName { name, unit } = weight_type(&event);
            assert_eq!((name, unit), expected);
        }
    }

    #[test]
    fn a_period_is_told_where_it_is_fixed() {
        for (unit, sampling, expected) in [
            (Unit::Nanoseconds, Sampling::Frequency(1_000), 1_000_000),
            (Unit::Nanoseconds, Sampling::Frequency(0), 0),
            (Unit::Nanoseconds, Sampling::Period(7), 7),
            (Unit::Occurrences, Sampling::Period(100_003), 100_003),
            // The kernel chooses the period anew all the time.
            (Unit::Occurrences, Sampling::Frequency(997), 0),
            (Unit::Occurrences, Sampling::Unknown, 0),
            (Unit::Occurrences, Sampling::Period(u64::MAX), 0),
        ] {
            assert_eq!(period(&described("x", unit, sampling)), expected, "{sampling:?}");
        }
    }

    #[test]
    fn units_are_known_or_told() {
        for (name, unit, expected, factor) in [
            ("cpu", "nanoseconds", ("cpu", Unit::Nanoseconds), 1),
            ("wall", "milliseconds", ("wall", Unit::Nanoseconds), 1_000_000),
            ("inuse_space", "bytes", ("inuse_space", Unit::Bytes), 1),
            ("inuse_objects", "count", ("inuse_objects", Unit::Occurrences), 1),
            ("samples", "count", ("samples", Unit::Samples), 1),
            ("energy", "joules", ("energy (joules)", Unit::Occurrences), 1),
        ] {
            let typed = event(TypeName { name, unit });
            assert_eq!((typed.event.name.as_str(), typed.event.unit), expected);
            assert_eq!(typed.factor, factor);
        }
    }
}
