//! Numbers that look alike and are not: addresses in memory, offsets in files, and the two
//! kinds of code address that a stack holds.

use std::fmt;

/// An address in a process's or the kernel's memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(pub u64);

impl fmt::LowerHex for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// A position in a file, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileOffset(pub u64);

impl fmt::LowerHex for FileOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// An address of a callchain, and what it points at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeAddress {
    /// The instruction that was executing.
    InstructionPointer(Address),
    /// The instruction after a call. The call itself may be the last instruction of its
    /// function, so that this address can belong to the next one.
    ReturnAddress(Address),
}

impl CodeAddress {
    /// The address as it was recorded.
    pub const fn raw(self) -> Address {
        match self {
            Self::InstructionPointer(address) | Self::ReturnAddress(address) => address,
        }
    }
    /// The address by which function and line are found: a return address is moved back by one,
    /// into the call instruction.
    pub const fn lookup(self) -> Address {
        match self {
            Self::InstructionPointer(address) => address,
            Self::ReturnAddress(address) => Address(address.0.saturating_sub(1)),
        }
    }
}
