//! A callchain as perf_event_open(2) lays it out: addresses, leaf first, with marker words
//! between them that say which context the following ones belong to. It is borrowed from the
//! reader's buffer and typed as it is walked.

use crate::{Address, CodeAddress};

/// The marker words, from `enum perf_callchain_context` in `include/uapi/linux/perf_event.h`.
pub mod words {
    /// `PERF_CONTEXT_HV`
    pub const HYPERVISOR: u64 = -32i64 as u64;
    /// `PERF_CONTEXT_KERNEL`
    pub const KERNEL: u64 = -128i64 as u64;
    /// `PERF_CONTEXT_USER`
    pub const USER: u64 = -512i64 as u64;
    /// `PERF_CONTEXT_GUEST`
    pub const GUEST: u64 = -2048i64 as u64;
    /// `PERF_CONTEXT_GUEST_KERNEL`
    pub const GUEST_KERNEL: u64 = -2176i64 as u64;
    /// `PERF_CONTEXT_GUEST_USER`
    pub const GUEST_USER: u64 = -2560i64 as u64;
    /// `PERF_CONTEXT_MAX`: this word and all above it are markers, not addresses.
    pub const FIRST_MARKER: u64 = -4095i64 as u64;
}

/// Where code ran.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Context {
    /// The kernel of this machine.
    Kernel,
    /// A process of this machine.
    User,
    /// The hypervisor below this machine.
    Hypervisor,
    /// A virtual machine's kernel or user space; its memory and files are out of reach.
    Guest,
    /// No marker stood before the address.
    Unknown,
}

impl Context {
    /// The marker word behind which addresses are of this context.
    pub const fn mark(self) -> Option<u64> {
        match self {
            Self::Kernel => Some(words::KERNEL),
            Self::User => Some(words::USER),
            Self::Hypervisor => Some(words::HYPERVISOR),
            Self::Guest => Some(words::GUEST),
            Self::Unknown => None,
        }
    }

    const fn from_word(word: u64) -> Option<Self> {
        match word {
            words::KERNEL => Some(Self::Kernel),
            words::USER => Some(Self::User),
            words::HYPERVISOR => Some(Self::Hypervisor),
            words::GUEST | words::GUEST_KERNEL | words::GUEST_USER => Some(Self::Guest),
            _ => None,
        }
    }
}

/// A callchain, leaf first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Callchain<'a> {
    words: &'a [u64],
    /// The context of what stands before the first marker.
    context: Context,
}

impl Default for Callchain<'_> {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl<'a> Callchain<'a> {
    /// The chain of these words: addresses and context markers.
    pub const fn new(words: &'a [u64]) -> Self {
        Self { words, context: Context::Unknown }
    }

    /// The chain of these words, of which those before the first marker are of `context`.
    pub const fn starting_in(context: Context, words: &'a [u64]) -> Self {
        Self { words, context }
    }

    /// The words as the source gave them.
    pub const fn words(self) -> &'a [u64] {
        self.words
    }

    /// The part before the user's: the kernel's, a hypervisor's. Whatever stands behind the user's mark
    /// is the user's, also where a walk along frame pointers has picked up numbers that look like marks.
    pub fn before_user(self) -> Self {
        let end = match self.context {
            Context::User => 0,
            _ => self.words.iter().position(|&word| word == words::USER).unwrap_or(self.words.len()),
        };
        Self { words: &self.words[..end], context: self.context }
    }

    /// The context of what stands before the first marker.
    pub const fn context(self) -> Context {
        self.context
    }

    /// The addresses, each with its context, leaf first. The first address of the kernel's part
    /// and of the user's part is an instruction pointer, the others are return addresses.
    pub fn frames(self) -> impl Iterator<Item = (Context, CodeAddress)> + 'a {
        let mut context = self.context;
        let mut leaf = true;
        self.words.iter().filter_map(move |&word| {
            if word >= words::FIRST_MARKER {
                // Another word of this range is what a frame-pointer walk has picked up where a
                // program keeps small negative numbers, and changes nothing.
                if let Some(marked) = Context::from_word(word) {
                    context = marked;
                    leaf = true;
                }
                return None;
            }
            let address = Address(word);
            let typed =
                if leaf { CodeAddress::InstructionPointer(address) } else { CodeAddress::ReturnAddress(address) };
            leaf = false;
            Some((context, typed))
        })
    }

    /// The addresses of one context, leaf first.
    pub fn frames_of(self, wanted: Context) -> impl Iterator<Item = CodeAddress> + 'a {
        self.frames().filter(move |(context, _)| *context == wanted).map(|(_, address)| address)
    }

    /// Whether no address is in the chain.
    pub fn is_empty(self) -> bool {
        self.frames().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CodeAddress::{InstructionPointer as Ip, ReturnAddress as Ret};

    #[test]
    fn each_part_starts_with_an_instruction_pointer() {
        let raw = [words::KERNEL, 0xffff_8000_0000_1000, 0xffff_8000_0000_2000, words::USER, 0x10, 0x20, 0x30];
        let frames: Vec<_> = Callchain::new(&raw).frames().collect();
        assert_eq!(
            frames,
            [
                (Context::Kernel, Ip(Address(0xffff_8000_0000_1000))),
                (Context::Kernel, Ret(Address(0xffff_8000_0000_2000))),
                (Context::User, Ip(Address(0x10))),
                (Context::User, Ret(Address(0x20))),
                (Context::User, Ret(Address(0x30))),
            ]
        );
        assert_eq!(Callchain::new(&raw).frames_of(Context::User).count(), 3);
    }

    #[test]
    fn what_comes_before_the_users_part_ends_at_its_mark() {
        let raw = [words::KERNEL, 0x10, words::USER, 0x20, words::KERNEL, 0x30];
        assert_eq!(Callchain::new(&raw).before_user().words(), &raw[..2]);
        assert_eq!(Callchain::new(&raw[..2]).before_user().words(), &raw[..2]);
        assert!(Callchain::starting_in(Context::User, &raw[1..2]).before_user().is_empty());
    }

    #[test]
    fn small_negative_numbers_are_neither_markers_nor_addresses() {
        let raw = [words::USER, 0x10, -1i64 as u64, 0x20];
        let frames: Vec<_> = Callchain::new(&raw).frames().collect();
        assert_eq!(frames, [(Context::User, Ip(Address(0x10))), (Context::User, Ret(Address(0x20)))]);
        let raw = [-7i64 as u64, 0x10];
        let frames: Vec<_> = Callchain::new(&raw).frames().collect();
        assert_eq!(frames, [(Context::Unknown, Ip(Address(0x10)))]);
        assert!(Callchain::new(&raw[..1]).is_empty());
        let leaf = Callchain::starting_in(Context::User, &raw[1..]).frames().collect::<Vec<_>>();
        assert_eq!(leaf, [(Context::User, Ip(Address(0x10)))]);
    }
}
