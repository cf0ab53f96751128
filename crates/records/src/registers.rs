//! Which user registers are asked for, and where they stand in a sample. The numbers are the
//! kernel's own order of registers, `arch/*/include/uapi/asm/perf_regs.h`.

use model::UserRegisters;

/// The bits of `sample_regs_user` and how to read them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterSet {
    ip: u32,
    sp: u32,
    fp: u32,
    lr: Option<u32>,
}

/// `PERF_REG_X86_BP`, `_SP`, `_IP`.
pub const X86_64: RegisterSet = RegisterSet { ip: 8, sp: 7, fp: 6, lr: None };
/// `PERF_REG_ARM64_X29`, `_LR`, `_SP`, `_PC`.
pub const AARCH64: RegisterSet = RegisterSet { ip: 32, sp: 31, fp: 29, lr: Some(30) };

/// The registers of the machine that this program was built for; `None` where copied stacks cannot
/// be unwound.
pub const NATIVE: Option<RegisterSet> = if cfg!(target_arch = "x86_64") {
    Some(X86_64)
} else if cfg!(target_arch = "aarch64") {
    Some(AARCH64)
} else {
    None
};

/// `PERF_SAMPLE_REGS_ABI_32`.
const ABI_32: u64 = 1;

impl RegisterSet {
    /// The bits for `sample_regs_user`.
    pub fn mask(self) -> u64 {
        [Some(self.ip), Some(self.sp), Some(self.fp), self.lr]
            .into_iter()
            .flatten()
            .fold(0, |mask, bit| mask | 1 << bit)
    }

    /// The registers out of the values that a sample holds for `mask`, in the order of its bits.
    /// A register that is not among them is 0.
    pub fn read(self, abi: u64, mask: u64, values: &[u64]) -> UserRegisters {
        let value_of = |bit: u32| {
            let position = (mask & ((1u64 << bit) - 1)).count_ones() as usize;
            if mask & (1 << bit) == 0 { 0 } else { values.get(position).copied().unwrap_or(0) }
        };
        UserRegisters {
            ip: value_of(self.ip),
            sp: value_of(self.sp),
            fp: value_of(self.fp),
            lr: self.lr.map_or(0, value_of),
            is_foreign: abi == ABI_32 || NATIVE != Some(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_the_order_of_the_bits() {
        let read = X86_64.read(2, X86_64.mask(), &[0xb, 0x5, 0x1]);
        let is_foreign = NATIVE != Some(X86_64);
        assert_eq!(read, UserRegisters { ip: 0x1, sp: 0x5, fp: 0xb, lr: 0, is_foreign });
        assert!(X86_64.read(ABI_32, X86_64.mask(), &[0xb, 0x5, 0x1]).is_foreign);
        let more = X86_64.mask() | 1;
        assert_eq!(X86_64.read(1, more, &[0xa, 0xb, 0x5, 0x1]).fp, 0xb);
        let arm = AARCH64.read(2, AARCH64.mask(), &[29, 30, 31, 32]);
        assert_eq!((arm.fp, arm.lr, arm.sp, arm.ip), (29, 30, 31, 32));
    }

    #[test]
    fn what_is_missing_reads_as_zero() {
        let is_foreign = NATIVE != Some(X86_64);
        assert_eq!(X86_64.read(2, 1 << 8, &[]), UserRegisters { is_foreign, ..UserRegisters::default() });
    }
}
