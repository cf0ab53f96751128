//! How often each event fires: what was asked for, kept to what the kernel allows.

use crate::request::{DEFAULT_HZ, Rate, Request};
use model::{EventDescription, Sampling, Unit};
use perf::events::{EventKind, EventSpec};
use perf::limits::Limits;

/// The kernel's clocks fire no more often than this, but would give samples the shorter period
/// that they were asked for (perf_swevent_hrtimer in kernel/events/core.c).
const SHORTEST_CLOCK_NS: u64 = 10_000;

/// How often an event is to fire.
pub(crate) fn sampling(spec: &EventSpec, rate: Option<Rate>) -> Sampling {
    match asked(spec, rate) {
        Sampling::Period(ns) if is_clock(spec) => Sampling::Period(ns.max(SHORTEST_CLOCK_NS)),
        Sampling::Frequency(hz) if is_clock(spec) => Sampling::Frequency(hz.min(1_000_000_000 / SHORTEST_CLOCK_NS)),
        sampling => sampling,
    }
}

/// By the event's own terms, by the options, or by default.
fn asked(spec: &EventSpec, rate: Option<Rate>) -> Sampling {
    let asked = rate.map(|rate| match rate {
        Rate::Hertz(hz) => Sampling::Frequency(hz),
        Rate::Period(period) => Sampling::Period(period),
    });
    spec.sampling(asked, Sampling::Frequency(DEFAULT_HZ))
}

/// A remark where a clock cannot fire as often as it was asked to.
pub(crate) fn keep_to_clock_limit(spec: &EventSpec, rate: Option<Rate>) -> Option<String> {
    (asked(spec, rate) != sampling(spec, rate))
        .then(|| format!("`{}` fires every {SHORTEST_CLOCK_NS} ns at the most: sampling at that pace", spec.name))
}

/// The kernel refuses rates above its limit; a lower one is better than none.
pub(crate) fn keep_to_rate_limit(request: &mut Request, limits: &Limits) -> Option<String> {
    let wanted = match request.rate {
        Some(Rate::Hertz(hz)) => hz,
        None => DEFAULT_HZ,
        Some(Rate::Period(_)) => return None,
    };
    let limit = limits.max_sample_rate.filter(|limit| *limit > 0)?;
    (wanted > limit).then(|| {
        request.rate = Some(Rate::Hertz(limit));
        format!(
            "sampling at {limit} Hz instead of {wanted}: the kernel's limit is kernel.perf_event_max_sample_rate; \
             raise it with `sudo sysctl kernel.perf_event_max_sample_rate={wanted}`"
        )
    })
}

/// Whether an event is one of the kernel's timers.
pub(crate) fn is_clock(spec: &EventSpec) -> bool {
    spec.kind == EventKind::Software && spec.unit == Unit::Nanoseconds
}

/// The event as outputs show it.
pub(crate) fn describe(spec: &EventSpec, request: &Request) -> EventDescription {
    EventDescription { name: spec.name.clone(), unit: spec.unit, sampling: sampling(spec, request.rate) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf::events::{self, Roots};

    fn event(text: &str) -> EventSpec {
        events::parse(text, &Roots::live()).unwrap().remove(0)
    }

    #[test]
    fn clocks_fire_no_faster_than_they_can() {
        let clock = event("cpu-clock");
        assert_eq!(sampling(&clock, Some(Rate::Period(100))), Sampling::Period(10_000));
        assert_eq!(sampling(&clock, Some(Rate::Hertz(1_000_000))), Sampling::Frequency(100_000));
        assert_eq!(sampling(&clock, None), Sampling::Frequency(DEFAULT_HZ));
        assert!(keep_to_clock_limit(&clock, Some(Rate::Period(100))).is_some());
        assert!(keep_to_clock_limit(&clock, None).is_none());
        let faults = event("page-faults");
        assert_eq!(sampling(&faults, Some(Rate::Period(1))), Sampling::Period(1));
        assert!(keep_to_clock_limit(&faults, Some(Rate::Period(1))).is_none());
    }

    #[test]
    fn a_period_in_the_events_own_terms_is_kept_to_the_limit_too_and_told() {
        let short = event("cpu-clock/period=100/");
        assert_eq!(sampling(&short, None), Sampling::Period(10_000));
        assert!(keep_to_clock_limit(&short, None).unwrap().contains("10000 ns"));
        // The option does not matter where the event says it.
        assert!(keep_to_clock_limit(&event("cpu-clock/period=20000/"), Some(Rate::Period(100))).is_none());
    }
}
