//! How much CPU time the observed ones used meanwhile, by the kernel's own accounts: what the
//! number of samples is held against.

use crate::found::Found;
use crate::proc_scan::cpu_ticks;
use model::Pid;
use std::time::Duration;

/// Whose CPU time is asked for.
#[derive(Clone, Debug)]
pub enum Busy {
    /// That of ended children: the launched command.
    Children,
    /// That of these processes.
    Processes(Vec<Pid>),
    /// That of everything that runs on this machine.
    System,
    /// Nobody's: the accounts do not say it for this target.
    Unknown,
}

impl Busy {
    /// The accounts for those who are observed; `whole` says whether nothing of them is left out
    /// (CPUs, threads, modes, time before a delay).
    pub(crate) fn of(found: &Found, whole: bool) -> Self {
        match found {
            Found::Command if whole => Self::Children,
            Found::Processes(pids) | Found::Matching(pids) if whole => Self::Processes(pids.clone()),
            Found::System if whole => Self::System,
            _ => Self::Unknown,
        }
    }

    /// The CPU time used so far.
    pub fn measure(&self) -> Option<Duration> {
        let ticks = match self {
            Self::Children => ticks_of_ended_children(),
            Self::Processes(pids) => pids.iter().map(|&pid| cpu_ticks(pid)).sum::<Option<u64>>(),
            Self::System => ticks_of_all_cpus(&std::fs::read_to_string("/proc/stat").ok()?),
            Self::Unknown => None,
        }?;
        Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
    }

    /// The CPU time used since an earlier measurement.
    pub fn since(&self, before: Option<Duration>) -> Option<Duration> {
        Some(self.measure()?.saturating_sub(before?))
    }
}

/// Children that have ended and were waited for: /proc/self/stat, cutime and cstime.
fn ticks_of_ended_children() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields = &stat[stat.rfind(')')? + 2..];
    fields.split(' ').skip(13).take(2).map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The first line of /proc/stat (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq.
/// Idle time, and time that the hypervisor took, is not used.
fn ticks_of_all_cpus(stat: &str) -> Option<u64> {
    let fields: Vec<u64> =
        stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map_while(|ticks| ticks.parse().ok()).collect();
    match fields[..] {
        [user, nice, system, _idle, _iowait, irq, softirq, ..] => Some(user + nice + system + irq + softirq),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_stolen_time_is_not_used() {
        assert_eq!(ticks_of_all_cpus("cpu  10 20 30 4000 500 6 7 8 0 0\ncpu0 1 2 3 4\n"), Some(73));
        assert_eq!(ticks_of_all_cpus("cpu  1 2 3\n"), None);
        assert_eq!(ticks_of_all_cpus(""), None);
    }

    #[test]
    fn the_accounts_can_be_read_here() {
        for busy in [Busy::Children, Busy::System, Busy::Processes(vec![Pid(std::process::id())])] {
            assert!(busy.measure().is_some(), "{busy:?}");
        }
        assert_eq!(Busy::Unknown.since(None), None);
    }
}
