//! The files that hold code, each opened once, whichever processes map it.

use crate::files::{Files, shown};
use elf::{Image, MappedCode};
use model::{BuildId, FileIdentity, FileOffset, Inode, Mapping, NameMissing, Pid};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// A file of [`Binaries`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BinaryId(u32);

/// A file that holds code.
pub struct Binary {
    /// Its path as it is shown, or a name in brackets.
    pub path: String,
    /// The open file and its headers, or why there are none.
    pub contents: Result<Arc<Contents>, NameMissing>,
    /// Tells files of one path apart: how many others came before.
    pub version: u32,
}

/// An open file and what its headers say.
pub struct Contents {
    /// The file, which stays open for as long as the profile is made.
    pub file: File,
    /// Its headers.
    pub image: Image,
    /// Its unwind tables.
    pub module: unwind::Module,
    /// The extent of the function at the ELF entry (`_start`), in ELF addresses.
    entry_function: Option<Range<u64>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    path: Box<[u8]>,
    identity: FileIdentity,
}

/// All files that hold code.
#[derive(Default)]
pub struct Binaries {
    ids: FxHashMap<Key, BinaryId>,
    binaries: Vec<Binary>,
    versions: FxHashMap<String, u32>,
}

impl Binaries {
    /// The file behind a mapping, opened if it is new.
    pub fn of(&mut self, process: Pid, mapping: &Mapping<'_>, files: &dyn Files) -> BinaryId {
        let key = Key { path: mapping.path.into(), identity: without_generation(mapping.identity) };
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let opened = if mapping.path == b"[vdso]" { files.vdso() } else { files.open(process, mapping) };
        let path = shown(mapping.path);
        let version = self.versions.entry(path.clone()).and_modify(|count| *count += 1).or_insert(0);
        let contents = opened.and_then(|file| Contents::read(file, mapping)).map(Arc::new);
        let binary = Binary { version: *version, contents, path };
        let id = BinaryId(self.binaries.len() as u32);
        self.binaries.push(binary);
        self.ids.insert(key, id);
        id
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (BinaryId, &Binary)> {
        self.binaries.iter().enumerate().map(|(index, binary)| (BinaryId(index as u32), binary))
    }
}

impl std::ops::Index<BinaryId> for Binaries {
    type Output = Binary;
    fn index(&self, id: BinaryId) -> &Binary {
        &self.binaries[id.0 as usize]
    }
}

impl Binary {
    /// The identity of its contents.
    pub fn build_id(&self) -> Option<BuildId> {
        self.contents.as_ref().ok()?.image.build_id()
    }
}

impl Contents {
    fn read(file: File, mapping: &Mapping<'_>) -> Result<Self, NameMissing> {
        let mut image = Image::open(&file).map_err(|_| NameMissing::Unreadable)?;
        // What stands in for a binary that is gone may be its debug file.
        let page = rustix::param::page_size() as u64;
        image.place_code(MappedCode { offset: mapping.offset, len: mapping.len, page });
        // A file whose tables cannot be read is walked by frame pointers.
        let sections = image.unwind_sections().unwrap_or_default();
        let entry_function = image.entry().map(|entry| {
            // Without a symbol or table, `_start` is taken for as long as glibc's and musl's are.
            image.function_containing(entry).unwrap_or(entry..entry + 64)
        });
        Ok(Self { module: unwind::Module::new(sections, image.base_address()), file, image, entry_function })
    }

    /// The ELF address at an offset of the file. An offset outside all segments has none, and nothing
    /// lies at the last one.
    pub fn address_of(&self, offset: FileOffset) -> u64 {
        self.image.address_of(offset).unwrap_or(u64::MAX)
    }

    /// How far the code lies from its ELF addresses, where the file's `offset` is mapped at
    /// `start`. To be added to an ELF address, wrapping.
    pub fn bias(&self, start: u64, offset: FileOffset) -> Option<u64> {
        let page = rustix::param::page_size() as u64;
        let segment = self.image.segments().iter().find(|segment| {
            let first_page = segment.file_offset & !(page - 1);
            segment.executable
                && (first_page..segment.file_offset.saturating_add(segment.file_size)).contains(&offset.0)
        })?;
        let address = segment.address.wrapping_sub(segment.file_offset).wrapping_add(offset.0);
        Some(start.wrapping_sub(address))
    }

    /// Whether the function at an ELF address is the first of its thread: the one at the entry,
    /// or one that has no caller by its unwind table.
    pub fn is_first_function(&self, address: u64) -> bool {
        self.is_entry_function(address) || self.module.ends_stack(address)
    }

    fn is_entry_function(&self, address: u64) -> bool {
        self.entry_function.as_ref().is_some_and(|entry| entry.contains(&address))
    }
}

/// The side-band records tell an inode's generation and /proc/PID/maps does not: it cannot be
/// part of what tells files apart.
fn without_generation(identity: FileIdentity) -> FileIdentity {
    match identity {
        FileIdentity::Inode(inode) => FileIdentity::Inode(Inode { generation: 0, ..inode }),
        other => other,
    }
}
