//! What kind of frame an address lies in, by the file's unwind table: one that the table tells
//! nothing of, the last of a stack, or that of a signal handler's trampoline.
//!
//! The kernel lets a handler return to the trampoline, and saves the registers of the interrupted
//! code on the stack above. The trampoline's table entry has the mark `S` and finds the registers
//! by expressions that read memory. framehop evaluates no such expressions, so that this step is
//! done here, by the layout in which the kernel saves them.

use elf::{SectionData, UnwindSections};
use framehop::UnwindRegsNative;
use gimli::{
    BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian, RegisterRule, UnwindContext,
    UnwindSection as _,
};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = FrameDescriptionEntry<Bytes<'a>>;

/// The unwind table of one file, asked about single frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameKinds {
    sections: Option<(SectionData, SectionData)>,
    text_start: u64,
    /// Whether the file's table is one without a sorted index, which is not looked into here.
    without_index: bool,
}

impl FrameKinds {
    pub(crate) fn new(sections: &UnwindSections) -> Self {
        let both = sections.eh_frame_hdr.clone().zip(sections.eh_frame.clone());
        Self {
            without_index: both.is_none() && (sections.eh_frame.is_some() || sections.debug_frame.is_some()),
            sections: both,
            text_start: sections.text.as_ref().map_or(0, |text| text.start),
        }
    }

    /// Whether the ELF address `address` lies in a signal handler's trampoline. The C libraries
    /// let its table entry begin a byte before it, so that looking up the byte before a return
    /// address finds it.
    pub(crate) fn has_signal_trampoline_at(&self, address: u64) -> bool {
        let lookup = address.checked_sub(1);
        lookup.and_then(|lookup| self.entry(lookup, |entry, _, _| entry.cie().is_signal_trampoline())).unwrap_or(false)
    }

    /// Whether the table tells of the instruction at the ELF address. A table without a sorted
    /// index (Go's `.debug_frame`) counts as one that tells of everything: it has few gaps, and
    /// the unwinder, which makes an index for it, knows them.
    pub(crate) fn covers(&self, address: u64) -> bool {
        self.without_index || self.entry(address, |_, _, _| ()).is_some()
    }

    /// Whether the table says that what lies at the ELF address has no caller: the return address
    /// is undefined there, as in `_start` and `clone`.
    pub(crate) fn ends_at(&self, address: u64) -> bool {
        self.row_has_no_caller(address).unwrap_or(false)
    }

    fn row_has_no_caller(&self, address: u64) -> Option<bool> {
        self.entry(address, |entry, eh_frame, bases| {
            let mut context = UnwindContext::new();
            let row = entry.unwind_info_for_address(eh_frame, bases, &mut context, address).ok()?;
            let return_address = row.register(entry.cie().return_address_register());
            Some(matches!(return_address, None | Some(RegisterRule::Undefined)))
        })?
    }

    /// What `read` finds in the entry that covers the ELF address.
    fn entry<T>(
        &self,
        address: u64,
        read: impl FnOnce(&Entry<'_>, &EhFrame<Bytes<'_>>, &BaseAddresses) -> T,
    ) -> Option<T> {
        let (hdr, frame) = self.sections.as_ref()?;
        let bases = BaseAddresses::default()
            .set_eh_frame_hdr(hdr.addresses.start)
            .set_eh_frame(frame.addresses.start)
            .set_text(self.text_start);
        let eh_frame = EhFrame::from(EndianSlice::new(&frame.bytes, LittleEndian));
        let parsed = EhFrameHdr::new(&hdr.bytes, LittleEndian).parse(&bases, 8).ok()?;
        let entry = parsed.table()?.fde_for_address(&eh_frame, &bases, address, EhFrame::cie_from_offset).ok()?;
        Some(read(&entry, &eh_frame, &bases))
    }
}

/// Where x86-64 keeps the interrupted registers, from the stack pointer in the trampoline:
/// `struct ucontext` and `struct sigcontext` in the kernel's headers.
#[cfg(target_arch = "x86_64")]
const SAVED: [u64; 3] = [RIP, RSP, RBP];
#[cfg(target_arch = "x86_64")]
const RIP: u64 = 168;
#[cfg(target_arch = "x86_64")]
const RSP: u64 = 160;
#[cfg(target_arch = "x86_64")]
const RBP: u64 = 120;

/// Puts the interrupted registers in place of those in the trampoline. Returns the address that
/// cannot be read, if one cannot.
#[cfg(target_arch = "x86_64")]
pub(crate) fn leave(
    registers: &mut UnwindRegsNative,
    read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Result<u64, u64> {
    let frame = registers.sp();
    let mut saved = [0; SAVED.len()];
    for (value, offset) in saved.iter_mut().zip(SAVED) {
        let address = frame.wrapping_add(offset);
        *value = read(address).map_err(|()| address)?;
    }
    let [ip, sp, fp] = saved;
    *registers = UnwindRegsNative::new(ip, sp, fp);
    Ok(ip)
}

/// AArch64 keeps a frame record beside the saved registers, which the unwinder follows by itself.
#[cfg(target_arch = "aarch64")]
pub(crate) fn leave(registers: &mut UnwindRegsNative, _: &mut impl FnMut(u64) -> Result<u64, ()>) -> Result<u64, u64> {
    Err(registers.sp())
}
