//! A file that is written over a long time and can be read meanwhile: a recording. Under a new name
//! it stands there from the beginning, so that it is found even if we are killed. What an older file
//! of the name holds stays until the new one is whole; meanwhile that is `NAME.part`.

use crate::output::{end_of_links, give_to_caller, is_special};
use anyhow::{Context as _, anyhow};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, chown};
use std::path::{Path, PathBuf};

/// A file that is being written.
#[derive(Debug)]
pub struct StreamedFile {
    /// Where it is written.
    at: PathBuf,
    /// Where it is to stand in the end, if that is elsewhere.
    target: Option<PathBuf>,
    /// The name that the user gave.
    shown: PathBuf,
    /// The file itself, whatever becomes of its name.
    file: File,
}

/// So many recordings that were cut short may lie beside each other.
const MOST_PARTS: usize = 1000;

impl StreamedFile {
    /// Makes a new file for `path`.
    pub fn create(path: &Path) -> anyhow::Result<(Self, File)> {
        let made = Self::make(path).with_context(|| format!("write `{}`", path.display()));
        made.inspect(|(made, _)| give_to_caller(&made.at))
    }

    fn make(path: &Path) -> anyhow::Result<(Self, File)> {
        if path.as_os_str() == "-" {
            return Err(anyhow!("a recording cannot go to standard output: its beginning is written last"));
        }
        if fs::metadata(path).is_ok_and(|metadata| is_special(&metadata.file_type())) {
            return Err(anyhow!("a recording cannot go to a device or pipe: its beginning is written last"));
        }
        let target = end_of_links(path)?;
        match create_new(&target) {
            Ok(file) => return Self::new(target, None, path, file),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
        for number in 0..MOST_PARTS {
            let mut name = OsString::from(&target);
            name.push(if number == 0 { ".part".into() } else { format!(".part{number}") });
            match create_new(Path::new(&name)) {
                Ok(file) => return Self::new(name.into(), Some(target), path, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(anyhow!(
            "there are {MOST_PARTS} recordings beside it that were cut short; remove `{}.part*`",
            path.display()
        ))
    }

    fn new(at: PathBuf, target: Option<PathBuf>, path: &Path, file: File) -> anyhow::Result<(Self, File)> {
        let own = file.try_clone()?;
        Ok((Self { at, target, shown: path.to_owned(), file: own }, file))
    }

    /// Where it stands until it is whole, if that is not where it is to stand.
    pub fn meanwhile(&self) -> Option<&Path> {
        self.target.as_ref().map(|_| &*self.at)
    }

    /// The file is whole: it takes the place of an older one. Gives the name under which it stands.
    pub fn place(self) -> anyhow::Result<PathBuf> {
        self.check_is_ours()?;
        let Some(target) = self.target else { return Ok(self.shown) };
        if let Ok(metadata) = fs::metadata(&target) {
            // As for other outputs: what is replaced keeps its owner and permissions.
            let _ = chown(&self.at, Some(metadata.uid()), Some(metadata.gid()));
            fs::set_permissions(&self.at, metadata.permissions())?;
        }
        fs::rename(&self.at, &target)
            .with_context(|| format!("put `{}` in the place of `{}`", self.at.display(), target.display()))?;
        Ok(self.shown)
    }

    /// Somebody may have removed or replaced the file meanwhile. What was recorded is saved then.
    fn check_is_ours(&self) -> anyhow::Result<()> {
        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let ours = identity(self.file.metadata()?);
        if fs::symlink_metadata(&self.at).is_ok_and(|metadata| identity(metadata) == ours) {
            return Ok(());
        }
        let gone = format!("write `{}`: it was removed or replaced while it was recorded", self.shown.display());
        let name = self.shown.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let save = || {
            let mut saved = tempfile::Builder::new().prefix("flamel-").suffix(&format!("-{name}")).tempfile()?;
            let mut source = File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))?;
            std::io::copy(&mut source, saved.as_file_mut())?;
            give_to_caller(saved.path());
            anyhow::Ok(saved.keep()?.1)
        };
        Err(match save() {
            Ok(saved) => anyhow!("{gone}; it was saved as `{}` instead", saved.display()),
            Err(error) => error.context(gone),
        })
    }

    /// The file is not worth keeping.
    pub fn remove(self) {
        // Where it cannot be removed, an empty recording is left.
        let _ = fs::remove_file(&self.at);
    }

    /// Where it is now.
    pub fn path(&self) -> &Path {
        &self.at
    }
}

/// A recording tells where the kernel lies, and how all was called: it is for its owner only.
fn create_new(path: &Path) -> std::io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_new_name_is_used_at_once_and_an_old_file_stays_until_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.data");
        let (first, mut file) = StreamedFile::create(&path).unwrap();
        file.write_all(b"first").unwrap();
        assert_eq!((first.path(), fs::read(&path).unwrap()), (&*path, b"first".to_vec()));
        assert_eq!(first.place().unwrap(), path);
        let (second, mut file) = StreamedFile::create(&path).unwrap();
        let (third, _) = StreamedFile::create(&path).unwrap();
        assert_ne!(second.path(), third.path());
        third.remove();
        file.write_all(b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(second.place().unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_removed_meanwhile_is_saved_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.data");
        let (streamed, mut file) = StreamedFile::create(&path).unwrap();
        file.write_all(b"recorded").unwrap();
        fs::remove_file(&path).unwrap();
        let error = streamed.place().unwrap_err().to_string();
        let saved = error.rsplit('`').nth(1).unwrap();
        assert_eq!(fs::read(saved).unwrap(), b"recorded", "{error}");
        fs::remove_file(saved).unwrap();
    }

    #[test]
    fn what_cannot_be_written_at_any_place_is_refused() {
        assert!(StreamedFile::create(Path::new("-")).is_err());
        assert!(StreamedFile::create(Path::new("/dev/null")).is_err());
        assert!(StreamedFile::create(Path::new("/no/such/folder/x.data")).is_err());
    }
}
