//! How fast an event fires, and how it is slowed down when the kernel holds it back.

use crate::attr::{is_clock, states_period};
use crate::sampler::SampledEvent;
use model::{EventId, Sampling, Time};

/// A change of pace after the kernel held an event back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slowed {
    /// Which event.
    pub event: EventId,
    /// How much slower it fires than was asked for.
    pub factor: f64,
}

/// How fast an event currently fires, as the kernel's `PERF_EVENT_IOC_PERIOD` counts it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    Frequency(u64),
    Period(u64),
    /// A clock of the kernel, or an event whose samples do not state their period. A clock's go
    /// on to state the first one after a change (`last_period` is not touched by
    /// `__perf_event_period` in kernel/events/core.c), so what is in force since when is kept here.
    Kept {
        period: u64,
        is_clock: bool,
        changed: Option<Time>,
    },
}

impl Pace {
    /// As it is asked for.
    pub(crate) fn of(event: &SampledEvent) -> Self {
        let is_clock = is_clock(&event.attr);
        match event.sampling {
            // The kernel turns the frequency of its clocks into a period once and for all
            // (perf_swevent_init_hrtimer in kernel/events/core.c).
            Sampling::Frequency(hz) if is_clock => Self::kept(1_000_000_000 / hz.max(1), is_clock),
            Sampling::Frequency(hz) => Self::Frequency(hz),
            Sampling::Period(period) if is_clock || !states_period(&event.attr, event.sampling) => {
                Self::kept(period, is_clock)
            }
            Sampling::Period(period) => Self::Period(period),
            Sampling::Unknown => Self::Period(1),
        }
    }

    fn kept(period: u64, is_clock: bool) -> Self {
        Self::Kept { period, is_clock, changed: None }
    }

    /// Slows it to half, or to what `limit` (samples a second) surely allows if that is less.
    /// Gives the value that the kernel is to be told.
    pub(crate) fn slow_down(&mut self, now: Time, limit: Option<u64>) -> u64 {
        // The kernel counts by ticks and holds back what reaches the limit: stay below it.
        let allowed = limit.map_or(u64::MAX, |limit| (limit * 2 / 3).max(1));
        match self {
            Self::Frequency(hz) => {
                *hz = (*hz / 2).min(allowed).max(1);
                *hz
            }
            Self::Period(period) => {
                *period = period.saturating_mul(2);
                *period
            }
            Self::Kept { period, is_clock, changed } => {
                let least = if *is_clock { 1_000_000_000 / allowed } else { 0 };
                *period = period.saturating_mul(2).max(least);
                *changed = Some(now);
                *period
            }
        }
    }

    /// The period that a sample of this time really stands for, where it states another.
    pub(crate) fn corrected(&self, time: Option<Time>) -> Option<u64> {
        match *self {
            Self::Kept { period, changed: Some(changed), .. } if time >= Some(changed) => Some(period),
            _ => None,
        }
    }

    /// How much slower it is than what was asked for.
    pub(crate) fn slower_than(&self, asked: Sampling) -> f64 {
        match (asked, *self) {
            (Sampling::Frequency(asked), Self::Frequency(hz)) => asked as f64 / hz as f64,
            (Sampling::Frequency(asked), Self::Period(period) | Self::Kept { period, .. }) => {
                period as f64 * asked as f64 / 1e9
            }
            (Sampling::Period(asked), Self::Period(period) | Self::Kept { period, .. }) => period as f64 / asked as f64,
            (Sampling::Period(_), Self::Frequency(_)) | (Sampling::Unknown, _) => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_event_open_sys::bindings as sys;

    fn clock(sampling: Sampling) -> Pace {
        let attr = sys::perf_event_attr { type_: sys::PERF_TYPE_SOFTWARE, config: 0, ..Default::default() };
        Pace::of(&SampledEvent { attr, sampling, cpus: None })
    }

    #[test]
    fn a_clock_is_slowed_to_what_the_limit_allows_and_its_samples_are_corrected() {
        let asked = Sampling::Period(20_000);
        let mut pace = clock(asked);
        assert_eq!(pace.corrected(Some(Time::from_ns(5))), None);
        assert_eq!(pace.slow_down(Time::from_ns(100), Some(1000)), 1_501_501);
        assert_eq!(pace.corrected(Some(Time::from_ns(99))), None);
        assert_eq!(pace.corrected(Some(Time::from_ns(100))), Some(1_501_501));
        assert_eq!(pace.slow_down(Time::from_ns(200), None), 3_003_002);
        assert!((pace.slower_than(asked) - 150.15).abs() < 0.01);
        assert_eq!(clock(Sampling::Frequency(1000)).slow_down(Time::from_ns(1), None), 2_000_000);
    }

    #[test]
    fn a_counter_keeps_its_own_account() {
        let attr = sys::perf_event_attr { type_: sys::PERF_TYPE_HARDWARE, ..Default::default() };
        let mut pace = Pace::of(&SampledEvent { attr, sampling: Sampling::Frequency(4000), cpus: None });
        assert_eq!(pace.slow_down(Time::from_ns(1), Some(1500)), 1000);
        assert_eq!(pace.corrected(Some(Time::from_ns(2))), None);
        assert_eq!(pace.slower_than(Sampling::Frequency(4000)), 4.0);
    }
}
