//! What the user wants recorded, with everything decided that needs no look at the machine.

use model::{CallGraph, Pid, Tid};
use perf::TracepointFields;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Whose work is sampled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The launched command and everything that it starts.
    Command,
    /// These processes, all their threads, and what they start.
    Processes(Vec<Pid>),
    /// These threads, and what they start.
    Threads(Vec<Tid>),
    /// All processes of these users that run now, and what they start: names of /etc/passwd, or
    /// numbers.
    Users(Vec<String>),
    /// All processes of these names that run now, and what they start. The kernel keeps 15 bytes
    /// of a name; longer ones are cut to them.
    Names(Vec<String>),
    /// What runs in these cgroups and below them, on the wanted CPUs: paths below the root of a
    /// hierarchy, or of their folders.
    Cgroups(Vec<PathBuf>),
    /// Everything, on the wanted CPUs.
    System,
}

/// What becomes of samples of this process itself, where CPUs are observed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnSamples {
    /// They are given out as others are.
    Keep,
    /// They are counted as left out.
    LeaveOut,
}

/// How often to sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rate {
    /// So many times a second, where the event is not one that is always sampled each time.
    Hertz(u64),
    /// Once every so many of the event's unit.
    Period(u64),
}

/// A recording to be made.
#[derive(Clone, Debug)]
pub struct Request {
    /// Whose work is sampled.
    pub target: Target,
    /// A command to launch, which ends the recording when it ends.
    pub command: Option<Vec<OsString>>,
    /// On which CPUs, as a list such as `0,2-3`; all that are online where `None`.
    pub cpus: Option<String>,
    /// Whether what the observed ones start is sampled too.
    pub inherit: bool,
    /// What becomes of samples of this process itself.
    pub own_samples: OwnSamples,
    /// The events, in the spelling of `-e`; empty for CPU time by the best means there is.
    pub events: Vec<String>,
    /// How often to sample; `None` for the default.
    pub rate: Option<Rate>,
    /// What becomes of the fields of tracepoints.
    pub tracepoint_fields: TracepointFields,
    /// How user stacks are taken.
    pub call_graph: CallGraph,
    /// When to stop by itself.
    pub duration: Option<Duration>,
    /// How long to wait before sampling begins.
    pub delay: Duration,
    /// Bytes of each CPU's ring for samples; `None` to choose by rate and budget.
    pub ring_bytes: Option<u64>,
}

/// The default rate: a prime, so that it does not march in step with the kernel's tick.
pub const DEFAULT_HZ: u64 = 997;

/// The bytes of stack that `dwarf` copies where nothing else is said, as many as perf copies.
pub const DWARF_STACK_BYTES: u16 = 8192;

/// The most that `auto` copies where nothing else is said: enough for most compilers, too, and
/// at the default rate no more than 32 MB a second and CPU. Where that is too much for the rate
/// or for the rings, it copies [`DWARF_STACK_BYTES`].
pub const AUTO_STACK_BYTES: u16 = 32_768;

/// The most that the kernel copies: a 16-bit size, in whole words.
pub const MAX_STACK_BYTES: u16 = 65528;
