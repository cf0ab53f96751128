//! The sections that an unwinder works from, found by the section headers or, where a binary
//! has none, by its program headers.

use crate::error::Error;
use crate::frame_entry::FrameTable;
use crate::headers::Segment;
use crate::image::Image;
use crate::section::SectionData;
use std::ops::Range;
use std::sync::Arc;

/// What is known of a binary's frames. Ranges are ELF virtual addresses.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct UnwindSections {
    /// Where the code lies: `.text`, or all executable segments.
    pub text: Option<Range<u64>>,
    /// `.eh_frame`. Without section headers its end is not known; the rest of its segment
    /// comes with it then.
    pub eh_frame: Option<SectionData>,
    /// `.eh_frame_hdr`: the sorted index of `.eh_frame`.
    pub eh_frame_hdr: Option<SectionData>,
    /// `.debug_frame`, decompressed.
    pub debug_frame: Option<Arc<[u8]>>,
    /// Where `.got` lies; pointers of `.eh_frame` can be relative to it.
    pub got: Option<Range<u64>>,
}

impl Image {
    /// The sections that an unwinder works from. They are read at every call: keep them.
    pub fn unwind_sections(&self) -> Result<UnwindSections, Error> {
        let debug_frame = self.section(".debug_frame").or_else(|| self.section(".zdebug_frame"));
        let mut found = UnwindSections {
            text: self.text_range(),
            eh_frame: self.named(".eh_frame")?,
            eh_frame_hdr: self.named(".eh_frame_hdr")?,
            debug_frame: debug_frame.map(|section| self.section_data(section)).transpose()?,
            got: self.section(".got").map(|section| section.addresses()),
        };
        let segment = self.headers.eh_frame_hdr.as_ref().filter(|piece| piece.size > 0 && !self.is_only_debug());
        if let (None, Some(piece)) = (&found.eh_frame_hdr, segment) {
            let bytes = self.source.read_shared(piece.offset, piece.size, ".eh_frame_hdr")?;
            let addresses = piece.address..piece.address.saturating_add(piece.size);
            found.eh_frame_hdr = Some(SectionData { addresses, bytes });
        }
        if found.eh_frame.is_none() {
            found.eh_frame = self.eh_frame_of_segment()?;
        }
        Ok(found)
    }

    /// The bytes of `.text`, for unwinders that look at instructions. They can be 100 MB.
    pub fn text(&self) -> Result<Option<SectionData>, Error> {
        self.named(".text")
    }

    fn named(&self, name: &str) -> Result<Option<SectionData>, Error> {
        let Some(section) = self.section(name) else { return Ok(None) };
        let bytes = self.section_data(section)?;
        Ok(Some(SectionData { addresses: section.addresses(), bytes }))
    }

    fn text_range(&self) -> Option<Range<u64>> {
        if let Some(section) = self.section(".text") {
            return Some(section.addresses());
        }
        let code = self.segments().iter().filter(|segment| segment.executable).map(Segment::addresses);
        code.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
    }

    /// `.eh_frame` by way of the pointer in `.eh_frame_hdr`, up to its segment's end.
    fn eh_frame_of_segment(&self) -> Result<Option<SectionData>, Error> {
        let Some(start) = FrameTable::open(self).map(|table| table.eh_frame()) else { return Ok(None) };
        let segment = self.segments().iter().find(|segment| segment.addresses().contains(&start));
        let Some(segment) = segment else { return Ok(None) };
        let within = start - segment.address;
        let Some(len) = segment.file_size.checked_sub(within) else { return Ok(None) };
        let bytes = self.source.read_shared(segment.file_offset.saturating_add(within), len, ".eh_frame")?;
        Ok(Some(SectionData { addresses: start..start.saturating_add(len), bytes }))
    }
}
