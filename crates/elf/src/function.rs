//! How far a function reaches, without its name: by its unwind entry, or by the symbol table.
//! This recognises `_start` as the bottom of a stack.

use crate::frame_entry::FrameTable;
use crate::image::Image;
use std::ops::Range;

impl Image {
    /// The extent of the function at an ELF virtual address: what `.eh_frame` says or, where
    /// that has no entry, the symbol table. `None` where neither covers the address.
    pub fn function_containing(&self, address: u64) -> Option<Range<u64>> {
        FrameTable::open(self).and_then(|table| table.function_containing(address)).or_else(|| {
            [self.symbols(), self.dynamic_symbols()].into_iter().flatten().find_map(|table| table.extent(address))
        })
    }

    /// Where in the file the byte lies that gets this ELF virtual address.
    pub(crate) fn offset_of(&self, address: u64) -> Option<u64> {
        self.segments().iter().find_map(|segment| {
            let within = address.checked_sub(segment.address).filter(|&within| within < segment.file_size)?;
            segment.file_offset.checked_add(within)
        })
    }
}
