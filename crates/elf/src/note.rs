//! The small sections that say which file this is: the build id's note, and the link to the
//! file that holds the debug information.

use crate::headers::{Headers, Piece, number};
use crate::source::Source;
use model::BuildId;
use object::Endianness;
use object::elf as abi;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// `.gnu_debuglink`: the file with the debug information that was split off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DebugLink {
    /// The file's name, without a folder.
    pub name: OsString,
    /// The CRC-32 (IEEE) of the whole file.
    pub crc32: u32,
}

/// Notes are short. A longer piece is damage, or a core file, whose identity nobody asks for.
const MAX_NOTES: u64 = 64 << 10;

/// The build id, from the program headers or, where these name none, the section headers.
pub(crate) fn build_id(source: &Source, headers: &Headers) -> Option<BuildId> {
    let sections = headers.sections.iter().filter(|section| section.kind == abi::SHT_NOTE && section.has_bytes());
    let pieces = headers.notes.iter().cloned().chain(sections.map(|section| Piece {
        offset: section.file_offset,
        size: section.size,
        address: section.address,
        alignment: 4,
    }));
    for piece in pieces {
        // A note that cannot be read says nothing, as one that is not there.
        let Ok(bytes) = source.read_up_to(piece.offset, piece.size.min(MAX_NOTES), "a note") else { continue };
        if let Some(id) = build_id_of(&bytes, piece.alignment, headers.endian) {
            return Some(id);
        }
    }
    None
}

/// The contents of `.gnu_debuglink`: a name, NUL, padding to four bytes, the checksum.
pub(crate) fn debug_link(bytes: &[u8], endian: Endianness) -> Option<DebugLink> {
    let name = model::text::until_nul(bytes);
    let checksum = (name.len() + 1).next_multiple_of(4);
    let crc32 = u32::try_from(number(bytes.get(checksum..)?, 4, endian)?).ok()?;
    // A name with a folder could lead anywhere; no tool writes one.
    if name.is_empty() || name.contains(&b'/') || name == b"." || name == b".." {
        return None;
    }
    Some(DebugLink { name: OsString::from_vec(name.to_vec()), crc32 })
}

/// The build id among notes that lie in no file, such as the running kernel's
/// (`/sys/kernel/notes`): four bytes alignment, this machine's byte order.
pub fn build_id_of_notes(bytes: &[u8]) -> Option<BuildId> {
    let endian = if cfg!(target_endian = "little") { Endianness::Little } else { Endianness::Big };
    build_id_of(bytes, 4, endian)
}

fn build_id_of(mut bytes: &[u8], alignment: u64, endian: Endianness) -> Option<BuildId> {
    let alignment = if alignment == 8 { 8 } else { 4 };
    while bytes.len() >= 12 {
        let field = |at: usize| usize::try_from(number(&bytes[at..], 4, endian)?).ok();
        let (name_len, data_len, kind) = (field(0)?, field(4)?, field(8)?);
        let data_start = 12usize.checked_add(name_len)?.checked_next_multiple_of(alignment)?;
        let data_end = data_start.checked_add(data_len)?;
        let name = bytes.get(12..12usize.checked_add(name_len)?)?;
        if kind == abi::NT_GNU_BUILD_ID.0 as usize && name == b"GNU\0" {
            return BuildId::new(bytes.get(data_start..data_end)?);
        }
        bytes = bytes.get(data_end.checked_next_multiple_of(alignment)?..)?;
    }
    None
}
