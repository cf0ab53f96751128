//! Kernel settings that hold for the time of a test.

use crate::lock;
use std::path::PathBuf;

/// A kernel setting (sysctl(8)) that goes back to what it was when this is dropped. The machine is
/// held alone ([`lock::exclusive`]) as long as it lives.
#[must_use]
#[derive(Debug)]
pub struct KernelSetting {
    path: PathBuf,
    before: String,
    _machine: lock::Guard,
}

impl KernelSetting {
    /// Sets `name`, such as `kernel.perf_event_paranoid`, to `value`.
    ///
    /// # Panics
    /// If there is no such setting, or it may not be set: see [`requires::root`](crate::requires::root).
    pub fn set(name: &str, value: &str) -> Self {
        let machine = lock::exclusive();
        let path = PathBuf::from(format!("/proc/sys/{}", name.replace('.', "/")));
        let before =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("reading `{}`: {error}", path.display()));
        std::fs::write(&path, value)
            .unwrap_or_else(|error| panic!("writing `{value}` to `{}`: {error}", path.display()));
        Self { path, before: before.trim_end().to_owned(), _machine: machine }
    }

    /// The value before the test.
    pub fn before(&self) -> &str {
        &self.before
    }
}

impl Drop for KernelSetting {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(&self.path, &self.before) {
            let message = format!("setting `{}` back to `{}`: {error}", self.path.display(), self.before);
            // A second panic would abort the process and hide the first.
            assert!(std::thread::panicking(), "{message}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requires;

    #[test]
    fn root_a_setting_goes_back() {
        if !requires::root() {
            return;
        }
        let path = "/proc/sys/kernel/perf_event_mlock_kb";
        let read = || std::fs::read_to_string(path).unwrap().trim_end().to_owned();
        let machine = lock::exclusive();
        let before = read();
        let setting = KernelSetting::set("kernel.perf_event_mlock_kb", "333");
        assert_eq!((read().as_str(), setting.before()), ("333", before.as_str()));
        let second = KernelSetting::set("kernel.perf_event_mlock_kb", "444");
        drop(second);
        assert_eq!(read(), "333");
        drop(setting);
        assert_eq!(read(), before);
        drop(machine);
    }
}
