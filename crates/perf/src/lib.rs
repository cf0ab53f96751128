//! perf_event_open(2): event names, attributes, counters, mmap rings.
//!
//! ```text
//!  `-e` text ─► events ─► attr ─► counter ─► ring ─► merge ─► records ─► model::Event
//!               └─ limits, refusal: what this machine allows, and why it refused
//! ```
//!
//! Unsafe code stands in `attribute`, `counter`, `ring` and `launch` only, each block with its reason.

pub mod events;
pub mod limits;
pub mod refusal;

mod attr;
#[allow(unsafe_code)]
mod attribute;
#[allow(unsafe_code)]
mod counter;
#[allow(unsafe_code)]
mod launch;
mod merge;
mod pace;
#[allow(unsafe_code)]
mod ring;
mod sampler;

pub use attr::{SampleRequest, TracepointFields, sampling_attr};
pub use counter::{Counter, Scope, Whose};
pub use launch::Waiting;
pub use merge::{Merger, Records, TimePosition};
pub use pace::Slowed;
pub use ring::Ring;
pub use sampler::{EventRefused, Observed, OpenFailure, Plan, SampledEvent, Sampler, Start};

/// The time now, on the clock of all events.
pub fn now() -> model::Time {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    model::Time::from_ns(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}
