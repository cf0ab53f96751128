//! The cgroup hierarchies that are mounted, and to which of them the controller `perf_event`
//! belongs: the one whose cgroups perf_event_open(2) can count by.
//!
//! A machine has one hierarchy of version 2, any number of version 1, or both side by side, and
//! each controller belongs to one of them (cgroups(7)). What belongs to none of version 1 belongs
//! to version 2. Texts come in, nothing is looked at here.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// A hierarchy, and where it can be seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    /// The folder of its topmost cgroup, as far as we can see it.
    pub root: PathBuf,
    /// Which version it is of.
    pub version: Version,
}

/// The versions of cgroups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// A hierarchy for some controllers or for none.
    V1,
    /// The one for all the others.
    V2,
}

/// Where the controller `perf_event` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Controller {
    /// In the hierarchy at this place of [`Hierarchies::mounted`].
    In(usize),
    /// In one that is not mounted here.
    NotMounted(Version),
    /// Switched off when the kernel was started.
    Disabled,
}

/// What is mounted, and where the controller is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchies {
    /// All of them, in the order in which they were mounted, each once.
    pub mounted: Vec<Hierarchy>,
    /// Where `perf_event` is.
    pub controller: Controller,
}

const CONTROLLER: &str = "perf_event";

impl Hierarchies {
    /// Those of this process.
    pub fn read() -> Self {
        // Without /proc there is nothing mounted that we could know of.
        let read = |path| std::fs::read(path).unwrap_or_default();
        Self::parse(&read("/proc/self/mountinfo"), &String::from_utf8_lossy(&read("/proc/cgroups")))
    }

    /// Those that /proc/self/mountinfo (proc_pid_mountinfo(5)) and /proc/cgroups tell.
    pub fn parse(mountinfo: &[u8], cgroups: &str) -> Self {
        let mut mounts: Vec<Mount> = Vec::new();
        for mount in mountinfo.split(|&byte| byte == b'\n').filter_map(Mount::parse) {
            if !mounts.iter().any(|known| known.device == mount.device) {
                mounts.push(mount);
            }
        }
        let (bound, enabled) = controller_line(cgroups).unwrap_or((false, true));
        let found = match mounts.iter().position(|mount| mount.has_controller) {
            None if !bound => mounts.iter().position(|mount| mount.hierarchy.version == Version::V2),
            found => found,
        };
        let controller = match (found, bound) {
            _ if !enabled => Controller::Disabled,
            (Some(index), _) => Controller::In(index),
            (None, true) => Controller::NotMounted(Version::V1),
            (None, false) => Controller::NotMounted(Version::V2),
        };
        Self { mounted: mounts.into_iter().map(|mount| mount.hierarchy).collect(), controller }
    }
}

/// A line of mountinfo that is of cgroups.
struct Mount {
    /// `major:minor`, which is the hierarchy's own.
    device: Vec<u8>,
    hierarchy: Hierarchy,
    /// Whether it is a hierarchy of version 1 with the controller.
    has_controller: bool,
}

impl Mount {
    /// `id parent device root point options [tags…] - type source super-options`
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|&byte| byte == b' ');
        let device = fields.nth(2)?.to_vec();
        let point = fields.nth(1)?;
        let mut after = fields.skip_while(|field| *field != b"-").skip(1);
        let version = match after.next()? {
            b"cgroup" => Version::V1,
            b"cgroup2" => Version::V2,
            _ => return None,
        };
        let has_controller = version == Version::V1
            && after.nth(1)?.split(|&byte| byte == b',').any(|option| option == CONTROLLER.as_bytes());
        let root = PathBuf::from(OsString::from_vec(unescaped(point)));
        Some(Self { device, hierarchy: Hierarchy { root, version }, has_controller })
    }
}

/// Spaces and the like stand in mountinfo as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let escape = (byte == b'\\').then(|| std::str::from_utf8(after.get(..3)?).ok()).flatten();
        match escape.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(escaped) => {
                plain.push(escaped);
                rest = &after[3..];
            }
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

/// Whether the controller is bound to a hierarchy of version 1, and whether it is enabled:
/// `name hierarchy number-of-cgroups enabled`. `None` where the kernel does not list it.
fn controller_line(cgroups: &str) -> Option<(bool, bool)> {
    let line = cgroups.lines().find_map(|line| line.strip_prefix(CONTROLLER)?.strip_prefix('\t'))?;
    let mut fields = line.split('\t');
    let hierarchy = fields.next()?;
    let enabled = fields.nth(1)?;
    Some((hierarchy != "0", enabled.trim() != "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2_ONLY: &[u8] = b"\
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
        26 22 0:24 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    const V1_ONLY: &[u8] = b"\
        31 23 0:28 / /sys/fs/cgroup rw shared:4 - tmpfs tmpfs rw,mode=755\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n\
        33 31 0:30 / /sys/fs/cgroup/perf_event rw shared:6 master:2 - cgroup cgroup rw,perf_event\n\
        40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n";
    const HYBRID: &[u8] = b"\
        32 31 0:29 / /sys/fs/cgroup/perf_event rw - cgroup cgroup rw,perf_event\n\
        40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    const HYBRID_WITH_THE_CONTROLLER_IN_V2: &[u8] = b"\
        32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    fn cgroups(hierarchy: u32, enabled: u32) -> String {
        format!("#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t1\t1\t1\nperf_event\t{hierarchy}\t1\t{enabled}\n")
    }

    fn root_of_controller(mountinfo: &[u8], cgroups: &str) -> Result<PathBuf, Controller> {
        let hierarchies = Hierarchies::parse(mountinfo, cgroups);
        match hierarchies.controller {
            Controller::In(index) => Ok(hierarchies.mounted[index].root.clone()),
            other => Err(other),
        }
    }

    #[test]
    fn the_controller_is_found_on_each_kind_of_machine() {
        for (mountinfo, bound, expected) in [
            (V2_ONLY, 0, "/sys/fs/cgroup"),
            (V1_ONLY, 6, "/sys/fs/cgroup/perf_event"),
            (HYBRID, 6, "/sys/fs/cgroup/perf_event"),
            (HYBRID_WITH_THE_CONTROLLER_IN_V2, 0, "/sys/fs/cgroup/unified"),
        ] {
            assert_eq!(root_of_controller(mountinfo, &cgroups(bound, 1)), Ok(expected.into()));
            // A kernel that lists no controllers leaves the mounts, which say the same.
            assert_eq!(root_of_controller(mountinfo, ""), Ok(expected.into()));
        }
    }

    #[test]
    fn a_controller_out_of_reach_is_told_from_one_that_is_off() {
        let out_of_reach = Err(Controller::NotMounted(Version::V1));
        assert_eq!(root_of_controller(HYBRID_WITH_THE_CONTROLLER_IN_V2, &cgroups(6, 1)), out_of_reach);
        assert_eq!(root_of_controller(b"", &cgroups(0, 1)), Err(Controller::NotMounted(Version::V2)));
        assert_eq!(root_of_controller(V2_ONLY, &cgroups(0, 0)), Err(Controller::Disabled));
    }

    #[test]
    fn a_hierarchy_counts_once_and_its_path_may_hold_anything() {
        let twice = b"1 2 0:24 / /a\\040b\\134c rw - cgroup2 none rw\n3 2 0:24 /x /y rw - cgroup2 none rw\n";
        let hierarchies = Hierarchies::parse(twice, "");
        let expected = Hierarchy { root: "/a b\\c".into(), version: Version::V2 };
        assert_eq!(hierarchies.mounted, [expected]);
        for damaged in [&b"1 2 0:24"[..], b"1 2 0:24 / /x rw - ", b"- cgroup2", b"\\", b"1 2 3 / /x\\9 rw - cgroup"] {
            assert_eq!(Hierarchies::parse(damaged, "perf_event\tx").mounted, []);
        }
    }

    #[test]
    fn this_machine_can_be_read() {
        let hierarchies = Hierarchies::read();
        if let Controller::In(index) = hierarchies.controller {
            assert!(hierarchies.mounted[index].root.join("cgroup.procs").exists());
        }
    }
}
