//! Events to a profile: tasks and mappings as of each event's time, then unwinding, then names.
//! Live runs and recordings go the same way; only where files are found ([`Files`]), and which
//! symbols belong to the kernel's addresses ([`Kernel`]), differs.
//!
//! ```text
//!  Event ─► processes (who, what is mapped where) ─► stacks (unwind, or take the callchain)
//!                                                          │ locations: file + offset
//!  end of the run ─► naming (symbols, once a file) ────────┴─► Profile
//! ```
#![forbid(unsafe_code)]

mod ahead;
mod binary;
mod files;
mod kernel;
mod kernel_image;
mod kernel_layout;
mod kernel_modules;
mod known_stacks;
mod naming;
mod process;
mod recorded_files;
mod recorded_kernel;
mod regions;
mod resolver;
mod search_places;
mod stacks;
mod vdso;

pub use binary::{Binaries, Binary, BinaryId};
pub use files::{Files, LiveFiles};
pub use kernel::{Kernel, KernelSource};
pub use kernel_image::{AtHand, KernelImage};
pub use kernel_layout::KernelLayout;
pub use kernel_modules::KernelModules;
pub use recorded_files::RecordedFiles;
pub use recorded_kernel::{RecordedKernel, running_build_id};
pub use resolver::{Options, Resolver, StackFrame, Told};
pub use search_places::SearchPlaces;
