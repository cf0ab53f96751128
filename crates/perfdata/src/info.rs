//! What a recording says of the machine and the run.

use crate::build_ids::FileBuildId;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// What is known of the run; what the recording does not say is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    /// The machine's name.
    pub host: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The machine's architecture, as uname(2) names it.
    pub machine: Option<String>,
    /// The version of perf that recorded.
    pub perf: Option<String>,
    /// CPUs that were online.
    pub cpus_online: Option<u32>,
    /// CPUs that the machine could have.
    pub cpus_available: Option<u32>,
    /// The CPU's model.
    pub cpu: Option<String>,
    /// The CPU's identity, in perf's spelling.
    pub cpu_id: Option<String>,
    /// Memory in KiB.
    pub memory_kib: Option<u64>,
    /// The command line of the recorder.
    pub command: Vec<String>,
    /// The times of the first and the last sample, in nanoseconds of the recording's clock.
    pub sample_times: Option<(u64, u64)>,
    /// The clock that events were stamped by (clock_gettime(2)), where it was chosen.
    pub clock: Option<u32>,
    /// One moment by the wall clock and by the recording's clock, in nanoseconds.
    pub clock_moment: Option<(u64, u64)>,
    /// What tells of the sampled tracepoints' fields, in the layout of trace-cmd's files, version 0.6:
    /// without it, perf does not open a recording of tracepoints. See
    /// [`TracepointFormats`](crate::TracepointFormats).
    pub tracing_data: Option<Arc<[u8]>>,
    /// Groups of events: the leader's index, and how many belong to it.
    pub groups: Vec<(u32, u32)>,
    /// Files that were mapped, by their contents.
    pub build_ids: IndexSet<FileBuildId, FxBuildHasher>,
}
