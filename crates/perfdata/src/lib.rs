//! perf.data, the recordings of perf(1): files and pipes, as perf wrote them since Linux 3.2, in
//! either byte order, compressed or not; and what flamel itself records.
//!
//! ```text
//!  Input ─► header ─► attributes ─► EventTable ─┐      (in a pipe, records bring all of these)
//!        └► features ─► Info                    │
//!  Input ─► Assembler ─► records ─► Rounds ─────┴─► decode ─► model::Event
//!           (whole records   (zstd, other    (order of time,
//!            in chunks)       byte order)     round by round)
//!  model::Event ─► Encoder ─► (zstd) ─► Writer: readable at any moment
//! ```
//!
//! The format is described in the kernel's tools/perf/Documentation/perf.data-file-format.txt. A
//! recording is read once from its beginning to its end with memory for two rounds of records;
//! only one without rounds has to be held as a whole, since nothing says before its end what may
//! still come earlier. What a damaged or hostile one can cost is bounded.
#![forbid(unsafe_code)]

mod assembler;
mod attributes;
mod build_ids;
mod decoding;
mod encode;
mod error;
mod event_names;
mod event_table;
mod feature_text;
mod features;
mod group_values;
mod header;
mod info;
mod input;
mod intake;
mod off_cpu;
mod reader;
mod rounds;
mod told;
mod tracing_data;
mod unpack;
mod user_record;
mod writer;

pub use build_ids::FileBuildId;
pub use error::Error;
pub use event_table::RecordedEvent;
pub use info::Info;
pub use input::Input;
pub use reader::{Damage, Outcome, Reader, is_perf_data};
pub use tracing_data::{TracepointFormats, TracepointSystem};
pub use writer::{WriteOptions, Writer};
