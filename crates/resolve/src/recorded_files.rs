//! The files of a recording, which may come from another machine or another day: what stands under
//! a path now need not be what was mapped then. A file is believed for its build id; where the
//! recording does not tell one, for its inode; or because the user gave it.

use crate::files::{Files, open_regular, undeleted};
use crate::search_places::SearchPlaces;
use crate::vdso::own_vdso;
use elf::Image;
use model::{BuildId, FileIdentity, Inode, Mapping, NameMissing, Pid};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The files of a recording.
#[derive(Clone, Debug, Default)]
pub struct RecordedFiles {
    /// Where they are looked for, beside their own paths.
    pub places: SearchPlaces,
    /// The build ids that the recording tells beside its mappings, by path.
    pub build_ids: HashMap<Box<[u8]>, BuildId>,
    /// Whether it was made on this machine under this release of the kernel: then a path is
    /// believed of which the recording tells nothing else.
    pub same_machine: bool,
}

impl Files for RecordedFiles {
    /// Looks, in this order, under the given folder, under the path itself, and under the build id.
    ///
    /// [`NameMissing::OtherBuild`] where only files with other build ids stood there,
    /// [`NameMissing::Replaced`] where one stands that cannot be shown to be the same.
    fn open(&self, _: Pid, mapping: &Mapping<'_>) -> Result<File, NameMissing> {
        match self.build_id_of(mapping) {
            Some(wanted) => self.open_build(wanted, mapping),
            None => self.open_path(mapping),
        }
    }

    fn are_of_this_machine(&self) -> bool {
        self.same_machine
    }

    fn vdso(&self) -> Result<File, NameMissing> {
        let Some(&wanted) = self.build_ids.get(&b"[vdso]"[..]) else {
            return if self.same_machine { own_vdso() } else { Err(NameMissing::FileGone) };
        };
        let cached = || self.places.by_build_id(wanted, "vdso").find(|file| has_build_id(file, wanted));
        own_vdso().ok().filter(|file| has_build_id(file, wanted)).or_else(cached).ok_or(NameMissing::OtherBuild)
    }
}

impl RecordedFiles {
    fn build_id_of(&self, mapping: &Mapping<'_>) -> Option<BuildId> {
        match mapping.identity {
            FileIdentity::BuildId(id) => Some(id),
            _ => self.build_ids.get(mapping.path).or_else(|| self.build_ids.get(undeleted(mapping.path))).copied(),
        }
    }

    fn open_build(&self, wanted: BuildId, mapping: &Mapping<'_>) -> Result<File, NameMissing> {
        let mut reason = NameMissing::FileGone;
        let path = absolute(mapping.path);
        let under_path = [path.and_then(|path| self.places.in_symfs(path)), path.map(open_regular)];
        for opened in under_path.into_iter().flatten() {
            match opened {
                Ok(file) if has_build_id(&file, wanted) => return Ok(file),
                Ok(_) => reason = NameMissing::OtherBuild,
                // What says more than that nothing is there is kept.
                Err(why) if reason == NameMissing::FileGone => reason = why,
                Err(_) => {}
            }
        }
        self.places.by_build_id(wanted, "elf").find(|file| has_build_id(file, wanted)).ok_or(reason)
    }

    /// The file of which only the place is known, and perhaps the inode.
    fn open_path(&self, mapping: &Mapping<'_>) -> Result<File, NameMissing> {
        let path = absolute(mapping.path).ok_or(NameMissing::FileGone)?;
        if let Some(Ok(given)) = self.places.in_symfs(path) {
            return Ok(given);
        }
        let file = open_regular(path)?;
        let is_deleted = undeleted(mapping.path).len() != mapping.path.len();
        let is_same = match mapping.identity {
            // For the device, see `LiveFiles`.
            FileIdentity::Inode(Inode { number, .. }) => file.metadata().is_ok_and(|found| found.ino() == number),
            // A path that was deleted when it was recorded leads to a file of later.
            _ => self.same_machine && !is_deleted,
        };
        is_same.then_some(file).ok_or(NameMissing::Replaced)
    }
}

/// The path, without the mark of deleted files; `None` for what is none (`[heap]`, `//anon`).
fn absolute(path: &[u8]) -> Option<&Path> {
    let path = Path::new(OsStr::from_bytes(undeleted(path)));
    path.is_absolute().then_some(path)
}

fn has_build_id(file: &File, wanted: BuildId) -> bool {
    Image::open(file).is_ok_and(|image| image.build_id() == Some(wanted))
}
