//! The ends of the processes and threads that are observed.

use crate::found::Found;
use model::{Pid, Tid};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use std::os::fd::OwnedFd;

/// A process or thread whose end is waited for.
pub(crate) struct Watched {
    tid: Tid,
    /// Tells of the end at once; threads, and kernels before 5.3, have none and are looked at.
    pidfd: Option<OwnedFd>,
    gone: bool,
}

impl Watched {
    /// All whose ends together end the recording; none where it goes on without them.
    pub(crate) fn all_of(found: &Found) -> Vec<Self> {
        match found {
            Found::Processes(pids) | Found::Matching(pids) => pids.iter().map(|pid| Self::process(*pid)).collect(),
            Found::Threads(tids) => tids.iter().map(|&tid| Self { tid, pidfd: None, gone: false }).collect(),
            Found::Command | Found::Cgroups(_) | Found::System => Vec::new(),
        }
    }

    fn process(pid: Pid) -> Self {
        Self { tid: Tid(pid.0), pidfd: pidfd(pid), gone: false }
    }

    /// A process is gone when its last thread is, which may be long after its first.
    pub(crate) fn is_gone(&mut self) -> bool {
        self.gone = self.gone
            || match &self.pidfd {
                Some(pidfd) => is_readable(pidfd),
                None => !exists(self.tid),
            };
        self.gone
    }

    /// What becomes readable at the end, as long as it has not.
    pub(crate) fn wake_up(&self) -> Option<&OwnedFd> {
        self.pidfd.as_ref().filter(|_| !self.gone)
    }
}

/// A descriptor of a process, which becomes readable when it ends.
pub(crate) fn pidfd(pid: Pid) -> Option<OwnedFd> {
    let pid = rustix::process::Pid::from_raw(pid.0 as i32)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Whether a process or thread runs. What has ended and was not waited for yet does not.
fn exists(tid: Tid) -> bool {
    let Ok(stat) = std::fs::read(format!("/proc/{tid}/stat")) else { return false };
    let state = stat.iter().rposition(|&byte| byte == b')').and_then(|at| stat.get(at + 2));
    !matches!(state, None | Some(b'Z' | b'X'))
}

fn is_readable(fd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
