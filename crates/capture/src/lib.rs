//! A live run: whose work is sampled, how, and until when. Yields events; knows nothing of
//! names or pictures.
//!
//! ```text
//!  Request ─► found (users, names, cgroups → processes, folders)
//!     └─► setup (events, limits, the ladder, counters) ─► Session ─► course ─► events in order ─► Observer
//!                                              /proc, once ──┘         ▲
//!                                              signals, ends, time ────┘
//! ```

mod busy;
mod cgroup;
mod course;
mod description;
mod error;
mod follow;
mod found;
mod ladder;
mod machine;
mod proc_scan;
mod remarks;
mod request;
mod ring_size;
mod sampling;
mod session;
mod setup;
mod signals;
mod users;
mod watched;

pub use error::Error;
pub use machine::Machine;
pub use perf::TracepointFields;
pub use perf::events::TracepointFiles;
pub use request::{
    AUTO_STACK_BYTES, DEFAULT_HZ, DWARF_STACK_BYTES, MAX_STACK_BYTES, OwnSamples, Rate, Request, Target,
};
pub use session::{CommandState, Ended, Observer, Outcome, Progress, Session};
pub use signals::{StopRequests, outlive_file_size_limit};
