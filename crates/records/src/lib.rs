//! The records of perf_event_open(2), as the kernel writes them into rings and as perf.data files
//! hold them: words in, a borrowed [`Event`](model::Event) out. Pure; nothing is copied.
//!
//! ```text
//!  words ─► Header ─┬─ sample ────► fields in the order of Layout ─┬─► Decoded::Event
//!                   └─ side_band ─► fields, then sample_id ────────┘
//! ```
#![forbid(unsafe_code)]

pub mod registers;

mod attribute;
mod byte_order;
mod fields;
mod record;
mod sample_raw;
mod sample_read;
mod side_band;
mod stack_end;
mod swap;

pub use attribute::{Attribute, flag};
pub use byte_order::ByteOrder;
pub use record::{Decoded, Header, Layout, decode};
pub use registers::RegisterSet;
pub use sample_read::{ReadValue, read_values};
pub use stack_end::to_misc as stack_end_to_misc;
pub use swap::{header as to_native_header, to_native};
