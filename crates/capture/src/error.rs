//! Why a recording could not be made.

use model::{Pid, Tid};
use perf::refusal::Refusal;
use std::ffi::OsString;
use std::io;

/// Why a recording could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command did not start.
    #[error("run `{}`: {}", .0.display(), launch_cause(.1))]
    Launch(OsString, io::Error),
    /// There is no such process.
    #[error("observe process {0}: there is no process of this number")]
    NoProcess(Pid),
    /// There is no such thread.
    #[error("observe thread {0}: there is no thread of this number")]
    NoThread(Tid),
    /// The observed processes or threads ended before anything was recorded.
    #[error("observe the target: it ended before the recording could begin")]
    TargetGone,
    /// No such user, program or cgroup is there to be observed.
    #[error("{0}")]
    NoTarget(String),
    /// An event, a CPU or a limit is not what this machine has.
    #[error("{0}")]
    Usage(String),
    /// The kernel refused.
    #[error("{0}")]
    Refused(Refusal),
    /// A system call failed that should not have.
    #[error("{0}")]
    Io(&'static str, #[source] io::Error),
}

impl Error {
    /// Whether the request was at fault rather than the run.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Io(..) => false,
            Self::Refused(refusal) => !refusal.cause.is_passing(),
            Self::Launch(..)
            | Self::NoProcess(_)
            | Self::NoThread(_)
            | Self::TargetGone
            | Self::NoTarget(_)
            | Self::Usage(_) => true,
        }
    }
}

fn launch_cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such command (neither a path nor in PATH)".into(),
        io::ErrorKind::PermissionDenied => {
            "it may not be executed; is it a program, and is its `x` permission set?".into()
        }
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            "it is neither a binary of this machine nor a script with a `#!` line".into()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf::refusal::Cause;

    #[test]
    fn what_the_machine_lacks_for_the_moment_is_no_fault_of_the_request() {
        let refused = |cause| Error::Refused(Refusal { cause, sentence: String::new() });
        for cause in [Cause::OpenFiles, Cause::SystemFiles, Cause::Memory, Cause::Busy] {
            assert!(!refused(cause).is_usage(), "{cause:?}");
        }
        for cause in [Cause::Paranoid, Cause::NoCounter, Cause::LockedMemory, Cause::Frequency] {
            assert!(refused(cause).is_usage(), "{cause:?}");
        }
    }
}
