//! How much CPU time the observed ones used meanwhile, by the kernel's own accounts: what the
//! number of samples is held against.

use crate::proc_scan::cpu_ticks;
use crate::request::Target;
use model::Pid;
use std::time::Duration;

/// Whose CPU time is asked for.
#[derive(Clone, Debug)]
pub enum Busy {
    /// That of ended children: the launched command.
    Children,
    /// That of these processes.
    Processes(Vec<Pid>),
    /// Nobody's: the accounts do not say it for this target.
    Unknown,
}

impl Busy {
    /// The accounts for a target; `whole` says whether nothing of it is left out (CPUs, threads,
    /// modes, time before a delay).
    pub fn of(target: &Target, whole: bool) -> Self {
        match target {
            Target::Command if whole => Self::Children,
            Target::Processes(pids) if whole => Self::Processes(pids.clone()),
            _ => Self::Unknown,
        }
    }

    /// The CPU time used so far.
    pub fn measure(&self) -> Option<Duration> {
        match self {
            Self::Children => ended_children(),
            Self::Processes(pids) => {
                let ticks: u64 = pids.iter().map(|&pid| cpu_ticks(pid)).sum::<Option<u64>>()?;
                Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
            }
            Self::Unknown => None,
        }
    }

    /// The CPU time used since an earlier measurement.
    pub fn since(&self, before: Option<Duration>) -> Option<Duration> {
        Some(self.measure()?.saturating_sub(before?))
    }
}

/// CPU time of children that have ended and were waited for: /proc/self/stat, cutime and cstime.
fn ended_children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields = &stat[stat.rfind(')')? + 2..];
    let ticks: u64 = fields.split(' ').skip(13).take(2).map(|ticks| ticks.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}
