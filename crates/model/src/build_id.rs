//! The identity of a binary's contents.

use std::fmt;

/// The `NT_GNU_BUILD_ID` note of an ELF file: up to 20 bytes (SHA-1), which is also the most
/// that perf's records hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId {
    bytes: [u8; Self::MAX_LEN],
    len: u8,
}

impl BuildId {
    /// The longest build id that is kept, in bytes.
    pub const MAX_LEN: usize = 20;

    /// The build id `bytes`; `None` when there are none. What is longer than
    /// [`Self::MAX_LEN`] is cut, as perf cuts it.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let len = bytes.len().min(Self::MAX_LEN);
        if len == 0 {
            return None;
        }
        let mut stored = [0; Self::MAX_LEN];
        stored[..len].copy_from_slice(&bytes[..len]);
        Some(Self { bytes: stored, len: len as u8 })
    }

    /// The bytes of the note.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}
