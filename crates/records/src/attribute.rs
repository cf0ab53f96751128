//! The attribute of an event, `struct perf_event_attr` of `include/uapi/linux/perf_event.h`, as plain
//! numbers: what was asked of the kernel, and what a file's header holds.

use crate::byte_order::ByteOrder;
use model::Sampling;

/// What an event is and what its samples hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Attribute {
    /// `type`, `PERF_TYPE_*` or a PMU's number.
    pub kind: u32,
    /// `config`: which event of that type.
    pub config: u64,
    /// `sample_freq` where [`flag::FREQ`] is set, else `sample_period`.
    pub period_or_frequency: u64,
    /// `sample_type`, `PERF_SAMPLE_*`.
    pub sample_type: u64,
    /// `read_format`, `PERF_FORMAT_*`.
    pub read_format: u64,
    /// The bit field, its first bit lowest; see [`flag`].
    pub flags: u64,
    /// `wakeup_events` or `wakeup_watermark`.
    pub wakeup: u32,
    /// `bp_type`.
    pub breakpoint: u32,
    /// `config1`, or `bp_addr`.
    pub config1: u64,
    /// `config2`, or `bp_len`.
    pub config2: u64,
    /// `branch_sample_type`, `PERF_SAMPLE_BRANCH_*`.
    pub branch_sample_type: u64,
    /// `sample_regs_user`
    pub sample_regs_user: u64,
    /// `sample_stack_user`
    pub sample_stack_user: u32,
    /// `clockid`, with [`flag::USE_CLOCKID`].
    pub clockid: i32,
    /// `sample_regs_intr`
    pub sample_regs_intr: u64,
    /// `aux_watermark`
    pub aux_watermark: u32,
    /// `sample_max_stack`
    pub sample_max_stack: u16,
}

/// Bits of [`Attribute::flags`].
pub mod flag {
    /// `disabled`
    pub const DISABLED: u64 = 1;
    /// `inherit`
    pub const INHERIT: u64 = 1 << 1;
    /// `exclude_user`
    pub const EXCLUDE_USER: u64 = 1 << 4;
    /// `exclude_kernel`
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    /// `exclude_hv`
    pub const EXCLUDE_HV: u64 = 1 << 6;
    /// `mmap`
    pub const MMAP: u64 = 1 << 8;
    /// `comm`
    pub const COMM: u64 = 1 << 9;
    /// `freq`
    pub const FREQ: u64 = 1 << 10;
    /// `task`
    pub const TASK: u64 = 1 << 13;
    /// The lower bit of the two of `precise_ip`.
    pub const PRECISE_SHIFT: u32 = 15;
    /// `sample_id_all`
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    /// `exclude_host`
    pub const EXCLUDE_HOST: u64 = 1 << 19;
    /// `exclude_guest`
    pub const EXCLUDE_GUEST: u64 = 1 << 20;
    /// `exclude_callchain_kernel` and `exclude_callchain_user`
    pub const EXCLUDE_CALLCHAIN: u64 = 3 << 21;
    /// `mmap2`
    pub const MMAP2: u64 = 1 << 23;
    /// `comm_exec`
    pub const COMM_EXEC: u64 = 1 << 24;
    /// `use_clockid`
    pub const USE_CLOCKID: u64 = 1 << 25;
}

impl Attribute {
    /// The bytes that [`Self::to_bytes`] writes: the structure as of Linux 5.13.
    pub const SIZE: usize = 128;
    /// The structure as of Linux 2.6.31: none is shorter.
    pub const SHORTEST: usize = 64;

    /// Whether a bit of [`flag`] is set.
    pub fn has(&self, bit: u64) -> bool {
        self.flags & bit != 0
    }

    /// `precise_ip`, from 0 to 3.
    pub fn precision(&self) -> usize {
        (self.flags >> flag::PRECISE_SHIFT & 3) as usize
    }

    /// How often the event is sampled.
    pub fn sampling(&self) -> Sampling {
        if self.has(flag::FREQ) {
            Sampling::Frequency(self.period_or_frequency)
        } else {
            Sampling::Period(self.period_or_frequency)
        }
    }

    /// What a sample stands for that does not state its period.
    pub fn fixed_period(&self) -> u64 {
        if self.has(flag::FREQ) { 1 } else { self.period_or_frequency }
    }

    /// Reads the structure, however long its version was; what is beyond the end reads as 0. `None`
    /// where it is shorter than any version.
    pub fn parse(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        if bytes.len() < Self::SHORTEST {
            return None;
        }
        let u64_at = |at: usize| order.u64_at(bytes, at).unwrap_or(0);
        let u32_at = |at: usize| order.u32_at(bytes, at).unwrap_or(0);
        Some(Self {
            kind: u32_at(0),
            config: u64_at(8),
            period_or_frequency: u64_at(16),
            sample_type: u64_at(24),
            read_format: u64_at(32),
            flags: flags(bytes[40..48].try_into().unwrap_or_default(), order),
            wakeup: u32_at(48),
            breakpoint: u32_at(52),
            config1: u64_at(56),
            config2: u64_at(64),
            branch_sample_type: u64_at(72),
            sample_regs_user: u64_at(80),
            sample_stack_user: u32_at(88),
            clockid: u32_at(92) as i32,
            sample_regs_intr: u64_at(96),
            aux_watermark: u32_at(104),
            sample_max_stack: order.u16_at(bytes, 108).unwrap_or(0),
        })
    }

    /// The structure in this machine's byte order.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &self.kind.to_ne_bytes());
        put(4, &(Self::SIZE as u32).to_ne_bytes());
        put(8, &self.config.to_ne_bytes());
        put(16, &self.period_or_frequency.to_ne_bytes());
        put(24, &self.sample_type.to_ne_bytes());
        put(32, &self.read_format.to_ne_bytes());
        put(40, &self.flags.to_ne_bytes());
        put(48, &self.wakeup.to_ne_bytes());
        put(52, &self.breakpoint.to_ne_bytes());
        put(56, &self.config1.to_ne_bytes());
        put(64, &self.config2.to_ne_bytes());
        put(72, &self.branch_sample_type.to_ne_bytes());
        put(80, &self.sample_regs_user.to_ne_bytes());
        put(88, &self.sample_stack_user.to_ne_bytes());
        put(92, &self.clockid.to_ne_bytes());
        put(96, &self.sample_regs_intr.to_ne_bytes());
        put(104, &self.aux_watermark.to_ne_bytes());
        put(108, &self.sample_max_stack.to_ne_bytes());
        bytes
    }
}

/// Compilers fill a bit field from the lowest bit on little-endian machines and from the highest on
/// big-endian ones: in the other order, each byte's bits stand the other way round.
fn flags(bytes: [u8; 8], order: ByteOrder) -> u64 {
    if order == ByteOrder::Native {
        return u64::from_ne_bytes(bytes);
    }
    let flags = u64::from_le_bytes(bytes.map(u8::reverse_bits));
    // A field of two bits has kept the order of its own.
    let (low, high) = (flags >> flag::PRECISE_SHIFT & 1, flags >> (flag::PRECISE_SHIFT + 1) & 1);
    flags & !(3 << flag::PRECISE_SHIFT) | high << flag::PRECISE_SHIFT | low << (flag::PRECISE_SHIFT + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Attribute {
        Attribute {
            kind: 1,
            config: 2,
            period_or_frequency: 3,
            sample_type: 4,
            read_format: 5,
            flags: flag::FREQ | flag::COMM_EXEC | 2 << flag::PRECISE_SHIFT,
            wakeup: 6,
            breakpoint: 7,
            config1: 8,
            config2: 9,
            branch_sample_type: 10,
            sample_regs_user: 11,
            sample_stack_user: 12,
            clockid: -1,
            sample_regs_intr: 14,
            aux_watermark: 15,
            sample_max_stack: 16,
        }
    }

    #[test]
    fn bytes_go_there_and_back() {
        let bytes = example().to_bytes();
        assert_eq!(Attribute::parse(&bytes, ByteOrder::Native), Some(example()));
        assert_eq!(Attribute::parse(&bytes[..63], ByteOrder::Native), None);
        let old = Attribute::parse(&bytes[..64], ByteOrder::Native).unwrap();
        assert_eq!((old.config1, old.config2, old.clockid), (8, 0, 0));
        assert_eq!((old.precision(), old.sampling(), old.fixed_period()), (2, Sampling::Frequency(3), 1));
    }

    #[test]
    fn the_other_byte_order_turns_numbers_and_bits() {
        let mut bytes = example().to_bytes();
        let sizes = [4, 4, 8, 8, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2];
        let mut at = 0;
        for size in sizes {
            bytes[at..at + size].reverse();
            at += size;
        }
        // disabled … precise_ip, as a big-endian compiler lays them out.
        let mut flags = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
        flags = flags & !(3 << 15) | 1 << 15;
        bytes[40..48].copy_from_slice(&flags.to_le_bytes().map(u8::reverse_bits));
        assert_eq!(Attribute::parse(&bytes, ByteOrder::Swapped), Some(example()));
    }
}
