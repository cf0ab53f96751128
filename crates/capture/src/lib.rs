//! A live run: whose work is sampled, how, and until when. Yields events; knows nothing of
//! names or pictures.
//!
//! ```text
//!  Request ─► setup (events, limits, the ladder, counters) ─► Session ─► events in order ─► Observer
//!                                               /proc, once ──┘  ▲
//!                                               signals, ends, time ─┘
//! ```

mod busy;
mod error;
mod ladder;
mod proc_scan;
mod request;
mod ring_size;
mod session;
mod setup;
mod signals;

pub use error::Error;
pub use request::{AUTO_STACK_BYTES, DEFAULT_HZ, DWARF_STACK_BYTES, MAX_STACK_BYTES, Rate, Request, Target};
pub use session::{CommandState, Ended, Observer, Outcome, Progress, Session};
pub use signals::StopRequests;
