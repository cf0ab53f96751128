//! What a test needs from the machine. Each function says whether it is there; where it is not,
//! it says on standard error that the test is skipped, and why:
//!
//! ```no_run
//! # use testkit::requires;
//! if !requires::root() || !requires::perf_events() {
//!     return;
//! }
//! ```
//!
//! Where the environment variable `CI` is set everything is expected to be there and a skip is a
//! failure, except for what only some machines can have: a PMU, kprobes, another architecture, and
//! peers to compare with that the distribution does not ship.
#![allow(clippy::print_stderr)]

use crate::cgroup::{self, Cgroup, PerfEventV1};
use crate::probe;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Effective user 0.
#[must_use]
pub fn root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    met(Expected::InCi, (!is_root).then(|| "needs root: `sudo -E` runs it, as `make test` does".into()))
}

/// perf_event_open(2) for the own process.
#[must_use]
pub fn perf_events() -> bool {
    let refused = probe::cpu_clock().err();
    met(Expected::InCi, refused.map(|error| format!("needs perf_event_open(2), which fails: {error}")))
}

/// The hardware's counters; virtual machines often have none.
#[must_use]
pub fn pmu() -> bool {
    let refused = probe::cycles().err();
    met(Expected::OnSomeMachines, refused.map(|error| format!("needs a hardware counter for cycles: {error}")))
}

/// Kprobes in the running kernel.
#[must_use]
pub fn kprobes() -> bool {
    let missing = !Path::new("/sys/bus/event_source/devices/kprobe").exists();
    met(Expected::OnSomeMachines, missing.then(|| "needs a kernel with kprobes".into()))
}

/// Tracepoints under /sys/kernel/tracing, which is mounted if that is possible and was not done.
#[must_use]
pub fn tracefs() -> bool {
    let events = Path::new("/sys/kernel/tracing/events");
    if !events.is_dir() && rustix::process::geteuid().is_root() {
        // Whoever comes second gets EBUSY from the kernel, and finds the folder below all the same.
        let _ = Command::new("mount").args(["-t", "tracefs", "tracefs", "/sys/kernel/tracing"]).output();
    }
    let missing = fs::read_dir(events).err();
    met(Expected::InCi, missing.map(|error| format!("needs tracefs on /sys/kernel/tracing: {error}")))
}

/// Cgroups of version 2 that can be made.
#[must_use]
pub fn cgroup_v2() -> bool {
    let missing = match cgroup::version_2() {
        None => Some("needs cgroups of version 2: `mount -t cgroup2 none /sys/fs/cgroup`".into()),
        Some(root) => Cgroup::make(&root, "probe").err().map(|error| format!("needs a cgroup of version 2: {error}")),
    };
    met(Expected::InCi, missing)
}

/// The controller perf_event in a hierarchy of version 1, mounted for the test.
#[must_use]
pub fn perf_event_v1() -> Option<PerfEventV1> {
    let mounted = PerfEventV1::mount();
    let missing = mounted.as_ref().err().map(|why| format!("needs perf_event in cgroups of version 1: {why}"));
    if met(Expected::OnSomeMachines, missing) { mounted.ok() } else { None }
}

/// A processor architecture by Rust's name, such as `x86_64`.
#[must_use]
pub fn architecture(name: &str) -> bool {
    let here = std::env::consts::ARCH;
    met(Expected::OnSomeMachines, (here != name).then(|| format!("needs {name}, this is {here}")))
}

/// At least so many CPUs that this process may run on.
#[must_use]
pub fn cpus(count: usize) -> bool {
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    met(Expected::InCi, (here < count).then(|| format!("needs {count} CPUs, has {here}")))
}

/// A program in PATH that Debian ships in `package`.
#[must_use]
pub fn program(name: &str, package: &str) -> bool {
    let missing = find(name).is_none();
    met(Expected::InCi, missing.then(|| format!("needs `{name}`: apt-get install {package}")))
}

/// The browser that pictures are tried in.
#[must_use]
pub fn chromium() -> bool {
    program("chromium", "chromium")
}

/// The checker of XML.
#[must_use]
pub fn xmllint() -> bool {
    program("xmllint", "libxml2-utils")
}

/// Go's tools, of which one reads pprof.
#[must_use]
pub fn go() -> bool {
    program("go", "golang-go")
}

/// perf(1), to compare with.
#[must_use]
pub fn perf() -> bool {
    program("perf", "linux-perf")
}

/// A program in PATH that no package of Debian has.
#[must_use]
pub fn peer(name: &str) -> bool {
    met(Expected::OnSomeMachines, find(name).is_none().then(|| format!("needs the peer `{name}` in PATH")))
}

/// Where `name` lies in PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Where one can count on something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    InCi,
    OnSomeMachines,
}

#[derive(PartialEq, Eq, Debug)]
enum Verdict {
    Run,
    Skip(String),
    Fail(String),
}

fn verdict(expected: Expected, in_ci: bool, missing: Option<String>) -> Verdict {
    match missing {
        None => Verdict::Run,
        Some(why) if in_ci && expected == Expected::InCi => Verdict::Fail(why),
        Some(why) => Verdict::Skip(why),
    }
}

fn met(expected: Expected, missing: Option<String>) -> bool {
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    match verdict(expected, in_ci, missing) {
        Verdict::Run => true,
        Verdict::Skip(why) => {
            // Not by eprintln, which the test harness captures and shows for failures only.
            let line = format!("\nSKIPPED {test}: {why}\n");
            let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
            false
        }
        Verdict::Fail(why) => panic!("{test} {why} (a skip, which is a failure where CI is set)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_a_failure_where_everything_is_expected() {
        let missing = || Some("needs it".to_owned());
        assert_eq!(verdict(Expected::InCi, true, None), Verdict::Run);
        assert_eq!(verdict(Expected::InCi, true, missing()), Verdict::Fail("needs it".into()));
        assert_eq!(verdict(Expected::InCi, false, missing()), Verdict::Skip("needs it".into()));
        assert_eq!(verdict(Expected::OnSomeMachines, true, missing()), Verdict::Skip("needs it".into()));
    }

    #[test]
    fn programs_are_found_in_path() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program-anywhere"), None);
    }

    #[test]
    fn root_tracefs_is_mounted_where_it_can_be() {
        if root() && tracefs() {
            assert!(Path::new("/sys/kernel/tracing/events/sched").is_dir());
        }
    }
}
