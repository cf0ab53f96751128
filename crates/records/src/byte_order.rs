//! Whether numbers stand in this machine's byte order.

/// The byte order of a recording, seen from this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ByteOrder {
    /// As here.
    #[default]
    Native,
    /// The other way round.
    Swapped,
}

impl ByteOrder {
    /// A number that was read as if it were in this machine's order.
    pub fn u64(self, value: u64) -> u64 {
        if self == Self::Native { value } else { value.swap_bytes() }
    }
    /// The same for 32 bits.
    pub fn u32(self, value: u32) -> u32 {
        if self == Self::Native { value } else { value.swap_bytes() }
    }
    /// The same for 16 bits.
    pub fn u16(self, value: u16) -> u16 {
        if self == Self::Native { value } else { value.swap_bytes() }
    }
    /// The number at a byte offset; `None` beyond the end.
    pub fn u64_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        Some(self.u64(u64::from_ne_bytes(array_at(bytes, at)?)))
    }
    /// The same for 32 bits.
    pub fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(u32::from_ne_bytes(array_at(bytes, at)?)))
    }
    /// The same for 16 bits.
    pub fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(u16::from_ne_bytes(array_at(bytes, at)?)))
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
