//! What a file's unwind table says of single frames: where a stack ends, and where a signal
//! handler is left.
//!
//! The kernel makes a handler return to a trampoline, above which it has saved all registers of
//! the interrupted code. The trampoline's table says so by the mark `S` and by expressions that
//! read memory, which framehop does not evaluate; so that step is done here, by the layout of
//! the kernel's own frame.

use elf::{SectionData, UnwindSections};
use framehop::UnwindRegsNative;
use gimli::{
    BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, RegisterRule, UnwindContext, UnwindSection as _,
};

/// The unwind table of one file, asked about single frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameKinds {
    sections: Option<(SectionData, SectionData)>,
    text_start: u64,
}

impl FrameKinds {
    pub(crate) fn new(sections: &UnwindSections) -> Self {
        let both = sections.eh_frame_hdr.clone().zip(sections.eh_frame.clone());
        Self { sections: both, text_start: sections.text.as_ref().map_or(0, |text| text.start) }
    }

    /// Whether the ELF address `address` lies in one. The C libraries let its table begin a byte
    /// before it, so that looking up the byte before a return address finds it.
    pub(crate) fn has(&self, address: u64) -> bool {
        self.find(address).unwrap_or(false)
    }

    /// Whether the table says that what lies at the ELF address has no caller: the return address
    /// is undefined there, as in `_start` and `clone`.
    pub(crate) fn ends_at(&self, address: u64) -> bool {
        self.row_has_no_caller(address).unwrap_or(false)
    }

    fn row_has_no_caller(&self, address: u64) -> Option<bool> {
        let (hdr, frame) = self.sections.as_ref()?;
        let (bases, eh_frame) = (self.bases(hdr, frame), EhFrame::from(EndianSlice::new(&frame.bytes, LittleEndian)));
        let parsed = EhFrameHdr::new(&hdr.bytes, LittleEndian).parse(&bases, 8).ok()?;
        let entry = parsed.table()?.fde_for_address(&eh_frame, &bases, address, EhFrame::cie_from_offset).ok()?;
        let mut context = UnwindContext::new();
        let row = entry.unwind_info_for_address(&eh_frame, &bases, &mut context, address).ok()?;
        let return_address = row.register(entry.cie().return_address_register());
        Some(matches!(return_address, None | Some(RegisterRule::Undefined)))
    }

    fn bases(&self, hdr: &SectionData, frame: &SectionData) -> BaseAddresses {
        BaseAddresses::default()
            .set_eh_frame_hdr(hdr.addresses.start)
            .set_eh_frame(frame.addresses.start)
            .set_text(self.text_start)
    }

    fn find(&self, address: u64) -> Option<bool> {
        let (hdr, frame) = self.sections.as_ref()?;
        let bases = self.bases(hdr, frame);
        let parsed = EhFrameHdr::new(&hdr.bytes, LittleEndian).parse(&bases, 8).ok()?;
        let table = parsed.table()?;
        let eh_frame = EhFrame::from(EndianSlice::new(&frame.bytes, LittleEndian));
        let lookup = address.checked_sub(1)?;
        let entry = table.fde_for_address(&eh_frame, &bases, lookup, EhFrame::cie_from_offset).ok()?;
        Some(entry.cie().is_signal_trampoline())
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
