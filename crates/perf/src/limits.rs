//! What the kernel allows whom: the settings below /proc/sys/kernel that concern
//! perf_event_open(2), the process's rights, and the machine's CPUs.
//!
//! Nothing is changed here, and what cannot be read is `None` or the kernel's default. The
//! settings are described in Documentation/admin-guide/sysctl/kernel.rst of the kernel.

mod budget;
mod cpu_list;

pub use cpu_list::{CpuListError, parse_cpu_list};

use model::Cpu;
use rustix::process::{Resource, Rlimit, getrlimit};
use std::path::Path;

/// Rights of `include/uapi/linux/capability.h` that matter here, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Capability {
    /// Lock more memory than the limits allow.
    IpcLock = 14,
    /// Observe other users' processes.
    SysPtrace = 19,
    /// All of the others in older kernels.
    SysAdmin = 21,
    /// Read the kernel's addresses.
    Syslog = 34,
    /// Observe the whole system (Linux 5.8).
    Perfmon = 38,
    /// Load BPF programs (Linux 5.8).
    Bpf = 39,
}

/// Whether system calls are filtered: the `Seccomp` line of /proc/self/status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seccomp {
    /// None is.
    Off,
    /// Only read, write, exit and sigreturn are left.
    Strict,
    /// A filter decides, as in most containers.
    Filter,
    /// The kernel does not say.
    Unknown,
}

/// How far the kernel is locked against root: kernel_lockdown(7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lockdown {
    /// Not at all.
    Off,
    /// It cannot be changed.
    Integrity,
    /// It cannot be read either.
    Confidentiality,
    /// Not known: securityfs is not mounted, or the kernel has no lockdown.
    Unknown,
}

/// Sizes that getrlimit(2) gives, in bytes and numbers; `None` is unlimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResourceLimits {
    /// `RLIMIT_MEMLOCK`, bytes.
    pub locked_memory: Option<u64>,
    /// `RLIMIT_NOFILE`, open files, as it is now.
    pub open_files: Option<u64>,
    /// `RLIMIT_NOFILE`, up to which the process may raise it.
    pub open_files_hard: Option<u64>,
}

/// What this machine allows this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// `perf_event_paranoid`, from -1 (all) to 2 (own processes, user space), with 3 and 4
    /// (nothing) in the kernels of Debian and Ubuntu. `None` in a kernel without perf events.
    pub paranoid: Option<i32>,
    /// `perf_event_max_sample_rate`, samples a second and CPU.
    pub max_sample_rate: Option<u64>,
    /// `perf_event_mlock_kb`, KiB of rings a user may have for each CPU.
    pub mlock_kb: Option<u64>,
    /// `perf_event_max_stack`, addresses of a callchain; 127 where it is not told.
    pub max_stack: u16,
    /// `kptr_restrict`: 0 shows kernel addresses, 1 to those with `CAP_SYSLOG`, 2 to nobody.
    pub kptr_restrict: Option<u32>,
    /// CPUs that run.
    pub online_cpus: Vec<Cpu>,
    /// What getrlimit(2) gives.
    pub resources: ResourceLimits,
    /// The effective capabilities, a bit for each number; see [`Self::has`].
    pub capabilities: u64,
    /// Whether the process is in a user namespace of its own, in which capabilities do not reach
    /// the kernel's settings.
    pub user_namespace: bool,
    /// Whether system calls are filtered.
    pub seccomp: Seccomp,
    /// Whether the process can gain no rights by exec: setcap and sudo do not work then.
    pub no_new_privileges: bool,
    /// What kind of container this is, where one can be made out: `docker`, `podman`, …
    pub container: Option<String>,
    /// How far the kernel is locked.
    pub lockdown: Lockdown,
    /// The size of a page of memory, in bytes.
    pub page_size: u64,
}

impl Limits {
    /// Those of this process on this machine.
    pub fn read() -> Self {
        Self::read_below(Path::new("/"), ResourceLimits::of_this_process(), rustix::param::page_size() as u64)
    }

    /// Those that the files below `root` tell (`proc/…`, `sys/…`), with `resources` and
    /// `page_size`, in bytes, for what stands in no file.
    pub fn read_below(root: &Path, resources: ResourceLimits, page_size: u64) -> Self {
        let status = text(root, "proc/self/status").unwrap_or_default();
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim));
        Self {
            paranoid: setting(root, "perf_event_paranoid"),
            max_sample_rate: setting(root, "perf_event_max_sample_rate"),
            mlock_kb: setting(root, "perf_event_mlock_kb"),
            max_stack: setting(root, "perf_event_max_stack").unwrap_or(127),
            kptr_restrict: setting(root, "kptr_restrict"),
            online_cpus: cpus(root, "sys/devices/system/cpu/online").unwrap_or_else(|| vec![Cpu(0)]),
            resources,
            capabilities: field("CapEff").and_then(|bits| u64::from_str_radix(bits, 16).ok()).unwrap_or(0),
            user_namespace: text(root, "proc/self/uid_map").is_some_and(|map| !is_initial_namespace(&map)),
            seccomp: match field("Seccomp") {
                Some("0") => Seccomp::Off,
                Some("1") => Seccomp::Strict,
                Some("2") => Seccomp::Filter,
                _ => Seccomp::Unknown,
            },
            no_new_privileges: field("NoNewPrivs") == Some("1"),
            container: container(root),
            lockdown: lockdown(&text(root, "sys/kernel/security/lockdown").unwrap_or_default()),
            page_size,
        }
    }

    /// Whether the process has this right towards the kernel itself: in effect, and not merely
    /// inside a user namespace.
    pub fn has(&self, capability: Capability) -> bool {
        !self.user_namespace && self.capabilities >> (capability as u8) & 1 == 1
    }

    /// Whether perf_event_paranoid does not apply: `CAP_PERFMON`, or `CAP_SYS_ADMIN`, which the
    /// kernel takes for it.
    pub fn may_observe_all(&self) -> bool {
        self.has(Capability::Perfmon) || self.has(Capability::SysAdmin)
    }

    /// The CPUs of a list that a user gave, such as `0,2-3`, all of them online.
    ///
    /// # Errors
    /// If it is no such list, or names a CPU that does not run.
    pub fn wanted_cpus(&self, list: &str) -> Result<Vec<Cpu>, CpuListError> {
        let cpus = parse_cpu_list(list)?;
        match cpus.iter().find(|cpu| !self.online_cpus.contains(cpu)) {
            Some(&offline) => Err(CpuListError::Offline { cpu: offline, online: cpu_list::show(&self.online_cpus) }),
            None => Ok(cpus),
        }
    }
}

impl ResourceLimits {
    fn of_this_process() -> Self {
        let Rlimit { current: locked_memory, .. } = getrlimit(Resource::Memlock);
        let Rlimit { current: open_files, maximum: open_files_hard } = getrlimit(Resource::Nofile);
        Self { locked_memory, open_files, open_files_hard }
    }
}

fn text(root: &Path, path: &str) -> Option<String> {
    std::fs::read(root.join(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn setting<T: std::str::FromStr>(root: &Path, name: &str) -> Option<T> {
    text(root, &format!("proc/sys/kernel/{name}"))?.trim().parse().ok()
}

fn cpus(root: &Path, path: &str) -> Option<Vec<Cpu>> {
    parse_cpu_list(&text(root, path)?).ok()
}

/// The namespace that maps every user to itself: user_namespaces(7).
fn is_initial_namespace(uid_map: &str) -> bool {
    uid_map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// The mode in brackets, as in `none [integrity] confidentiality`.
fn lockdown(modes: &str) -> Lockdown {
    match modes.split(['[', ']']).nth(1) {
        Some("none") => Lockdown::Off,
        Some("integrity") => Lockdown::Integrity,
        Some("confidentiality") => Lockdown::Confidentiality,
        _ => Lockdown::Unknown,
    }
}

/// Each runtime leaves a mark of its own; a container that leaves none is not made out.
fn container(root: &Path) -> Option<String> {
    if root.join("run/.containerenv").exists() {
        return Some("podman".into());
    }
    let groups = text(root, "proc/self/cgroup").unwrap_or_default();
    for (mark, name) in [("kubepods", "kubernetes"), ("docker", "docker"), ("libpod", "podman"), ("lxc", "lxc")] {
        if groups.contains(mark) {
            return Some(name.into());
        }
    }
    if root.join(".dockerenv").exists() {
        return Some("docker".into());
    }
    // systemd notes here what it was started in.
    text(root, "run/systemd/container").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const RESOURCES: ResourceLimits =
        ResourceLimits { locked_memory: Some(8 << 20), open_files: Some(1024), open_files_hard: None };

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn read(files: &[(&str, &str)]) -> Limits {
        Limits::read_below(tree(files).path(), RESOURCES, 4096)
    }

    #[test]
    fn all_files_are_read() {
        let limits = read(&[
            ("proc/sys/kernel/perf_event_paranoid", "-1\n"),
            ("proc/sys/kernel/perf_event_max_sample_rate", "100000\n"),
            ("proc/sys/kernel/perf_event_mlock_kb", "516\n"),
            ("proc/sys/kernel/perf_event_max_stack", "200\n"),
            ("proc/sys/kernel/kptr_restrict", "1\n"),
            ("sys/devices/system/cpu/online", "0-2,5\n"),
            ("sys/kernel/security/lockdown", "none [integrity] confidentiality\n"),
            ("proc/self/uid_map", "         0          0 4294967295\n"),
            ("proc/self/cgroup", "0::/system.slice/docker-0123.scope\n"),
            (
                "proc/self/status",
                "Name:\tx\nCapEff:\t0000004000004000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n",
            ),
        ]);
        assert_eq!(limits.paranoid, Some(-1));
        assert_eq!(limits.max_sample_rate, Some(100_000));
        assert_eq!(limits.mlock_kb, Some(516));
        assert_eq!(limits.max_stack, 200);
        assert_eq!(limits.kptr_restrict, Some(1));
        assert_eq!(limits.online_cpus, [0, 1, 2, 5].map(Cpu));
        assert_eq!(limits.lockdown, Lockdown::Integrity);
        assert_eq!(limits.seccomp, Seccomp::Filter);
        assert_eq!(limits.container.as_deref(), Some("docker"));
        assert!(limits.no_new_privileges && !limits.user_namespace);
        assert!(limits.has(Capability::Perfmon) && limits.has(Capability::IpcLock));
        assert!(!limits.has(Capability::SysAdmin) && !limits.has(Capability::Bpf));
    }

    #[test]
    fn missing_files_are_told_from_settings() {
        let limits = read(&[]);
        assert_eq!(limits.paranoid, None);
        assert_eq!(limits.max_stack, 127);
        assert_eq!(limits.online_cpus, [Cpu(0)]);
        assert_eq!((limits.seccomp, limits.lockdown), (Seccomp::Unknown, Lockdown::Unknown));
        assert_eq!(limits.container, None);
        assert!(!limits.may_observe_all());
    }

    #[test]
    fn rights_inside_a_user_namespace_do_not_count() {
        let limits = read(&[
            ("proc/self/uid_map", "         0       1000          1\n"),
            ("proc/self/status", "CapEff:\t000001ffffffffff\n"),
        ]);
        assert!(limits.user_namespace);
        assert!(!limits.has(Capability::SysAdmin) && !limits.may_observe_all());
    }

    #[test]
    fn marks_of_containers() {
        for (files, expected) in [
            (&[("run/.containerenv", "")][..], Some("podman")),
            (&[(".dockerenv", "")], Some("docker")),
            (&[("proc/self/cgroup", "1:cpu:/kubepods/burstable/x\n"), (".dockerenv", "")], Some("kubernetes")),
            (&[("run/systemd/container", "systemd-nspawn\n")], Some("systemd-nspawn")),
            (&[("proc/self/cgroup", "0::/user.slice\n")], None),
        ] {
            assert_eq!(read(files).container.as_deref(), expected);
        }
    }

    #[test]
    fn wanted_cpus_have_to_be_online() {
        let limits = read(&[("sys/devices/system/cpu/online", "0-3,5\n")]);
        assert_eq!(limits.wanted_cpus("0,2-3").unwrap(), [0, 2, 3].map(Cpu));
        assert_eq!(limits.wanted_cpus("4").unwrap_err().to_string(), "CPU 4 is not online; those that are: 0-3,5");
    }

    #[test]
    fn this_machine_can_be_read() {
        let limits = Limits::read();
        assert!(!limits.online_cpus.is_empty() && limits.page_size >= 4096);
    }
}
