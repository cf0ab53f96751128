//! Which unwind tables apply where in a process's memory.

use crate::frame_kinds::FrameKinds;
use elf::{SectionData, UnwindSections};
use framehop::{ExplicitModuleSectionInfo, Unwinder as _, UnwinderNative};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

pub(crate) type Bytes = Arc<[u8]>;
type Inner = UnwinderNative<Bytes, framehop::MayAllocateDuringUnwind>;

/// The unwind tables of one file; made once, used in every process that maps the file.
#[derive(Clone, Debug)]
pub struct Module {
    sections: ExplicitModuleSectionInfo<Bytes>,
    kinds: FrameKinds,
}

impl Module {
    /// The tables of a file whose lowest ELF address is `base_address`. A file without any still
    /// counts as code, which is then walked by frame pointers.
    pub fn new(sections: UnwindSections, base_address: u64) -> Self {
        let kinds = FrameKinds::new(&sections);
        let (eh_frame_svma, eh_frame) = split(sections.eh_frame);
        let (eh_frame_hdr_svma, eh_frame_hdr) = split(sections.eh_frame_hdr);
        Self {
            kinds,
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

impl Module {
    /// Whether what lies at an ELF address (a look-up address) is the first function of a thread
    /// by its unwind table: it has no caller.
    pub fn ends_stack(&self, address: u64) -> bool {
        self.kinds.ends_at(address)
    }
}

fn split(section: Option<SectionData>) -> (Option<Range<u64>>, Option<Bytes>) {
    section.map(|section| (section.addresses, section.bytes)).unzip()
}

/// The unwind tables of a process, by address. Cloning it, as fork(2) does, is cheap.
#[derive(Clone)]
pub struct AddressSpace {
    pub(crate) inner: Inner,
    mapped: Vec<Mapped>,
    /// What was found out of addresses: a program has few of them.
    signal_frames: RefCell<FxHashMap<u64, bool>>,
}

#[derive(Clone)]
struct Mapped {
    range: Range<u64>,
    /// To be subtracted from an address to get an ELF address, wrapping.
    bias: u64,
    kinds: FrameKinds,
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self { inner: Inner::new(), mapped: Vec::new(), signal_frames: RefCell::default() }
    }
}

impl AddressSpace {
    /// A file's code lies at `range`; its lowest ELF address would lie at `base`.
    pub fn map(&mut self, range: Range<u64>, base: u64, module: &Module) {
        let bias = base.wrapping_sub(module.sections.base_svma);
        self.mapped.push(Mapped { range: range.clone(), bias, kinds: module.kinds.clone() });
        self.signal_frames.get_mut().clear();
        self.inner.add_module(framehop::Module::new(String::new(), range, base, module.sections.clone()));
    }

    /// Whether a return address is that of a signal handler: not a call's, but the trampoline's
    /// that the kernel made the handler return to.
    pub(crate) fn is_signal_frame(&self, address: u64) -> bool {
        *self.signal_frames.borrow_mut().entry(address).or_insert_with(|| {
            let mapped = self.mapped.iter().find(|mapped| mapped.range.contains(&address));
            mapped.is_some_and(|mapped| mapped.kinds.has(address.wrapping_sub(mapped.bias)))
        })
    }
}
