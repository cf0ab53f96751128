//! How far a function reaches, without its name: by its unwind entry, or by the symbol table.
//! This recognises `_start` as the bottom of a stack.

use crate::frame_entry::FrameTable;
use crate::headers::{Segment, items};
use crate::image::Image;
use crate::section::Section;
use object::Endianness;
use object::elf::{self as abi, Sym32, Sym64};
use object::read::elf::Sym;
use std::ops::Range;

impl Image {
    /// The extent of the function at an ELF virtual address: what `.eh_frame` says or, where
    /// that has no entry, the symbol table. `None` where neither covers the address.
    pub fn function_containing(&self, address: u64) -> Option<Range<u64>> {
        FrameTable::open(self).and_then(|table| table.function_containing(address)).or_else(|| {
            [".symtab", ".dynsym"].iter().filter_map(|name| self.section(name)).find_map(|section| {
                if self.is_64bit() {
                    self.symbol_extent::<Sym64<Endianness>>(section, address)
                } else {
                    self.symbol_extent::<Sym32<Endianness>>(section, address)
                }
            })
        })
    }

    /// Where in the file the byte lies that gets this ELF virtual address.
    pub(crate) fn offset_of(&self, address: u64) -> Option<u64> {
        self.segments().iter().find_map(|segment| {
            let within = address.checked_sub(segment.address).filter(|&within| within < segment.file_size)?;
            segment.file_offset.checked_add(within)
        })
    }

    /// The symbol table is read piece by piece: it can be 20 MB.
    fn symbol_extent<S: Sym<Endian = Endianness>>(&self, section: &Section, address: u64) -> Option<Range<u64>> {
        const PIECE: u64 = 4096;
        let end = self.code_end(address)?;
        let mut nearest = Nearest { start: None, sized_end: None, next: end };
        let size = size_of::<S>() as u64;
        let (mut offset, mut left) = (section.file_offset, section.size / size);
        while left > 0 {
            let count = left.min(PIECE);
            let bytes = self.source.read(offset, count * size, "the symbol table").ok()?;
            for symbol in items::<S>(&bytes, "the symbol table").ok()? {
                nearest.consider(symbol, self.headers.endian, address);
            }
            offset += count * size;
            left -= count;
        }
        let start = nearest.start?;
        Some(start..nearest.sized_end.unwrap_or(nearest.next))
    }

    /// The end of the section or segment of code that holds the address.
    fn code_end(&self, address: u64) -> Option<u64> {
        let segment = self.segments().iter().find(|segment| segment.executable && segment.addresses().contains(&address));
        let section = self.sections().iter().find(|section| section.address != 0 && section.addresses().contains(&address));
        section.map(|section| section.addresses().end).or(segment.map(|segment: &Segment| segment.addresses().end))
    }
}

/// The symbol that starts last at or before an address.
struct Nearest {
    start: Option<u64>,
    /// Where the symbol ends, if it has a size.
    sized_end: Option<u64>,
    /// Where the next symbol starts, which ends one without a size.
    next: u64,
}

impl Nearest {
    fn consider<S: Sym<Endian = Endianness>>(&mut self, symbol: &S, endian: Endianness, address: u64) {
        let is_function = matches!(symbol.st_type(), abi::STT_FUNC | abi::STT_GNU_IFUNC);
        // Hand-written assembly, `_start` in musl for one, often has a label without a type;
        // local ones mark data and instruction sets.
        let is_label = symbol.st_type() == abi::STT_NOTYPE && symbol.st_bind() != abi::STB_LOCAL;
        if symbol.st_shndx(endian) == abi::SHN_UNDEF || !(is_function || is_label) {
            return;
        }
        let (start, size): (u64, u64) = (symbol.st_value(endian).into(), symbol.st_size(endian).into());
        let end = Some(start.saturating_add(size)).filter(|_| size > 0);
        if start > address {
            self.next = self.next.min(start);
        } else if end.is_none_or(|end| end > address) && (Some(start), end) >= (self.start, self.sized_end) {
            (self.start, self.sized_end) = (Some(start), end);
        }
    }
}
