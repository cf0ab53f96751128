//! The headers of an ELF file (elf(5)), 32-bit or 64-bit, of either byte order, as one set of
//! plain values.

use crate::error::{Error, ErrorKind};
use crate::section::Section;
use crate::source::Source;
use object::elf::{self as abi, FileHeader32, FileHeader64};
use object::pod::{Pod, slice_from_bytes};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Endian, Endianness};
use std::ops::Range;

/// The machine that a file is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Machine {
    /// `EM_X86_64`
    X86_64,
    /// `EM_AARCH64`
    Aarch64,
    /// Another value of `e_machine`.
    Other(u16),
}

/// A `PT_LOAD` program header: a part of the file that becomes memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Where its bytes start in the file.
    pub file_offset: u64,
    /// How many bytes of the file it takes.
    pub file_size: u64,
    /// The ELF virtual address of its first byte.
    pub address: u64,
    /// Its length in memory, in bytes; what the file has not is zero.
    pub memory_size: u64,
    /// The alignment that it asks for, in bytes.
    pub alignment: u64,
    /// Whether its memory can be executed.
    pub executable: bool,
}

impl Segment {
    /// The ELF virtual addresses that the segment takes.
    pub fn addresses(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.memory_size)
    }
}

/// All headers of a file.
#[derive(Debug)]
pub(crate) struct Headers {
    pub is_64bit: bool,
    pub endian: Endianness,
    pub machine: Machine,
    pub file_type: u16,
    pub entry: u64,
    pub loads: Vec<Segment>,
    pub notes: Vec<Piece>,
    pub eh_frame_hdr: Option<Piece>,
    pub sections: Vec<Section>,
    /// Why [`Self::sections`] is empty, where it should not be.
    pub section_error: Option<Error>,
}

/// A piece of the file that a program header names.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub offset: u64,
    pub size: u64,
    pub address: u64,
    pub alignment: u64,
}

impl Headers {
    pub(crate) fn read(source: &Source) -> Result<Self, Error> {
        let ident = source.read_up_to(0, 16, "the ELF header")?;
        if ident.get(..4) != Some(&abi::ELFMAG[..]) {
            return Err(Error::new(ErrorKind::NotElf, "the ELF header"));
        }
        match ident.get(4) {
            Some(&class) if class == abi::ELFCLASS32.0 => read_class::<FileHeader32<Endianness>>(source),
            Some(&class) if class == abi::ELFCLASS64.0 => read_class::<FileHeader64<Endianness>>(source),
            Some(_) => Err(Error::new(ErrorKind::NotElf, "the ELF header")),
            None => Err(Error::new(ErrorKind::CutShort, "the ELF header")),
        }
    }
}

/// Casts a prefix of `bytes`, which the caller read in the right length.
pub(crate) fn items<'a, T: Pod>(bytes: &'a [u8], what: &'static str) -> Result<&'a [T], Error> {
    let count = bytes.len() / size_of::<T>();
    let (items, _) = slice_from_bytes(bytes, count).map_err(|()| Error::new(ErrorKind::Damaged, what))?;
    Ok(items)
}

fn read_class<Elf: FileHeader<Endian = Endianness>>(source: &Source) -> Result<Headers, Error> {
    let what = "the ELF header";
    let bytes = source.read(0, size_of::<Elf>() as u64, what)?;
    let header = Elf::parse(&bytes[..]).map_err(|_| Error::new(ErrorKind::NotElf, what))?;
    let endian = header.endian().map_err(|_| Error::new(ErrorKind::NotElf, what))?;
    let (sections, section_error) = match read_sections(source, header, endian) {
        Ok(sections) => (sections, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let mut headers = Headers {
        is_64bit: Elf::is_type_64_sized(),
        endian,
        machine: match header.e_machine(endian) {
            abi::EM_X86_64 => Machine::X86_64,
            abi::EM_AARCH64 => Machine::Aarch64,
            other => Machine::Other(other.0),
        },
        file_type: header.e_type(endian).0,
        entry: header.e_entry(endian).into(),
        loads: Vec::new(),
        notes: Vec::new(),
        eh_frame_hdr: None,
        sections,
        section_error,
    };
    read_segments(source, header, endian, &mut headers)?;
    Ok(headers)
}

fn read_segments<Elf: FileHeader<Endian = Endianness>>(
    source: &Source,
    header: &Elf,
    endian: Endianness,
    headers: &mut Headers,
) -> Result<(), Error> {
    let what = "the program headers";
    let offset: u64 = header.e_phoff(endian).into();
    let mut count = u64::from(header.e_phnum(endian));
    if offset == 0 || count == 0 {
        return Ok(());
    }
    if usize::from(header.e_phentsize(endian)) != size_of::<Elf::ProgramHeader>() {
        return Err(Error::new(ErrorKind::Damaged, what));
    }
    if count == u64::from(abi::PN_XNUM) {
        // More than the field can say: the count stands in the first section header.
        count = first_section::<Elf>(source, header, endian)?.map_or(0, |first| u64::from(first.sh_info(endian)));
    }
    let bytes = source.read(offset, count.saturating_mul(size_of::<Elf::ProgramHeader>() as u64), what)?;
    for program in items::<Elf::ProgramHeader>(&bytes, what)? {
        let piece = Piece {
            offset: program.p_offset(endian).into(),
            size: program.p_filesz(endian).into(),
            address: program.p_vaddr(endian).into(),
            alignment: program.p_align(endian).into(),
        };
        match program.p_type(endian) {
            abi::PT_LOAD => headers.loads.push(Segment {
                file_offset: piece.offset,
                file_size: piece.size,
                address: piece.address,
                memory_size: program.p_memsz(endian).into(),
                alignment: piece.alignment,
                executable: program.p_flags(endian).contains(abi::PF_X),
            }),
            abi::PT_NOTE => headers.notes.push(piece),
            abi::PT_GNU_EH_FRAME => headers.eh_frame_hdr = Some(piece),
            _ => {}
        }
    }
    Ok(())
}

fn read_sections<Elf: FileHeader<Endian = Endianness>>(
    source: &Source,
    header: &Elf,
    endian: Endianness,
) -> Result<Vec<Section>, Error> {
    let what = "the section headers";
    let offset: u64 = header.e_shoff(endian).into();
    let Some(first) = first_section(source, header, endian)? else { return Ok(Vec::new()) };
    let mut count = u64::from(header.e_shnum(endian));
    if count == 0 {
        count = first.sh_size(endian).into();
    }
    let mut names_index = u32::from(header.e_shstrndx(endian).0);
    if names_index == u32::from(abi::SHN_XINDEX.0) {
        names_index = first.sh_link(endian);
    }
    let bytes = source.read(offset, count.saturating_mul(size_of::<Elf::SectionHeader>() as u64), what)?;
    let headers = items::<Elf::SectionHeader>(&bytes, what)?;
    let names = match usize::try_from(names_index).ok().and_then(|index| headers.get(index)) {
        Some(names) => {
            source.read(names.sh_offset(endian).into(), names.sh_size(endian).into(), "the section names")?
        }
        None => Vec::new(),
    };
    Ok(headers.iter().map(|header| Section::new(header, endian, &names)).collect())
}

/// The first section header, which holds what the ELF header has no room for.
fn first_section<Elf: FileHeader<Endian = Endianness>>(
    source: &Source,
    header: &Elf,
    endian: Endianness,
) -> Result<Option<Elf::SectionHeader>, Error> {
    let what = "the section headers";
    let offset: u64 = header.e_shoff(endian).into();
    if offset == 0 {
        return Ok(None);
    }
    if usize::from(header.e_shentsize(endian)) != size_of::<Elf::SectionHeader>() {
        return Err(Error::new(ErrorKind::Damaged, what));
    }
    let bytes = source.read(offset, size_of::<Elf::SectionHeader>() as u64, what)?;
    Ok(items::<Elf::SectionHeader>(&bytes, what)?.first().copied())
}

/// An unsigned number of 1, 2, 4 or 8 bytes at the front of `bytes`.
pub(crate) fn number(bytes: &[u8], size: usize, endian: Endianness) -> Option<u64> {
    let bytes = bytes.get(..size)?;
    let mut wide = [0; 8];
    if endian.is_big_endian() {
        wide[8 - size..].copy_from_slice(bytes);
        Some(u64::from_be_bytes(wide))
    } else {
        wide[..size].copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    }
}
