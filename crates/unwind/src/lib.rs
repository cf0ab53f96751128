//! From registers and copied stack bytes to code addresses, by the unwind tables of the mapped
//! binaries (.eh_frame, .debug_frame) and, where there are none, by frame pointers.
//!
//! ```text
//!  elf::Image ─► Module (once a file) ─► AddressSpace (a process) ─┐
//!  registers + stack bytes ────────────────────────────────────────┴─► Unwinder ─► addresses, Stop
//! ```
//!
//! Pure: no process and no file is touched. framehop does the work; this crate says what an
//! address space is, how a signal handler and a leaf without a table are left, and why a walk ended.
#![forbid(unsafe_code)]

mod address_space;
mod frame_kinds;
mod last_walks;
mod leaf;
mod unwinder;

pub use address_space::{AddressSpace, Module};
pub use last_walks::Walker;
pub use unwinder::{Stop, Unwinder};
