//! Where the files of a recorded machine are looked for, beside their own paths: a folder that
//! holds a copy of the machine's tree, perf's cache, and the folders of separate debug files. Only
//! opens; which file is the right one is for the caller to tell.

use crate::files::{missing, open_regular, reopen};
use model::{BuildId, NameMissing};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

/// Folders with files of a recorded machine.
#[derive(Clone, Debug, Default)]
pub struct SearchPlaces {
    /// The folder under which the recorded machine's paths lie.
    pub symfs: Option<PathBuf>,
    /// Folders like `/usr/lib/debug`, searched in order: they hold `.build-id/ab/cdef….debug`.
    pub debug_dirs: Vec<PathBuf>,
    /// The cache that `perf record` fills, `~/.debug`: it holds `.build-id/ab/cdef…/elf`.
    pub build_id_cache: Option<PathBuf>,
}

impl SearchPlaces {
    /// The file at `path` of the recorded machine's tree; `None` where no tree was given.
    pub(crate) fn in_symfs(&self, path: &Path) -> Option<Result<File, NameMissing>> {
        let symfs = self.symfs.as_deref()?;
        Some(open_below(symfs, path))
    }

    /// What perf's cache and the debug folders may hold for a build id, in this order. `cached` is
    /// what the cache calls such a file: `elf`, `vdso`, `kallsyms`.
    pub(crate) fn by_build_id(&self, id: BuildId, cached: &str) -> impl Iterator<Item = File> {
        self.paths_of(id, cached).into_iter().filter_map(|path| open_regular(&path).ok())
    }

    fn paths_of(&self, id: BuildId, cached: &str) -> Vec<PathBuf> {
        let parts = |id: BuildId| {
            let text = id.to_string();
            let (folder, name) = text.split_at(2);
            (Path::new(".build-id").join(folder), name.to_owned())
        };
        let in_cache = self.build_id_cache.iter().flat_map(move |cache| {
            id.lengths().map(parts).map(move |(folder, name)| cache.join(folder).join(name).join(cached))
        });
        let debug_files = self.debug_dirs.iter().flat_map(move |dir| {
            id.lengths().map(parts).map(move |(folder, name)| dir.join(folder).join(format!("{name}.debug")))
        });
        in_cache.chain(debug_files).collect()
    }
}

/// Opens a path of the recorded machine below `root`, which stands for that machine's `/`. Links
/// on the way, and `..`, stay below it.
fn open_below(root: &Path, path: &Path) -> Result<File, NameMissing> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat(CWD, root, folder, Mode::empty()).map_err(|error| missing(error.into()))?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let place = match openat2(&root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS) {
        // Linux before 5.6, where a link may still lead outside: symbols are all that is read.
        Err(Errno::NOSYS) => openat(&root, names_only(path)?, flags, Mode::empty()),
        result => result,
    };
    reopen(&File::from(place.map_err(|error| missing(error.into()))?))
}

/// The path without its leading `/`, if it goes down only.
fn names_only(path: &Path) -> Result<PathBuf, NameMissing> {
    let down = |part: &Component<'_>| !matches!(part, Component::ParentDir);
    match path.components().all(|part| down(&part)) {
        true => Ok(path.components().filter(|part| matches!(part, Component::Normal(_))).collect()),
        false => Err(NameMissing::FileGone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    fn text(file: File) -> String {
        let mut text = String::new();
        let mut file = file;
        file.read_to_string(&mut text).unwrap();
        text
    }

    fn below(root: &Path, path: &str) -> Result<String, NameMissing> {
        open_below(root, Path::new(path)).map(text)
    }

    #[test]
    fn no_path_leads_out_of_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        fs::write(folder.path().join("secret"), "outside").unwrap();
        fs::write(root.join("usr/lib/x"), "inside").unwrap();
        symlink("/usr/lib", root.join("lib")).unwrap();
        symlink(folder.path().join("secret"), root.join("absolute")).unwrap();
        symlink("../secret", root.join("relative")).unwrap();
        assert_eq!(below(&root, "/usr/lib/x"), Ok("inside".into()));
        assert_eq!(below(&root, "/lib/x"), Ok("inside".into()), "a link means what it meant on its machine");
        assert_eq!(below(&root, "/../../usr/lib/x"), Ok("inside".into()));
        for path in ["/../secret", "/usr/../../secret", "/absolute", "/relative"] {
            assert_eq!(below(&root, path), Err(NameMissing::FileGone), "{path}");
        }
        assert_eq!(below(&root, "/usr/lib"), Err(NameMissing::Unreadable));
        assert_eq!(below(&root.join("none"), "/usr/lib/x"), Err(NameMissing::FileGone));
    }

    #[test]
    fn old_kernels_get_names_only() {
        assert_eq!(names_only(Path::new("/usr/./lib/x")), Ok(PathBuf::from("usr/lib/x")));
        assert_eq!(names_only(Path::new("/usr/../../x")), Err(NameMissing::FileGone));
    }

    #[test]
    fn every_length_of_a_padded_build_id_is_tried() {
        let places = SearchPlaces { symfs: None, debug_dirs: vec!["/d".into()], build_id_cache: Some("/c".into()) };
        let id = BuildId::new(&[0xab, 0xcd, 0xef, 0]).unwrap();
        let paths: Vec<String> = places.paths_of(id, "elf").iter().map(|path| path.display().to_string()).collect();
        assert_eq!(
            paths,
            [
                "/c/.build-id/ab/cdef00/elf",
                "/c/.build-id/ab/cdef/elf",
                "/d/.build-id/ab/cdef00.debug",
                "/d/.build-id/ab/cdef.debug"
            ]
        );
    }
}
