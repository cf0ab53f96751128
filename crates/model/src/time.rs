//! One clock inside: CLOCK_MONOTONIC. Wall-clock time exists at the rim only, by way of
//! [`Recording::wall_offset`](crate::Recording::wall_offset).

use std::time::Duration;

/// A point in time: nanoseconds of CLOCK_MONOTONIC (clock_gettime(2)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(u64);

impl Time {
    /// The point `ns` nanoseconds after the clock's zero.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }
    /// Nanoseconds since the clock's zero.
    pub const fn as_ns(self) -> u64 {
        self.0
    }
    /// The time that passed since `earlier`, zero where that is later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
    /// The point `by` earlier, not before the clock's zero.
    pub fn saturating_sub(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)))
    }
}
