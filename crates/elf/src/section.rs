//! Sections: what they are called, where they lie, and their bytes, decompressed.

use crate::error::{Error, ErrorKind};
use crate::headers::{items, number};
use crate::image::Image;
use object::Endianness;
use object::elf as abi;
use object::read::elf::{CompressionHeader, SectionHeader};
use object::read::{CompressedData, CompressionFormat};
use std::ops::Range;
use std::sync::Arc;

/// A section of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its name, as bytes that need not be UTF-8.
    pub name: Box<[u8]>,
    /// Where its bytes start in the file.
    pub file_offset: u64,
    /// Its length in bytes, as the file holds it (compressed where it is).
    pub size: u64,
    /// The ELF virtual address of its first byte, 0 where it is not loaded.
    pub address: u64,
    /// Its `sh_type`.
    pub(crate) kind: abi::SectionType,
    /// Its `sh_link`.
    pub(crate) link: u32,
    /// Its `sh_entsize`.
    pub(crate) entry_size: u64,
    /// Whether it holds instructions.
    executable: bool,
    compressed: bool,
}

/// The bytes of a section, and where they would lie in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SectionData {
    /// ELF virtual addresses.
    pub addresses: Range<u64>,
    /// The bytes, decompressed.
    pub bytes: Arc<[u8]>,
}

impl Image {
    /// The sections, in the file's order; empty where the file has no section headers.
    pub fn sections(&self) -> &[Section] {
        &self.headers.sections
    }

    /// The first section of this name that has bytes in the file. An only-debug file names the
    /// sections of the binary that it belongs to, without their bytes.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections().iter().find(|section| *section.name == *name.as_bytes() && section.has_bytes())
    }

    /// The ELF virtual addresses of the sections that hold instructions.
    pub fn code_sections(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.sections().iter().filter(|section| section.executable).map(Section::addresses)
    }

    /// Whether this is a debug file that was split off a binary: it names the binary's sections
    /// of instructions and has none of their bytes.
    pub fn is_only_debug(&self) -> bool {
        let mut code = self.sections().iter().filter(|section| section.executable).peekable();
        code.peek().is_some() && code.all(|section| !section.has_bytes())
    }

    /// The bytes of a section, decompressed.
    pub fn section_data(&self, section: &Section) -> Result<Arc<[u8]>, Error> {
        let what = "a section";
        if !section.has_bytes() {
            return Ok(Arc::new([]));
        }
        if !section.is_compressed() {
            return self.source.read_shared(section.file_offset, section.size, what);
        }
        let bytes = self.source.read(section.file_offset, section.size, what)?;
        let packed = self.packed(section, &bytes)?;
        let bytes = packed.decompress().map_err(|_| Error::new(ErrorKind::Damaged, what))?;
        Ok(bytes.into())
    }

    /// The length of a section once it is decompressed, in bytes, as far as its header can be
    /// believed. An error means that reading it would fail, or exhaust memory.
    pub fn section_len(&self, section: &Section) -> Result<u64, Error> {
        let available = self.source.len().saturating_sub(section.file_offset);
        if section.has_bytes() && section.size > available {
            return Err(Error::new(ErrorKind::CutShort, "a section"));
        }
        if !section.has_bytes() || !section.is_compressed() {
            return Ok(section.size);
        }
        let head = self.source.read_up_to(section.file_offset, section.size.min(32), "a section")?;
        Ok(self.packed(section, &head)?.uncompressed_size)
    }

    /// What a compressed section holds; `bytes` starts with its header.
    fn packed<'a>(&self, section: &Section, bytes: &'a [u8]) -> Result<CompressedData<'a>, Error> {
        /// More than any tool's debug information shrinks; zlib cannot shrink further at all.
        const BEST_RATIO: u64 = 1032;
        let what = "a compressed section";
        let packed = if section.compressed {
            match self.headers.is_64bit {
                true => packed::<abi::CompressionHeader64<Endianness>>(bytes, self.headers.endian)?,
                false => packed::<abi::CompressionHeader32<Endianness>>(bytes, self.headers.endian)?,
            }
        } else {
            // The GNU form from before SHF_COMPRESSED: `ZLIB`, the size in big endian, the stream.
            let damaged = || Error::new(ErrorKind::Damaged, what);
            let stream = bytes.strip_prefix(b"ZLIB").ok_or_else(damaged)?;
            let uncompressed_size = number(stream, 8, Endianness::Big).ok_or_else(damaged)?;
            CompressedData { format: CompressionFormat::Zlib, data: &stream[8..], uncompressed_size }
        };
        if packed.uncompressed_size > section.size.saturating_mul(BEST_RATIO) {
            return Err(Error::new(ErrorKind::Compression, what));
        }
        Ok(packed)
    }
}

impl Section {
    pub(crate) fn new<H: SectionHeader<Endian = Endianness>>(header: &H, endian: Endianness, names: &[u8]) -> Self {
        let name = usize::try_from(header.sh_name(endian)).ok().and_then(|start| names.get(start..)).unwrap_or(&[]);
        // Real names are short. Without this, a small damaged file could name the whole string
        // table in each of thousands of headers.
        let name = &name[..name.len().min(256)];
        Self {
            name: model::text::until_nul(name).into(),
            file_offset: header.sh_offset(endian).into(),
            size: header.sh_size(endian).into(),
            address: header.sh_addr(endian).into(),
            kind: header.sh_type(endian),
            link: header.sh_link(endian),
            entry_size: header.sh_entsize(endian).into(),
            executable: header.sh_flags(endian).contains(abi::SHF_EXECINSTR),
            compressed: header.sh_flags(endian).contains(abi::SHF_COMPRESSED),
        }
    }

    /// The ELF virtual addresses that the section takes.
    pub fn addresses(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.size)
    }

    fn is_compressed(&self) -> bool {
        self.compressed || self.name.starts_with(b".zdebug")
    }

    pub(crate) fn has_bytes(&self) -> bool {
        self.kind != abi::SHT_NOBITS && self.size > 0
    }
}

/// What an `SHF_COMPRESSED` section holds.
fn packed<H>(bytes: &[u8], endian: Endianness) -> Result<CompressedData<'_>, Error>
where
    H: CompressionHeader<Endian = Endianness>,
{
    let what = "a compressed section";
    let data = bytes.get(size_of::<H>()..).ok_or_else(|| Error::new(ErrorKind::Damaged, what))?;
    let header = items::<H>(bytes, what)?.first().ok_or_else(|| Error::new(ErrorKind::Damaged, what))?;
    let format = match header.ch_type(endian) {
        abi::ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
        abi::ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
        _ => return Err(Error::new(ErrorKind::Compression, what)),
    };
    Ok(CompressedData { format, data, uncompressed_size: header.ch_size(endian).into() })
}
