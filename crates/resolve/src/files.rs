//! Where a mapped file's contents are found. A file is opened when it is first seen mapped and
//! stays open: its path may be deleted, replaced, or lie in another mount namespace, and its
//! process may be gone, long before names are looked up.

use crate::vdso::own_vdso;
use model::{FileIdentity, Inode, Mapping, NameMissing, Pid, text};
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Finds the file behind a mapping.
pub trait Files {
    /// Opens the file that `process` has mapped.
    fn open(&self, process: Pid, mapping: &Mapping<'_>) -> Result<File, NameMissing>;

    /// Whether the processes run, or ran, on this machine, so that the perf maps that they left are theirs.
    fn are_of_this_machine(&self) -> bool {
        true
    }

    /// Opens the `[vdso]` that the processes have mapped: the code that the kernel gives to each,
    /// which has no path.
    fn vdso(&self) -> Result<File, NameMissing> {
        Err(NameMissing::FileGone)
    }
}

/// The files of processes of this machine, now.
#[derive(Clone, Debug, Default)]
pub struct LiveFiles;

impl Files for LiveFiles {
    /// First through the kernel's own link to the mapped file, which is right even for deleted
    /// files and memfds but needs CAP_CHECKPOINT_RESTORE; then by path as the process sees it;
    /// then by path as we see it. A path only counts if the same inode stands behind it.
    fn open(&self, process: Pid, mapping: &Mapping<'_>) -> Result<File, NameMissing> {
        let end = mapping.start.0.saturating_add(mapping.len);
        let by_kernel = PathBuf::from(format!("/proc/{process}/map_files/{:x}-{end:x}", mapping.start));
        if let Ok(file) = open_if_same(&by_kernel, mapping.identity) {
            return Ok(file);
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(undeleted(mapping.path)));
        if !path.is_absolute() {
            return Err(NameMissing::FileGone);
        }
        let mut as_process_sees_it = PathBuf::from(format!("/proc/{process}/root"));
        as_process_sees_it.extend(path.components().skip(1));
        open_if_same(&as_process_sees_it, mapping.identity).or_else(|_| open_if_same(path, mapping.identity))
    }

    fn vdso(&self) -> Result<File, NameMissing> {
        own_vdso()
    }
}

/// The path without the mark that the kernel puts behind those of deleted files.
pub(crate) fn undeleted(path: &[u8]) -> &[u8] {
    path.strip_suffix(b" (deleted)").unwrap_or(path)
}

/// The path as it is shown.
pub(crate) fn shown(path: &[u8]) -> String {
    text::from_bytes(undeleted(path)).into_owned()
}

fn open_if_same(path: &Path, identity: FileIdentity) -> Result<File, NameMissing> {
    let file = open_regular(path)?;
    let metadata = file.metadata().map_err(missing)?;
    match identity {
        // Overlay and btrfs report another device number for the file than for its mapping, so
        // that only the inode's number is compared.
        FileIdentity::Inode(Inode { number, .. }) if number != metadata.ino() => Err(NameMissing::Replaced),
        _ => Ok(file),
    }
}

/// Opens a regular file for reading, whose path somebody else chose.
pub(crate) fn open_regular(path: &Path) -> Result<File, NameMissing> {
    // The profiled program may have put a pipe or a device there: opening that could wait for
    // ever, or do something. So the place is looked at first, and then opened by its descriptor.
    let place = File::options().read(true).custom_flags(O_PATH).open(path).map_err(missing)?;
    reopen(&place)
}

/// Opens for reading what `place` (`O_PATH`) leads to, if that is a regular file.
pub(crate) fn reopen(place: &File) -> Result<File, NameMissing> {
    if !place.metadata().map_err(missing)?.is_file() {
        return Err(NameMissing::Unreadable);
    }
    File::open(format!("/proc/self/fd/{}", place.as_raw_fd())).map_err(missing)
}

const O_PATH: i32 = rustix::fs::OFlags::PATH.bits() as i32;

pub(crate) fn missing(error: std::io::Error) -> NameMissing {
    match error.kind() {
        ErrorKind::PermissionDenied => NameMissing::Permission,
        _ => NameMissing::FileGone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Address, FileOffset};

    fn mapping(path: &[u8], number: u64) -> Mapping<'_> {
        Mapping {
            start: Address(0x1000),
            len: 0x1000,
            offset: FileOffset(0),
            identity: FileIdentity::Inode(Inode { major: 0, minor: 0, number, generation: 0 }),
            path,
            kernel: false,
        }
    }

    #[test]
    fn a_path_counts_only_with_its_inode() {
        let myself = Pid(std::process::id());
        let path = std::env::current_exe().unwrap();
        let bytes = path.as_os_str().as_bytes();
        let inode = std::fs::metadata(&path).unwrap().ino();
        assert!(LiveFiles.open(myself, &mapping(bytes, inode)).is_ok());
        assert_eq!(LiveFiles.open(myself, &mapping(bytes, inode + 1)).err(), Some(NameMissing::Replaced));
        assert_eq!(LiveFiles.open(myself, &mapping(b"/no/such/file", 1)).err(), Some(NameMissing::FileGone));
        assert_eq!(LiveFiles.open(myself, &mapping(b"[stack]", 1)).err(), Some(NameMissing::FileGone));
    }

    #[test]
    fn a_pipe_in_the_place_of_a_binary_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(open_if_same(&pipe, FileIdentity::Unknown).err(), Some(NameMissing::Unreadable));
    }

    #[test]
    fn the_mark_of_deleted_files_is_not_part_of_the_path() {
        assert_eq!(shown(b"/tmp/x (deleted)"), "/tmp/x");
        assert_eq!(shown(b"/memfd:jit\xff (deleted)"), "/memfd:jit\\xff");
    }
}
