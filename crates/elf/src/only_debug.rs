//! Where the code of a binary lay of which only the debug file is at hand. Splitting keeps the
//! addresses, but not where the code lay in the file: what had offset 0x1000 is said to lie at 0,
//! with no bytes (binutils), or at its old place (elfutils). A process that had the binary mapped
//! knows: its mapping of the code starts with the segment's first page.

use crate::headers::Segment;
use crate::image::Image;
use model::FileOffset;

/// How a process had code of a file mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MappedCode {
    /// The file's offset at the mapping's start.
    pub offset: FileOffset,
    /// The mapping's length, in bytes.
    pub len: u64,
    /// The size of a page of the process's machine, in bytes.
    pub page: u64,
}

impl Image {
    /// Gives the code of a debug file its place in the whole file, so that [`Self::address_of`] is
    /// right for it. Nothing changes where the file has its code itself, or where it cannot be told
    /// which segment was mapped.
    pub fn place_code(&mut self, mapped: MappedCode) {
        if !self.is_only_debug() || mapped.page == 0 {
            return;
        }
        let first_page = |segment: &Segment| segment.address % mapped.page;
        let pages = |segment: &Segment| {
            let len = segment.memory_size.checked_add(first_page(segment))?;
            len.checked_next_multiple_of(mapped.page)
        };
        let len = mapped.len.checked_next_multiple_of(mapped.page);
        let mut code: Vec<&mut Segment> =
            self.headers.loads.iter_mut().filter(|segment| segment.executable && segment.memory_size > 0).collect();
        // A library whose first segment is code is mapped whole first, and its data over it. A
        // mapping that is shorter than the segment is a part of it, nobody knows which.
        if let [only] = &mut code[..] {
            if pages(only) <= len && pages(only).is_some() {
                only.place(mapped.offset, first_page(only));
            }
            return;
        }
        let mut fitting = code.into_iter().filter(|segment| pages(segment).is_some() && pages(segment) == len);
        if let (Some(segment), None) = (fitting.next(), fitting.next()) {
            segment.place(mapped.offset, first_page(segment));
        }
    }
}

impl Segment {
    fn place(&mut self, first_page: FileOffset, within_page: u64) {
        self.file_offset = first_page.0.saturating_add(within_page);
        self.file_size = self.memory_size;
    }
}
