//! Which unwind tables apply where in a process's memory.

use elf::{SectionData, UnwindSections};
use framehop::{ExplicitModuleSectionInfo, Unwinder as _, UnwinderNative};
use std::ops::Range;
use std::sync::Arc;

pub(crate) type Bytes = Arc<[u8]>;
type Inner = UnwinderNative<Bytes, framehop::MayAllocateDuringUnwind>;

/// The unwind tables of one file; made once, used in every process that maps the file.
#[derive(Clone, Debug)]
pub struct Module {
    sections: ExplicitModuleSectionInfo<Bytes>,
}

impl Module {
    /// The tables of a file whose lowest ELF address is `base_address`. A file without any still counts as code, which is then walked by
    /// frame pointers.
    pub fn new(sections: UnwindSections, base_address: u64) -> Self {
        let (eh_frame_svma, eh_frame) = split(sections.eh_frame);
        let (eh_frame_hdr_svma, eh_frame_hdr) = split(sections.eh_frame_hdr);
        Self {
            sections: ExplicitModuleSectionInfo {
                base_svma: base_address,
                text_svma: sections.text,
                got_svma: sections.got,
                eh_frame_svma,
                eh_frame,
                eh_frame_hdr_svma,
                eh_frame_hdr,
                debug_frame: sections.debug_frame,
                ..Default::default()
            },
        }
    }
}

fn split(section: Option<SectionData>) -> (Option<Range<u64>>, Option<Bytes>) {
    section.map(|section| (section.addresses, section.bytes)).unzip()
}

/// The unwind tables of a process, by address. Cloning it, as fork(2) does, is cheap.
#[derive(Clone)]
pub struct AddressSpace {
    pub(crate) inner: Inner,
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self { inner: Inner::new() }
    }
}

impl AddressSpace {
    /// A file's code lies at `range`; its lowest ELF address would lie at `base`.
    pub fn map(&mut self, range: Range<u64>, base: u64, module: &Module) {
        self.inner.add_module(framehop::Module::new(String::new(), range, base, module.sections.clone()));
    }

    /// What was mapped at `start` is gone.
    pub fn unmap(&mut self, start: u64) {
        self.inner.remove_module(start);
    }
}
