//! A copy of the running kernel's own symbols in a file. The kernel takes some 50 ms to print its
//! symbols, each time anew, and those of its own code stay as they are until the next boot. Modules
//! and BPF programs come and go and are not kept.
//!
//! Only what this user wrote himself and nobody else could change is believed.

use crate::kernel::KernelSymbols;
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// A folder with a copy of the kernel's symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelCache {
    folder: PathBuf,
}

/// The name of a copy; the boot's number follows.
const PREFIX: &str = "kallsyms-";
/// A copy of the largest kernels takes some 15 MB.
const LARGEST: u64 = 256 << 20;

impl KernelCache {
    /// Copies lie in `folder`, which is made when there is something to keep.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The symbols of the running kernel's own code, if they were kept since it was booted.
    pub(crate) fn read(&self) -> Option<KernelSymbols> {
        let path = self.path()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(openat(CWD, &path, flags, Mode::empty()).ok()?);
        let metadata = file.metadata().ok()?;
        let own = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0;
        if !metadata.is_file() || !own || metadata.len() > LARGEST {
            return None;
        }
        let mut text = Vec::with_capacity(metadata.len() as usize);
        file.read_to_end(&mut text).ok()?;
        KernelSymbols::parse(text).ok()?.of_own_code()
    }

    /// Keeps a copy. What cannot be kept is read anew the next time.
    pub(crate) fn keep(&self, symbols: &KernelSymbols) {
        if let (Some(path), Some(text)) = (self.path(), symbols.own_code_text()) {
            let _ = self.write(&path, &text);
        }
    }

    fn write(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        // Only the present boot's is of use.
        for entry in fs::read_dir(&self.folder)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                fs::remove_file(entry.path())?;
            }
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    fn path(&self) -> Option<PathBuf> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(self.folder.join(format!("{PREFIX}{}", boot.trim())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Address;
    use std::os::unix::fs::PermissionsExt as _;

    const TEXT: &str = "0000000000000000 A fixed\nffffffff81000000 T _text\nffffffff81000010 T schedule\n\
                        ffffffff82000000 T _etext\nffffffff83000000 D data\nffffffffc0000000 t hook\t[nft]\n";

    #[test]
    fn own_code_is_kept_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::new(folder.path().join("below/flamel"));
        assert!(cache.read().is_none());
        fs::create_dir_all(folder.path().join("below/flamel")).unwrap();
        fs::write(folder.path().join("below/flamel/kallsyms-of-an-earlier-boot"), TEXT).unwrap();
        cache.keep(&KernelSymbols::parse(TEXT.into()).unwrap());
        let kept = cache.read().unwrap();
        assert_eq!(kept.find(Address(0xffff_ffff_8100_0011)).unwrap().name, b"schedule");
        assert_eq!(kept.address_of(b"_text"), Some(Address(0xffff_ffff_8100_0000)));
        assert!(kept.covers(Address(0xffff_ffff_81ff_ffff)));
        assert!(!kept.covers(Address(0xffff_ffff_c000_0000)) && !kept.covers(Address(0x1000)));
        assert_eq!(fs::read_dir(folder.path().join("below/flamel")).unwrap().count(), 1);
    }

    #[test]
    fn what_others_could_have_written_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::new(folder.path().into());
        cache.keep(&KernelSymbols::parse(TEXT.into()).unwrap());
        let path = cache.path().unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(cache.read().is_none());
        fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
        assert!(cache.read().is_none());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "cut").unwrap();
        assert!(cache.read().is_none());
    }
}
