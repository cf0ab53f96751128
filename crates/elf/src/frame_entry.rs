//! The extent of one function by its entry in `.eh_frame`, found with the sorted table of
//! `.eh_frame_hdr` and a few small reads instead of the whole sections. Both are described in
//! the Linux Standard Base, Core Generic, chapter "Exception Frames".

use crate::headers::{Piece, number};
use crate::image::Image;
use object::Endianness;
use std::ops::Range;

/// Pointer encodings (DW_EH_PE_*): the format stands in the low four bits, what the pointer
/// is relative to in the next three.
mod encoding {
    pub(super) const FORMAT: u8 = 0x0f;
    pub(super) const RELATIVE_TO: u8 = 0x70;
    pub(super) const ABSOLUTE: u8 = 0x00;
    pub(super) const TO_ITSELF: u8 = 0x10;
    pub(super) const TO_TABLE: u8 = 0x30;
    pub(super) const INDIRECT: u8 = 0x80;
    /// `datarel | sdata4`, the only one for which linkers write a sorted table.
    pub(super) const SORTED_TABLE: u8 = 0x3b;
}

/// One entry of the sorted table: where a function starts, and where its frame entry lies,
/// both as 32-bit distances from the table's section.
const ROW: u64 = 8;
/// The bytes before the instructions of a frame entry or of its common part fit in this.
const ENTRY_HEAD: u64 = 96;

/// `.eh_frame_hdr` of an image.
pub(crate) struct FrameTable<'a> {
    image: &'a Image,
    section: Piece,
    eh_frame: u64,
    /// The offset in the file of the first row, and how many there are; none when unsorted.
    rows: (u64, u64),
}

impl<'a> FrameTable<'a> {
    pub(crate) fn open(image: &'a Image) -> Option<Self> {
        // Its program headers lead to where the table lies in the whole file.
        if image.is_only_debug() {
            return None;
        }
        let section = match image.section(".eh_frame_hdr") {
            Some(section) => {
                Piece { offset: section.file_offset, size: section.size, address: section.address, alignment: 4 }
            }
            None => image.headers.eh_frame_hdr.clone()?,
        };
        let bytes = image.source.read_up_to(section.offset, section.size.min(32), ".eh_frame_hdr").ok()?;
        let mut reader = Reader::new(image, &bytes, section.address);
        if reader.byte()? != 1 {
            return None;
        }
        let (pointer, count, table) = (reader.byte()?, reader.byte()?, reader.byte()?);
        let eh_frame = reader.pointer(pointer, section.address)?;
        let mut rows = (0, 0);
        if table == encoding::SORTED_TABLE {
            let count = reader.pointer(count, section.address).unwrap_or(0);
            let start = reader.at as u64;
            rows = (section.offset.checked_add(start)?, count.min(section.size.saturating_sub(start) / ROW));
        }
        Some(Self { image, section, eh_frame, rows })
    }

    /// The address of `.eh_frame`.
    pub(crate) fn eh_frame(&self) -> u64 {
        self.eh_frame
    }

    /// The extent of the function at `address`.
    pub(crate) fn function_containing(&self, address: u64) -> Option<Range<u64>> {
        // The last row that does not start behind the address.
        let (mut low, mut high) = (0, self.rows.1);
        let mut entry = None;
        while low < high {
            let middle = low + (high - low) / 2;
            let (start, found) = self.row(middle)?;
            if start <= address {
                entry = Some(found);
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.extent(entry?).filter(|extent| extent.contains(&address))
    }

    fn row(&self, index: u64) -> Option<(u64, u64)> {
        let bytes = self.image.source.read(self.rows.0.checked_add(index * ROW)?, ROW, ".eh_frame_hdr").ok()?;
        let mut reader = Reader::new(self.image, &bytes, 0);
        let mut field = || reader.pointer(encoding::SORTED_TABLE, self.section.address);
        Some((field()?, field()?))
    }

    /// The function that the frame entry (FDE) at `entry` describes.
    fn extent(&self, entry: u64) -> Option<Range<u64>> {
        let bytes = self.head(entry)?;
        let mut reader = Reader::new(self.image, &bytes, entry);
        reader.entry_length()?;
        let common = entry.checked_add(reader.at as u64)?.checked_sub(reader.unsigned(4)?)?;
        let encoding = self.pointer_encoding(common)?;
        let start = reader.pointer(encoding, 0)?;
        let len = reader.pointer(encoding & encoding::FORMAT, 0)?;
        Some(start..start.checked_add(len)?)
    }

    /// How the entries that share the common part (CIE) at `common` write their pointers.
    fn pointer_encoding(&self, common: u64) -> Option<u8> {
        let bytes = self.head(common)?;
        let mut reader = Reader::new(self.image, &bytes, common);
        reader.entry_length()?;
        reader.unsigned(4)?;
        let version = reader.byte()?;
        let augmentation = model::text::until_nul(reader.bytes.get(reader.at..)?);
        reader.at += augmentation.len() + 1;
        if version == 4 {
            reader.unsigned(2)?;
        }
        reader.skip_leb128()?;
        reader.skip_leb128()?;
        if version == 1 {
            reader.byte()?;
        } else {
            reader.skip_leb128()?;
        }
        let Some(letters) = augmentation.strip_prefix(b"z") else { return Some(encoding::ABSOLUTE) };
        reader.skip_leb128()?;
        for letter in letters {
            match letter {
                b'R' => return reader.byte(),
                b'L' => _ = reader.byte()?,
                b'P' => {
                    let personality = reader.byte()?;
                    reader.number(personality)?;
                }
                b'S' | b'B' | b'G' => {}
                _ => return None,
            }
        }
        Some(encoding::ABSOLUTE)
    }

    fn head(&self, address: u64) -> Option<Vec<u8>> {
        let offset = self.image.offset_of(address)?;
        self.image.source.read_up_to(offset, ENTRY_HEAD, ".eh_frame").ok()
    }
}

/// Walks over a few bytes that lie at `address`.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    address: u64,
    endian: Endianness,
    is_64bit: bool,
}

impl<'a> Reader<'a> {
    fn new(image: &Image, bytes: &'a [u8], address: u64) -> Self {
        Self { bytes, at: 0, address, endian: image.headers.endian, is_64bit: image.headers.is_64bit }
    }

    fn unsigned(&mut self, size: usize) -> Option<u64> {
        let value = number(self.bytes.get(self.at..)?, size, self.endian)?;
        self.at += size;
        Some(value)
    }

    fn byte(&mut self) -> Option<u8> {
        self.unsigned(1).map(|byte| byte as u8)
    }

    /// The length that starts an entry. The 64-bit form, for entries beyond 4 GB, is not met.
    fn entry_length(&mut self) -> Option<u64> {
        self.unsigned(4).filter(|&length| length != 0 && length < 0xffff_fff0)
    }

    fn skip_leb128(&mut self) -> Option<()> {
        while self.byte()? & 0x80 != 0 {}
        Some(())
    }

    /// A number of this encoding's format, sign-extended where it is a signed one.
    fn number(&mut self, encoding: u8) -> Option<u64> {
        let extend = |value: u64, bits: u32| ((value << (64 - bits)) as i64 >> (64 - bits)) as u64;
        match encoding & encoding::FORMAT {
            0x00 | 0x08 => self.unsigned(if self.is_64bit { 8 } else { 4 }),
            0x02 => self.unsigned(2),
            0x03 => self.unsigned(4),
            0x04 | 0x0c => self.unsigned(8),
            0x0a => self.unsigned(2).map(|value| extend(value, 16)),
            0x0b => self.unsigned(4).map(|value| extend(value, 32)),
            _ => None,
        }
    }

    /// A pointer; `table` is where those that are relative to the table count from.
    fn pointer(&mut self, encoding: u8, table: u64) -> Option<u64> {
        let here = self.address.wrapping_add(self.at as u64);
        let value = self.number(encoding)?;
        let base = match encoding & (encoding::RELATIVE_TO | encoding::INDIRECT) {
            encoding::ABSOLUTE => 0,
            encoding::TO_ITSELF => here,
            encoding::TO_TABLE => table,
            _ => return None,
        };
        let address = base.wrapping_add(value);
        Some(if self.is_64bit { address } else { address & u64::from(u32::MAX) })
    }
}
