//! Where the debug information lies that was split off a binary: under its build id, or under
//! the name that it holds itself. Local files only. What is found is believed only if it is
//! the right file: the same build id or, where one of the two has none, the right checksum.

use elf::{DebugLink, Image};
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file with debug information that belongs to a binary.
#[derive(Debug)]
pub struct DebugFile {
    /// The open file.
    pub file: File,
    /// Its headers.
    pub image: Image,
    /// Where it was found.
    pub path: PathBuf,
}

/// The separate debug file of the binary `image`, which was open as `file` and is known as
/// `path`. `debug_dirs` are folders like `/usr/lib/debug`, searched in order.
pub fn find_debug_file(file: &File, image: &Image, path: &Path, debug_dirs: &[PathBuf]) -> Option<DebugFile> {
    let by_build_id = by_build_id(image, debug_dirs).into_iter().map(|candidate| (candidate, None));
    let by_link = image.debug_link().map_or(Vec::new(), |link| by_link(link, path, debug_dirs));
    let by_link = by_link.into_iter().map(|candidate| (candidate, image.debug_link()));
    by_build_id.chain(by_link).find_map(|(candidate, link)| open(candidate, link, file, image))
}

/// `DIR/.build-id/ab/cdef….debug`
fn by_build_id(image: &Image, debug_dirs: &[PathBuf]) -> Vec<PathBuf> {
    let Some(id) = image.build_id().map(|id| id.to_string()).filter(|id| id.len() > 2) else { return Vec::new() };
    let (folder, name) = id.split_at(2);
    debug_dirs.iter().map(|dir| dir.join(".build-id").join(folder).join(format!("{name}.debug"))).collect()
}

/// Beside the binary, in `.debug` beside it, and in the binary's folder under each of the
/// debug folders: where gdb looks, too.
fn by_link(link: &DebugLink, path: &Path, debug_dirs: &[PathBuf]) -> Vec<PathBuf> {
    let Some(folder) = path.parent().filter(|_| path.is_absolute()) else { return Vec::new() };
    let below_root = folder.strip_prefix("/").unwrap_or(folder);
    let mirrored = debug_dirs.iter().map(|dir| dir.join(below_root).join(&link.name));
    [folder.join(&link.name), folder.join(".debug").join(&link.name)].into_iter().chain(mirrored).collect()
}

fn open(path: PathBuf, link: Option<&DebugLink>, binary: &File, image: &Image) -> Option<DebugFile> {
    // Not to wait for the writer of a pipe that lies there.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, &path, flags, Mode::empty()).ok()?);
    let (metadata, own) = (file.metadata().ok()?, binary.metadata().ok()?);
    if !metadata.is_file() || (metadata.dev(), metadata.ino()) == (own.dev(), own.ino()) {
        return None;
    }
    let found = Image::open(&file).ok()?;
    let belongs = match (image.build_id(), found.build_id()) {
        (Some(wanted), Some(id)) => wanted == id,
        _ => link.is_some_and(|link| checksum(&file) == Some(link.crc32)),
    };
    (belongs && found.machine() == image.machine()).then_some(DebugFile { file, image: found, path })
}

/// The CRC-32 of a whole file.
fn checksum(mut file: &File) -> Option<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(hasher.finalize()),
            len => hasher.update(&piece[..len]),
        }
    }
}
