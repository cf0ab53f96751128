//! The identity of a binary's contents.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The `NT_GNU_BUILD_ID` note of an ELF file: up to 20 bytes (SHA-1), which is also the most
/// that perf's records hold. Some of these records do not say how long a shorter one is, and pad
/// it with zeros: two build ids are equal where they differ only in zeros at their ends.
#[derive(Clone, Copy)]
pub struct BuildId {
    bytes: [u8; Self::MAX_LEN],
    len: u8,
}

impl BuildId {
    /// The longest build id that is kept, in bytes.
    pub const MAX_LEN: usize = 20;

    /// The build id `bytes`; `None` when there are none, or nothing but padding. What is longer
    /// than [`Self::MAX_LEN`] is cut, as perf cuts it.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let len = bytes.len().min(Self::MAX_LEN);
        if bytes[..len].iter().all(|&byte| byte == 0) {
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

    /// The build id in every length that it may have, the longest first: as it is, then without
    /// one more of the zeros at its end. Files are named after it in its true length.
    pub fn lengths(self) -> impl Iterator<Item = Self> {
        let shortest = self.as_bytes().iter().rposition(|&byte| byte != 0).map_or(0, |last| last as u8 + 1);
        (shortest..=self.len).rev().map(move |len| self.with_len(len))
    }

    fn with_len(self, len: u8) -> Self {
        Self { len, ..self }
    }
}

impl PartialEq for BuildId {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for BuildId {}

impl Hash for BuildId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl PartialOrd for BuildId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for BuildId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes.cmp(&other.bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_no_difference() {
        let short = BuildId::new(&[0xab; 16]).unwrap();
        let padded = BuildId::new(&[&[0xab; 16][..], &[0; 4]].concat()).unwrap();
        assert_eq!(short, padded);
        assert_ne!(short, BuildId::new(&[0xab; 17]).unwrap());
        assert_ne!(short, BuildId::new(&[0xab; 15]).unwrap());
        assert_eq!((BuildId::new(&[]), BuildId::new(&[0; 20])), (None, None));
    }

    #[test]
    fn a_padded_one_may_be_as_long_as_its_zeros_allow() {
        let padded = BuildId::new(&[1, 2, 0, 0]).unwrap();
        let texts: Vec<String> = padded.lengths().map(|id| id.to_string()).collect();
        assert_eq!(texts, ["01020000", "010200", "0102"]);
        assert_eq!(BuildId::new(&[7; 20]).unwrap().lengths().count(), 1);
    }
}
