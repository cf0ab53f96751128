//! The types that every stage of flamel hangs on. No I/O here, and few dependencies.
//!
//! ```text
//!  source ──► Event ──► (resolve: tasks, mappings, unwinding, names) ──► Profile ──► view or format
//! ```
//!
//! An [`Event`] is what a source yields, with raw addresses. A [`Profile`] is what views and
//! symbolised formats see: interned stacks, samples in columns, and the [`reason`]s for
//! whatever is missing.
#![forbid(unsafe_code)]

pub mod id;
pub mod reason;
pub mod text;

mod address;
mod build_id;
mod callchain;
mod event;
mod intern;
mod location;
mod packed;
mod profile;
mod recording;
mod samples;
mod stack;
mod task;
mod time;
mod unit;

pub use address::{Address, CodeAddress, FileOffset};
pub use build_id::BuildId;
pub use callchain::{Callchain, Context, words as context_words};
pub use event::{
    Body, Branch, BranchStack, Event, FileIdentity, Inode, Lost, LostRecords, Mapping, Sample, Throttle, UserRegisters,
    UserStack, UserState,
};
pub use id::{EventId, FunctionId, LocationId, MappingId, StackId, StringId, TaskId};
pub use intern::Interner;
pub use location::{CodeKind, Frame, Function, Location, LocationAddress, MappedFile};
pub use profile::{Detail, NameQuality, Profile, Totals};
pub use reason::{Losses, NameMissing, SampleLoss, StackEnd};
pub use recording::{CallGraph, Recording};
pub use samples::{SampleRow, Samples};
pub use stack::StackTree;
pub use task::{Cpu, Pid, TaskIds, TaskInfo, Tid};
pub use time::Time;
pub use unit::{EventDescription, Sampling, Unit};
