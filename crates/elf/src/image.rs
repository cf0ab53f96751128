//! An ELF file that is open: its headers in memory, everything else read when asked for.

use crate::error::Error;
use crate::headers::{Headers, Machine, Segment};
use crate::note::{self, DebugLink};
use crate::source::Source;
use model::{BuildId, FileOffset};
use object::elf as abi;
use std::fs::File;

/// An ELF file. Addresses are ELF virtual addresses: those that the file itself states, before
/// the loader has moved it.
#[derive(Debug)]
pub struct Image {
    pub(crate) source: Source,
    pub(crate) headers: Headers,
    build_id: Option<BuildId>,
    debug_link: Option<DebugLink>,
}

impl Image {
    /// The ELF file behind `file`, of which a second descriptor is kept. `file` must be open
    /// for reading; its position is neither used nor moved.
    pub fn open(file: &File) -> Result<Self, Error> {
        Self::parse(Source::from_file(file)?)
    }

    /// An ELF file in memory: the vDSO, or a test's.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Error> {
        Self::parse(Source::Bytes(bytes))
    }

    /// The `NT_GNU_BUILD_ID` note.
    pub fn build_id(&self) -> Option<BuildId> {
        self.build_id
    }

    /// The machine that the file is for.
    pub fn machine(&self) -> Machine {
        self.headers.machine
    }

    /// Whether the file is of the 64-bit class.
    pub fn is_64bit(&self) -> bool {
        self.headers.is_64bit
    }

    /// Whether numbers in the file have their lowest byte first.
    pub fn is_little_endian(&self) -> bool {
        self.headers.endian == object::Endianness::Little
    }

    /// Whether the loader may put the file where it likes (`ET_DYN`: shared objects and
    /// position-independent executables).
    pub fn is_position_independent(&self) -> bool {
        self.headers.file_type == abi::ET_DYN.0
    }

    /// The address at which the program starts; `None` in most shared objects.
    pub fn entry(&self) -> Option<u64> {
        Some(self.headers.entry).filter(|&entry| entry != 0)
    }

    /// The parts of the file that become memory (`PT_LOAD`), in the file's order.
    pub fn segments(&self) -> &[Segment] {
        &self.headers.loads
    }

    /// The address that the byte at `offset` of the file gets. Where two segments hold the
    /// byte, the executable one counts, since code is what is asked for.
    pub fn address_of(&self, offset: FileOffset) -> Option<u64> {
        let address = |segment: &Segment| {
            let within = offset.0.checked_sub(segment.file_offset).filter(|&within| within < segment.file_size)?;
            segment.address.checked_add(within)
        };
        let (code, data): (Vec<_>, Vec<_>) = self.segments().iter().partition(|segment| segment.executable);
        code.into_iter().chain(data).find_map(address)
    }

    /// The lowest `PT_LOAD` address, rounded down to a page of 4 KiB (or to the segment's own
    /// alignment, where that is less), as the loader does; 0 without segments.
    pub fn base_address(&self) -> u64 {
        let lowest = self.segments().iter().min_by_key(|segment| segment.address);
        lowest.map_or(0, |segment| segment.address - segment.address % segment.alignment.clamp(1, 4096))
    }

    /// Where the debug information was split off to.
    pub fn debug_link(&self) -> Option<&DebugLink> {
        self.debug_link.as_ref()
    }

    /// Whether the file has a symbol table, full (`.symtab`) or dynamic (`.dynsym`).
    pub fn has_symbols(&self) -> bool {
        [".symtab", ".dynsym"].iter().any(|name| self.section(name).is_some())
    }

    /// Whether the file itself holds DWARF debug information, compressed or not.
    pub fn has_debug_info(&self) -> bool {
        [".debug_info", ".zdebug_info"].iter().any(|name| self.section(name).is_some())
    }

    /// The length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// What kept the section headers from being read, where the file states some. Without
    /// them the file's identity and segments are known, but not its symbols.
    pub fn damage(&self) -> Option<&Error> {
        self.headers.section_error.as_ref()
    }

    fn parse(source: Source) -> Result<Self, Error> {
        let headers = Headers::read(&source)?;
        let mut image = Self { build_id: note::build_id(&source, &headers), debug_link: None, source, headers };
        // A link that cannot be read leads nowhere, as one that is not there.
        image.debug_link = image
            .section(".gnu_debuglink")
            .and_then(|section| image.section_data(section).ok())
            .and_then(|bytes| note::debug_link(&bytes, image.headers.endian));
        Ok(image)
    }
}
