//! Events to a profile: tasks and mappings as of each event's time, then unwinding, then names.
//! Live runs and recordings go the same way; only where files are found differs ([`Files`]).
//!
//! ```text
//!  Event ─► processes (who, what is mapped where) ─► stacks (unwind, or take the callchain)
//!                                                          │ locations: file + offset
//!  end of the run ─► naming (symbols, once a file) ────────┴─► Profile
//! ```
#![forbid(unsafe_code)]

mod binary;
mod files;
mod kernel_modules;
mod known_stacks;
mod naming;
mod process;
mod regions;
mod resolver;
mod stacks;

pub use binary::{Binaries, Binary, BinaryId};
pub use files::{Files, LiveFiles};
pub use resolver::{Options, Resolver, StackFrame, Told};
pub use stacks::UserPart;
