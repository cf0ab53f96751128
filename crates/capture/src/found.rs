//! From what was asked for to whom this means now: names of users, programs and cgroups to
//! processes and folders.

use crate::cgroup::{self, Cgroups};
use crate::error::Error;
use crate::proc_scan;
use crate::request::Target;
use crate::users;
use model::{Pid, Tid};
use perf::{Observed, Waiting, refusal};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Whose work is sampled, as it was found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// The launched command and everything that it starts.
    Command,
    /// Processes that were asked for one by one: a missing one is an error.
    Processes(Vec<Pid>),
    /// Processes that were found by what they are: one that ends meanwhile, or may not be
    /// observed, is passed over.
    Matching(Vec<Pid>),
    /// Threads.
    Threads(Vec<Tid>),
    /// The folders of cgroups.
    Cgroups(Vec<Arc<OwnedFd>>),
    /// Everything.
    System,
}

/// The bytes of a name that the kernel keeps: TASK_COMM_LEN less its NUL.
const NAME_BYTES: usize = 15;

/// Finds them; what the user must know of how goes to `remarks`.
pub(crate) fn find(target: &Target, remarks: &mut Vec<String>) -> Result<Found, Error> {
    Ok(match target {
        Target::Command => Found::Command,
        Target::System => Found::System,
        Target::Processes(pids) => Found::Processes(pids.clone()),
        Target::Threads(tids) => Found::Threads(tids.clone()),
        Target::Users(names) => Found::Matching(of_users(names)?),
        Target::Names(names) => Found::Matching(of_names(names)?),
        Target::Cgroups(names) => match cgroup::find(names)? {
            Cgroups::Counted(folders) => Found::Cgroups(folders),
            Cgroups::Listed { pids, remark } => {
                remarks.push(remark);
                Found::Matching(without_us(pids))
            }
        },
    })
}

fn of_users(names: &[String]) -> Result<Vec<Pid>, Error> {
    let all = without_us(proc_scan::all_processes());
    let mut found = Vec::new();
    for name in names {
        let uid = users::find(name)?;
        let before = found.len();
        found.extend(all.iter().copied().filter(|&pid| proc_scan::user_of(pid) == Some(uid)));
        if found.len() == before {
            return Err(Error::NoTarget(format!("observe user `{name}`: no process of this user runs")));
        }
    }
    Ok(distinct(found))
}

fn of_names(names: &[String]) -> Result<Vec<Pid>, Error> {
    let all = without_us(proc_scan::all_processes());
    let all: Vec<(Pid, Vec<u8>)> = all.into_iter().filter_map(|pid| Some((pid, proc_scan::name_of(pid)?))).collect();
    let mut found = Vec::new();
    for name in names {
        let before = found.len();
        found.extend(all.iter().filter(|(_, comm)| is_name(comm, name)).map(|(pid, _)| *pid));
        if found.len() == before {
            return Err(Error::NoTarget(format!(
                "observe processes named `{name}`: none of this name runs; `ps -e -o pid,comm` shows all names"
            )));
        }
    }
    Ok(distinct(found))
}

/// Workers of the kernel show more than the 15 bytes that other names are cut to.
fn is_name(comm: &[u8], wanted: &str) -> bool {
    let wanted = wanted.as_bytes();
    comm == wanted || comm == &wanted[..wanted.len().min(NAME_BYTES)]
}

fn without_us(mut pids: Vec<Pid>) -> Vec<Pid> {
    pids.retain(|pid| pid.0 != std::process::id());
    pids
}

fn distinct(mut pids: Vec<Pid>) -> Vec<Pid> {
    pids.sort();
    pids.dedup();
    pids
}

impl Found {
    /// Whether CPUs are observed, and whoever runs on them, rather than processes.
    pub(crate) fn is_of_cpus(&self) -> bool {
        matches!(self, Self::Cgroups(_) | Self::System)
    }

    /// The processes that are observed as such.
    pub(crate) fn processes(&self) -> &[Pid] {
        match self {
            Self::Processes(pids) | Self::Matching(pids) => pids,
            Self::Command | Self::Threads(_) | Self::Cgroups(_) | Self::System => &[],
        }
    }

    /// The threads, or whatever else is observed from the beginning.
    pub(crate) fn observed(&self, waiting: Option<&Waiting>) -> Result<Observed, Error> {
        Ok(match self {
            Self::System => Observed::System,
            Self::Cgroups(folders) => Observed::Cgroups(folders.clone()),
            Self::Threads(tids) => {
                if let Some(missing) = tids.iter().find(|tid| proc_scan::process_of(**tid).is_none()) {
                    return Err(Error::NoThread(*missing));
                }
                Observed::Threads(tids.clone())
            }
            Self::Processes(pids) => {
                let threads = pids.iter().map(|&pid| proc_scan::threads_of(pid).map_err(|_| Error::NoProcess(pid)));
                Observed::Threads(threads.collect::<Result<Vec<_>, _>>()?.concat())
            }
            Self::Matching(pids) => {
                let threads = pids.iter().flat_map(|&pid| proc_scan::threads_of(pid).unwrap_or_default());
                Observed::Threads(threads.collect())
            }
            Self::Command => {
                let pid = waiting.map(Waiting::pid).ok_or_else(|| Error::Usage("no command is given".into()))?;
                Observed::Threads(vec![Tid(pid.0)])
            }
        })
    }

    /// Leaves out the process of a thread that may not be observed; false where it was asked for
    /// by itself, or is the last one.
    pub(crate) fn leave_out(&mut self, thread: Option<Tid>, errno: Errno) -> bool {
        let Self::Matching(pids) = self else { return false };
        let forbidden = matches!(errno, Errno::ACCESS | Errno::PERM);
        let Some(pid) = thread.filter(|_| forbidden).and_then(proc_scan::process_of) else { return false };
        let before = pids.len();
        if before > 1 {
            pids.retain(|other| *other != pid);
        }
        pids.len() < before
    }

    /// Whose work it is, for the explanation of a refusal.
    pub(crate) fn for_refusal(&self, thread: Option<Tid>) -> refusal::Target {
        let process = || thread.and_then(proc_scan::process_of).or(self.processes().first().copied());
        match self {
            Self::Command => refusal::Target::Command,
            Self::System => refusal::Target::System,
            Self::Cgroups(_) => refusal::Target::Cgroup,
            Self::Processes(_) | Self::Matching(_) => refusal::Target::Process(process().unwrap_or_default()),
            Self::Threads(tids) => refusal::Target::Thread(thread.or(tids.first().copied()).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_or_cut_by_the_kernel() {
        for (comm, wanted, expected) in [
            ("sh", "sh", true),
            ("sh", "s", false),
            ("bash", "sh", false),
            ("systemd-journal", "systemd-journald", true),
            ("systemd-journal", "systemd-journal", true),
            ("kworker/0:1-events_long", "kworker/0:1-events_long", true),
            ("", "", true),
        ] {
            assert_eq!(is_name(comm.as_bytes(), wanted), expected, "{comm} {wanted}");
        }
    }

    #[test]
    fn a_cut_in_a_letter_is_no_panic() {
        assert!(is_name("fünfzehn bytesä".as_bytes().get(..15).unwrap(), "fünfzehn bytesä"));
    }

    #[test]
    fn we_are_never_found_by_our_name_or_user() {
        let us = Pid(std::process::id());
        let user = proc_scan::user_of(us).unwrap().0.to_string();
        let found = of_users(&[user]).unwrap_or_default();
        assert!(!found.contains(&us));
        let name = String::from_utf8(proc_scan::name_of(us).unwrap()).unwrap();
        assert!(!of_names(&[name]).unwrap_or_default().contains(&us));
    }

    #[test]
    fn what_may_not_be_observed_is_passed_over_if_something_is_left() {
        let us = Tid(std::process::id());
        let mut found = Found::Matching(vec![Pid(us.0), Pid(1)]);
        assert!(!found.leave_out(Some(us), Errno::MFILE));
        assert!(!found.leave_out(None, Errno::ACCESS));
        assert!(found.leave_out(Some(us), Errno::ACCESS));
        assert_eq!(found.processes(), [Pid(1)]);
        assert!(!found.leave_out(Some(Tid(1)), Errno::ACCESS));
        assert!(!Found::Processes(vec![Pid(us.0), Pid(1)]).leave_out(Some(us), Errno::ACCESS));
    }
}
