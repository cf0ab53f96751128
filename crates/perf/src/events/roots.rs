//! Where the kernel tells which events there are: sysfs and tracefs.

use std::io;
use std::path::{Path, PathBuf};

/// Where the kernel's folders are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roots {
    /// sysfs, normally `/sys`.
    pub sys: PathBuf,
    /// The tracing folder, which holds `events`.
    pub tracing: Tracing,
}

/// The folder of tracepoints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tracing {
    /// It is here.
    At(PathBuf),
    /// Neither tracefs nor debugfs is mounted.
    NotMounted,
}

impl Roots {
    /// Those of the running system, as /proc/self/mounts lists them.
    pub fn live() -> Self {
        let mounts = std::fs::read("/proc/self/mounts").unwrap_or_default();
        Self { sys: "/sys".into(), tracing: tracing_folder(&mounts) }
    }

    /// The folder of pmus.
    pub(super) fn pmus(&self) -> PathBuf {
        self.sys.join("bus/event_source/devices")
    }
}

/// The tracing folder by the mounts in the format of fstab(5): tracefs itself, or the one inside
/// debugfs, where the kernel mounts it by itself.
fn tracing_folder(mounts: &[u8]) -> Tracing {
    let mounts = String::from_utf8_lossy(mounts);
    let at = |kind: &str| {
        mounts.lines().find_map(|line| {
            let mut fields = line.split(' ').skip(1);
            let path = fields.next()?;
            (fields.next()? == kind).then(|| PathBuf::from(unescaped(path)))
        })
    };
    match (at("tracefs"), at("debugfs")) {
        (Some(tracefs), _) => Tracing::At(tracefs),
        (None, Some(debugfs)) => Tracing::At(debugfs.join("tracing")),
        (None, None) => Tracing::NotMounted,
    }
}

/// A path with `\040` and the like, which stand for blanks, put back.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (escape, plain)| path.replace(escape, plain))
}

/// The names in a folder, sorted; none where there is no such folder, or a file.
pub(super) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => return Ok(Vec::new()),
            _ => return Err(error),
        },
        Ok(entries) => entries,
    };
    let mut names: Vec<String> = entries
        .map(|entry| Ok(entry?.file_name().into_string().ok()))
        .filter_map(io::Result::transpose)
        .collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefs_is_preferred_to_debugfs() {
        let tracefs = "nodev /sys/kernel/tracing tracefs rw,relatime 0 0\n";
        let debugfs = "debugfs /sys/kernel/debug debugfs rw 0 0\n";
        let odd = "none /mnt/a\\040b tracefs rw 0 0\n";
        for (mounts, expected) in [
            (format!("{debugfs}{tracefs}"), Tracing::At("/sys/kernel/tracing".into())),
            (debugfs.to_owned(), Tracing::At("/sys/kernel/debug/tracing".into())),
            (odd.to_owned(), Tracing::At("/mnt/a b".into())),
            ("proc /proc proc rw 0 0\n\nbroken\n".to_owned(), Tracing::NotMounted),
        ] {
            assert_eq!(tracing_folder(mounts.as_bytes()), expected, "{mounts}");
        }
    }
}
