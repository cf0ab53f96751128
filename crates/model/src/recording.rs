//! What is known of the run that a profile comes from.

use std::time::{Duration, SystemTime};

/// The circumstances of a recording; what is not known is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// What was profiled, in words: the command line, `pid 123`, `the whole system`.
    pub target: String,
    /// The machine's name.
    pub host: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// How many CPUs were online.
    pub cpus: Option<u32>,
    /// Wall-clock time at CLOCK_MONOTONIC's zero, to turn a [`Time`](crate::Time) into a date.
    pub wall_offset: Option<SystemTime>,
    /// How long events were enabled.
    pub duration: Option<Duration>,
    /// How user stacks were taken.
    pub call_graph: Option<CallGraph>,
    /// Plain sentences about the run that a reader of the result must know, such as which event
    /// stood in for another.
    pub remarks: Vec<String>,
}

/// How the stacks of user space are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallGraph {
    /// The copied stack is unwound; the chain of frame pointers stands in where that fails.
    Auto {
        /// How many bytes of stack are copied.
        stack_bytes: u16,
    },
    /// The kernel follows the frame pointers.
    FramePointer,
    /// The copied stack is unwound.
    Dwarf {
        /// How many bytes of stack are copied.
        stack_bytes: u16,
    },
    /// No stacks: the leaf only.
    None,
}
