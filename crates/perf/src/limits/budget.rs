//! How much memory the rings of a user may take: perf_mmap() in kernel/events/core.c.
//!
//! Each user may lock `perf_event_mlock_kb` for every CPU that is online; what goes beyond counts
//! against the process's `RLIMIT_MEMLOCK`. `CAP_IPC_LOCK` and a `perf_event_paranoid` of -1 lift
//! the limit, `CAP_PERFMON` does not. Other recordings of the same user take from the same
//! budget, so that a ring within it can still be refused.

use super::{Capability, Limits};

/// `perf_event_mlock_kb` where nobody has changed it: 512 KiB and a page.
const DEFAULT_MLOCK_KB: u64 = 516;

impl Limits {
    /// The pages that all rings together may take, control pages included; `None` for no limit.
    pub fn ring_budget_pages(&self) -> Option<u64> {
        if self.has(Capability::IpcLock) || self.paranoid.is_some_and(|level| level < 0) {
            return None;
        }
        let locked = self.resources.locked_memory?;
        Some(self.pages_by_setting(self.mlock_kb.unwrap_or(DEFAULT_MLOCK_KB)).saturating_add(locked / self.page_size))
    }

    /// The `perf_event_mlock_kb` at which rings of `pages` pages in all fit beside what other
    /// recordings of this user may already have.
    pub fn mlock_kb_for(&self, pages: u64) -> u64 {
        let current = self.mlock_kb.unwrap_or(DEFAULT_MLOCK_KB);
        let each = pages.div_ceil(self.online_cpus.len().max(1) as u64);
        let needed = each * (self.page_size / 1024);
        // Where the setting would have done, others hold it: add to it.
        if needed > current { needed } else { current + needed }
    }

    fn pages_by_setting(&self, mlock_kb: u64) -> u64 {
        (mlock_kb / (self.page_size / 1024)).saturating_mul(self.online_cpus.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::{Capability, Limits, ResourceLimits};
    use model::Cpu;
    use std::path::Path;

    /// A machine of `cpus` CPUs with pages of 4 KiB, a user without rights.
    fn limits(cpus: u32, mlock_kb: u64, memlock_bytes: Option<u64>) -> Limits {
        let resources = ResourceLimits { locked_memory: memlock_bytes, open_files: None, open_files_hard: None };
        let mut limits = Limits::read_below(Path::new("/nonexistent"), resources, 4096);
        limits.paranoid = Some(2);
        limits.mlock_kb = Some(mlock_kb);
        limits.online_cpus = (0..cpus).map(Cpu).collect();
        limits
    }

    #[test]
    fn the_budget_grows_with_cpus_and_memlock() {
        assert_eq!(limits(2, 516, Some(0)).ring_budget_pages(), Some(2 * 129));
        assert_eq!(limits(2, 516, Some(8 << 20)).ring_budget_pages(), Some(2 * 129 + 2048));
        assert_eq!(limits(64, 516, Some(64 << 10)).ring_budget_pages(), Some(64 * 129 + 16));
        assert_eq!(limits(2, 516, None).ring_budget_pages(), None);
    }

    #[test]
    fn what_lifts_the_limit() {
        let mut owner = limits(2, 516, Some(0));
        owner.capabilities = 1 << Capability::Perfmon as u8;
        assert!(owner.ring_budget_pages().is_some(), "CAP_PERFMON does not");
        owner.capabilities = 1 << Capability::IpcLock as u8;
        assert_eq!(owner.ring_budget_pages(), None, "CAP_IPC_LOCK does");
        let mut open = limits(2, 516, Some(0));
        open.paranoid = Some(-1);
        assert_eq!(open.ring_budget_pages(), None, "perf_event_paranoid -1 does");
    }

    #[test]
    fn the_setting_that_would_do() {
        // 2 rings of 1024 + 1 pages over 2 CPUs: 1025 pages of 4 KiB each.
        assert_eq!(limits(2, 516, Some(0)).mlock_kb_for(2 * 1025), 4100);
        // It would fit, so somebody else holds the budget.
        assert_eq!(limits(2, 516, Some(0)).mlock_kb_for(2 * 17), 516 + 68);
    }
}
