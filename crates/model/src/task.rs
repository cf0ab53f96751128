//! Processes, threads and CPUs.

use crate::StringId;
use std::fmt;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(pub $inner);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

numbers! {
    /// A process id (the kernel's tgid).
    Pid(u32);
    /// A thread id (the kernel's pid).
    Tid(u32);
    /// A CPU's number.
    Cpu(u32);
}

/// A thread and the process that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TaskIds {
    /// The process.
    pub pid: Pid,
    /// The thread.
    pub tid: Tid,
}

impl TaskIds {
    /// The thread `tid` of process `pid`.
    pub const fn new(pid: u32, tid: u32) -> Self {
        Self { pid: Pid(pid), tid: Tid(tid) }
    }
    /// The kernel's idle task, which has the numbers 0 and 0 on every CPU.
    pub const fn is_idle(self) -> bool {
        self.pid.0 == 0 && self.tid.0 == 0
    }
}

/// A thread under one name, for as long as it keeps it. A pid that is used again, and a thread
/// that execs or renames itself, makes a new entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TaskInfo {
    /// Process and thread.
    pub ids: TaskIds,
    /// Counts the processes that have had this pid: 0 for the first.
    pub generation: u32,
    /// The thread's name (comm).
    pub name: StringId,
    /// The name of the process's first thread.
    pub process_name: StringId,
}
