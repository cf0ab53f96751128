//! Threads that are started while the counters of the others are being opened.

use crate::proc_scan;
use model::{Pid, Tid};
use perf::{OpenFailure, Sampler};

/// Opens counters for the threads of these processes that nobody has handed theirs down to, until
/// no new one is found. Gives the failure where one cannot be observed.
pub(crate) fn follow_new_threads(
    pids: &[Pid],
    mut known: Vec<Tid>,
    inherit: bool,
    sampler: &mut Sampler,
) -> Result<(), OpenFailure> {
    loop {
        // Listed first: what is started after that by a thread that is observed already is
        // observed with it.
        let now: Vec<Tid> = pids.iter().flat_map(|&pid| proc_scan::threads_of(pid).unwrap_or_default()).collect();
        known.extend(if inherit { sampler.inheritors() } else { Vec::new() });
        let new: Vec<Tid> = now.into_iter().filter(|tid| !known.contains(tid)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for tid in new {
            known.push(tid);
            sampler.add_thread(tid)?;
        }
    }
}
