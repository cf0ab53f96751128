//! Rings that the kernel refuses to map: perf_mmap() in kernel/events/core.c.

use super::{Cause, Refusal};
use crate::limits::Limits;
use rustix::io::Errno;

/// Rings that were to be mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingAttempt {
    /// How many rings.
    pub rings: usize,
    /// Pages of all rings together, a control page each included.
    pub pages: usize,
}

/// Why the kernel refused to map rings, as a sentence.
pub fn explain_ring(errno: Errno, attempt: RingAttempt, limits: &Limits) -> Refusal {
    let kib = attempt.pages as u64 * (limits.page_size / 1024);
    let (cause, why) = match errno {
        Errno::PERM => (Cause::LockedMemory, over_budget(attempt, kib, limits)),
        Errno::NOMEM | Errno::AGAIN => {
            (Cause::Memory, "the kernel has no memory left for them: make them smaller, or observe fewer CPUs".into())
        }
        Errno::INVAL => (
            Cause::Attributes,
            "the kernel takes a power of two of pages for each, which is joined to events of one CPU".into(),
        ),
        Errno::ACCESS => (
            Cause::SecurityModule,
            "a security module such as SELinux forbids reading them: `sudo dmesg | grep -i denied` may show which"
                .into(),
        ),
        other => (Cause::Other(other), other.to_string()),
    };
    let rings = if attempt.rings == 1 { "1 ring".into() } else { format!("{} rings", attempt.rings) };
    Refusal { cause, sentence: format!("map {rings} of {kib} KiB in all: {why}") }
}

fn over_budget(attempt: RingAttempt, kib: u64, limits: &Limits) -> String {
    let pages = attempt.pages as u64;
    let page_kib = limits.page_size / 1024;
    let held = match limits.ring_budget_pages() {
        Some(budget) if pages <= budget => format!(
            "this user may lock {} KiB for rings, of which other recordings have taken a part",
            budget * page_kib
        ),
        Some(budget) => format!(
            "this user may lock {} KiB for rings (kernel.perf_event_mlock_kb for each CPU, and `ulimit -l`)",
            budget * page_kib
        ),
        None => "other recordings of this user have taken what may be locked for rings".into(),
    };
    // Locked memory is counted a process: its limit alone is enough, whatever others have.
    format!(
        "{held}: `sudo sysctl kernel.perf_event_mlock_kb={}` makes them fit, and so does `ulimit -l {kib}` in a shell of root",
        limits.mlock_kb_for(pages),
    )
}
