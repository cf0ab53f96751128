//! Workloads with known truth, and what the tests of flamel need around them.
//!
//! ```text
//!   workload ──► build ──► run ──► truth, folded, golden     what a program did, what flamel says
//!   generated ─┘   │        │
//!                cache     lock ◄── setting, cgroup          tests do not get in each other's way
//!   requires ◄── probe                                       what this machine lacks, said loudly
//! ```
//!
//! This crate is for tests only. Unlike the other libraries it panics where something fails, as
//! an assertion does, and prints and reads the environment where that is its purpose.

pub mod build;
pub mod cache;
pub mod cgroup;
pub mod folded;
pub mod generated;
pub mod golden;
pub mod lock;
mod probe;
pub mod requires;
pub mod run;
pub mod setting;
pub mod truth;
pub mod workload;

pub use build::Variant;
pub use cgroup::Cgroup;
pub use folded::Folded;
pub use run::{Finished, Run, Running};
pub use rustix::process::Signal;
pub use setting::KernelSetting;
pub use truth::Truth;
pub use workload::Workload;
