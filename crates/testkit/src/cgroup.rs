//! Cgroups for the time of a test, in the hierarchy of version 2 and in one of version 1.

use crate::lock;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long the kernel may take to let go of a cgroup or of a hierarchy.
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

/// The root of the hierarchy of version 2, where it is mounted.
pub fn version_2() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    line.split(' ').nth(4).map(PathBuf::from)
}

/// A cgroup that is removed when this is dropped, by when all in it must be about to end.
#[must_use]
#[derive(Debug)]
pub struct Cgroup {
    folder: PathBuf,
    name: String,
}

impl Cgroup {
    /// Makes one below the root of a hierarchy, with a name that only this process uses.
    pub fn make(root: &Path, name: &str) -> std::io::Result<Self> {
        let name = format!("flamel-test-{}-{name}", std::process::id());
        let folder = root.join(&name);
        fs::create_dir(&folder)?;
        Ok(Self { folder, name })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its own name, without those of the cgroups above it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Puts a process into it.
    ///
    /// # Panics
    /// If the kernel refuses.
    pub fn take_in(&self, pid: u32) {
        let list = self.folder.join("cgroup.procs");
        fs::write(&list, pid.to_string()).unwrap_or_else(|error| panic!("writing `{}`: {error}", list.display()));
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A process that was killed stays in it until it is gone altogether.
        if !wait_until(PATIENCE, || fs::remove_dir(&self.folder).is_ok()) {
            assert!(std::thread::panicking(), "`{}` cannot be removed", self.folder.display());
        }
    }
}

/// A hierarchy of version 1 with the controller `perf_event`, mounted for the time of a test. The
/// machine is held alone ([`lock::exclusive`]) as long as it lives: meanwhile no other cgroup can
/// be counted by.
#[must_use]
#[derive(Debug)]
pub struct PerfEventV1 {
    root: tempfile::TempDir,
    _machine: lock::Guard,
}

impl PerfEventV1 {
    /// Mounts it.
    ///
    /// # Errors
    /// What mount(8) says, where the kernel has no version 1, or somebody has it already.
    pub fn mount() -> Result<Self, String> {
        let machine = lock::exclusive();
        if is_bound() {
            return Err("the controller perf_event is in a hierarchy of version 1 already".into());
        }
        let root = tempfile::tempdir().map_err(|error| error.to_string())?;
        mount(root.path())?;
        Ok(Self { root, _machine: machine })
    }

    /// The folder of its topmost cgroup.
    pub fn root(&self) -> &Path {
        self.root.path()
    }
}

impl Drop for PerfEventV1 {
    fn drop(&mut self) {
        // Unmounted while the kernel still cleans up a cgroup, the hierarchy stays, and keeps the
        // controller until it is mounted and unmounted once more.
        wait_until(PATIENCE, || state().is_none_or(|state| state.cgroups <= 1));
        let released = wait_until(PATIENCE, || {
            let _ = Command::new("umount").arg(self.root.path()).output();
            wait_until(PATIENCE / 5, || !is_bound()) || (mount(self.root.path()).is_err() && !is_bound())
        });
        assert!(released || std::thread::panicking(), "perf_event stays in a hierarchy of version 1");
    }
}

fn mount(folder: &Path) -> Result<(), String> {
    let mounted = Command::new("mount").args(["-t", "cgroup", "-o", "perf_event", "none"]).arg(folder).output();
    let mounted = mounted.map_err(|error| error.to_string())?;
    match mounted.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&mounted.stderr).trim().to_owned()),
    }
}

/// What /proc/cgroups says of the controller.
struct State {
    /// 0 for version 2.
    hierarchy: u32,
    /// How many cgroups the hierarchy has, the topmost included, and those being cleaned up.
    cgroups: u32,
}

fn state() -> Option<State> {
    let controllers = fs::read_to_string("/proc/cgroups").ok()?;
    let line = controllers.lines().find_map(|line| line.strip_prefix("perf_event\t"))?;
    let mut fields = line.split('\t').map_while(|field| field.parse().ok());
    Some(State { hierarchy: fields.next()?, cgroups: fields.next()? })
}

fn is_bound() -> bool {
    state().is_some_and(|state| state.hierarchy != 0)
}

fn wait_until(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if done() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(POLL);
    }
}
