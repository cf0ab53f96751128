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
    /// The tables of a file whose lowest ELF address is `base_address`. They may be empty: such a
    /// file's code is walked by frame pointers.
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

/// The code of a process and its unwind tables, by address. Cloning it, as fork(2) does, is cheap.
#[derive(Clone)]
pub struct AddressSpace {
    pub(crate) inner: Inner,
    /// All code, by address.
    mapped: Vec<Mapped>,
    /// What was found out of addresses: a program has few of them.
    signal_frames: RefCell<FxHashMap<u64, bool>>,
    covered: RefCell<FxHashMap<u64, bool>>,
}

#[derive(Clone)]
struct Mapped {
    range: Range<u64>,
    /// `None` for code without a file.
    tables: Option<Tables>,
}

#[derive(Clone)]
struct Tables {
    /// To be subtracted from an address to get an ELF address, wrapping.
    bias: u64,
    kinds: FrameKinds,
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self { inner: Inner::new(), mapped: Vec::new(), signal_frames: RefCell::default(), covered: RefCell::default() }
    }
}

impl AddressSpace {
    /// A file's code lies at `range`; its lowest ELF address would lie at `base`.
    pub fn map(&mut self, range: Range<u64>, base: u64, module: &Module) {
        let tables = Tables { bias: base.wrapping_sub(module.sections.base_svma), kinds: module.kinds.clone() };
        self.insert(Mapped { range: range.clone(), tables: Some(tables) });
        self.inner.add_module(framehop::Module::new(String::new(), range, base, module.sections.clone()));
    }

    /// Code without unwind tables lies at `range`: the process wrote it itself, or its file cannot
    /// be read.
    pub fn map_without_tables(&mut self, range: Range<u64>) {
        self.insert(Mapped { range, tables: None });
    }

    fn insert(&mut self, new: Mapped) {
        let at = self.mapped.partition_point(|mapped| mapped.range.start <= new.range.start);
        self.mapped.insert(at, new);
        self.signal_frames.get_mut().clear();
        self.covered.get_mut().clear();
    }

    fn find(&self, address: u64) -> Option<&Mapped> {
        let after = self.mapped.partition_point(|mapped| mapped.range.start <= address);
        self.mapped[..after].last().filter(|mapped| mapped.range.contains(&address))
    }

    /// Whether code lies at an address.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.find(address).is_some()
    }

    /// Whether a return address is that of a signal handler: not a call's, but the trampoline's
    /// that the kernel made the handler return to.
    pub(crate) fn is_signal_frame(&self, address: u64) -> bool {
        *self.signal_frames.borrow_mut().entry(address).or_insert_with(|| {
            let tables = self.find(address).and_then(|mapped| mapped.tables.as_ref());
            tables.is_some_and(|tables| tables.kinds.has_signal_trampoline_at(address.wrapping_sub(tables.bias)))
        })
    }

    /// Whether an unwind table tells of the instruction at an address.
    pub(crate) fn has_table_for(&self, address: u64) -> bool {
        let tables = self.find(address).and_then(|mapped| mapped.tables.as_ref());
        // Generated code is not remembered: it comes and goes, and is known without a look-up.
        tables.is_some_and(|tables| {
            let mut covered = self.covered.borrow_mut();
            *covered.entry(address).or_insert_with(|| tables.kinds.covers(address.wrapping_sub(tables.bias)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_was_mapped_in_whatever_order() {
        let mut space = AddressSpace::default();
        space.map_without_tables(0x5000..0x6000);
        space.map(0x1000..0x2000, 0x1000, &Module::new(UnwindSections::default(), 0));
        for (address, expected) in
            [(0xfff, false), (0x1000, true), (0x1fff, true), (0x2000, false), (0x5800, true), (0x6000, false)]
        {
            assert_eq!(space.is_code(address), expected, "{address:#x}");
            assert!(!space.has_table_for(address), "{address:#x}");
        }
    }
}
