//! Event names: from what stands after `-e`, in perf's spelling, to numbers that
//! perf_event_open(2) takes.
//!
//! ```text
//!  text ─► list ─► parse ─┬─ names, cache    tables of this crate
//!                         ├─ pmu, terms      /sys/bus/event_source/devices
//!                         ├─ tracepoint      tracefs
//!                         └─ breakpoint      the text alone
//!                              └─► EventSpec ─► perf_event_attr
//! ```
//!
//! The syntax is that of perf-list(1) and perf-record(1). What depends on the machine is read
//! below the paths of [`Roots`], so that a test may point them at a tree of its own.

mod breakpoint;
mod cache;
mod error;
mod glob;
mod list;
mod modifiers;
mod names;
mod nearest;
mod parse;
mod pmu;
mod pmu_event;
mod roots;
mod spec;
mod term;
mod tracepoint;
mod tracepoint_files;

pub use cache::{CACHES, Cache, OPERATIONS, RESULTS};
pub use error::{EventError, EventErrorKind};
pub use modifiers::{ModifierError, Modifiers, Precision};
pub use names::{HARDWARE, Name, SOFTWARE};
pub use parse::parse;
pub use roots::{Roots, Tracing};
pub use spec::{EventKind, EventRate, EventSpec, Placement, Scale};
pub use tracepoint_files::TracepointFiles;
