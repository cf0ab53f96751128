//! What the user must know of how a recording went.

use model::id::Id as _;
use model::{EventDescription, Sampling, Unit};
use perf::Slowed;
use std::time::Duration;

/// A remark for each event that the kernel held back.
pub(crate) fn slowed(slowed: &[Slowed], descriptions: &[EventDescription]) -> Vec<String> {
    descriptions
        .iter()
        .enumerate()
        .filter_map(|(index, description)| {
            let factor = slowed
                .iter()
                .filter(|slowed| slowed.event.index() == index)
                .map(|slowed| slowed.factor)
                .reduce(f64::max)?;
            Some(format!(
                "the kernel held `{}` back, so it was sampled up to {factor:.1} times more seldom than asked for; each \
                 sample's weight says how much it stands for",
                description.name
            ))
        })
        .collect()
}

/// A word where far fewer samples came than the CPU time used should have given.
pub(crate) fn too_few(samples: u64, busy: Duration, descriptions: &[EventDescription]) -> Option<String> {
    let [description] = descriptions else { return None };
    let hz = match (description.sampling, description.unit) {
        (Sampling::Frequency(hz), _) => hz as f64,
        (Sampling::Period(ns), Unit::Nanoseconds) => 1e9 / ns as f64,
        _ => return None,
    };
    let expected = hz * busy.as_secs_f64();
    (expected >= 200.0 && (samples as f64) < 0.85 * expected).then(|| {
        format!(
            "only {samples} samples came where {:.1} s of CPU time at {hz:.0} Hz should have given about {expected:.0}",
            busy.as_secs_f64()
        )
    })
}

/// A word on processes that were passed over, if any were.
pub(crate) fn left_out(processes: usize) -> Option<String> {
    (processes > 0).then(|| {
        format!(
            "{processes} of the processes are left out: they belong to another user or have changed their rights, \
             which needs CAP_PERFMON (run flamel with `sudo`)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::EventId;

    fn clock(hz: u64) -> Vec<EventDescription> {
        vec![EventDescription { name: "cpu-clock".into(), unit: Unit::Nanoseconds, sampling: Sampling::Frequency(hz) }]
    }

    #[test]
    fn few_samples_are_told_only_where_many_were_due() {
        assert!(too_few(800, Duration::from_secs(1), &clock(1000)).is_some());
        assert_eq!(too_few(900, Duration::from_secs(1), &clock(1000)), None);
        assert_eq!(too_few(0, Duration::from_millis(100), &clock(1000)), None);
    }

    #[test]
    fn the_worst_factor_is_told_once() {
        let event = EventId::from_index(0);
        let told = slowed(&[Slowed { event, factor: 2.0 }, Slowed { event, factor: 8.0 }], &clock(1000));
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("8.0 times"));
    }
}
