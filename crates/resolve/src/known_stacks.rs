//! Stacks that were seen before. A program has few of them and takes each many times: finding the
//! whole chain again costs one look-up, where making it costs several a frame.

use model::StackId;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;

/// What tells stacks apart: the same words mean other places in another address space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain<'a> {
    /// The state of the process's memory, by a number that changes with it.
    pub space: u32,
    /// What else the stack follows from, such as why it ends.
    pub kind: u32,
    /// Addresses and context markers.
    pub words: &'a [u64],
}

/// All that was seen, within bounds.
#[derive(Default)]
pub struct KnownStacks {
    by_hash: FxHashMap<u64, Entry>,
    words: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Entry {
    space: u32,
    kind: u32,
    start: u32,
    len: u32,
    stack: StackId,
}

/// Words that are remembered, 16 MiB of them, and chains, of which the table of a hundred thousand takes
/// some 5 MiB; then everything is forgotten and learnt anew.
const MOST_WORDS: usize = 2 << 20;
const MOST_CHAINS: usize = 200_000;

impl KnownStacks {
    /// The stack of a chain that was seen before.
    pub fn find(&self, chain: Chain<'_>) -> Option<StackId> {
        let entry = self.by_hash.get(&hash(chain))?;
        let words = &self.words[entry.start as usize..][..entry.len as usize];
        let same = (entry.space, entry.kind) == (chain.space, chain.kind) && words == chain.words;
        same.then_some(entry.stack)
    }

    /// Remembers the stack of a chain. Of two with one hash, the later is remembered.
    pub fn insert(&mut self, chain: Chain<'_>, stack: StackId) {
        if self.words.len() + chain.words.len() > MOST_WORDS || self.by_hash.len() >= MOST_CHAINS {
            self.words.clear();
            self.by_hash.clear();
        }
        let (start, len) = (self.words.len() as u32, chain.words.len() as u32);
        self.words.extend_from_slice(chain.words);
        self.by_hash.insert(hash(chain), Entry { space: chain.space, kind: chain.kind, start, len, stack });
    }
}

fn hash(chain: Chain<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(chain.space) << 32 | u64::from(chain.kind));
    chain.words.iter().for_each(|&word| hasher.write_u64(word));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::id::Id as _;

    #[test]
    fn stacks_are_told_apart_by_words_space_and_kind() {
        let mut known = KnownStacks::default();
        let chain = Chain { space: 1, kind: 0, words: &[1, 2, 3] };
        known.insert(chain, StackId::from_index(7));
        assert_eq!(known.find(chain), Some(StackId::from_index(7)));
        for other in [Chain { space: 2, ..chain }, Chain { kind: 1, ..chain }, Chain { words: &[1, 2], ..chain }] {
            assert_eq!(known.find(other), None);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut known = KnownStacks::default();
        let words = vec![5; 1000];
        for space in 0..10_000 {
            known.insert(Chain { space, kind: 0, words: &words }, StackId::from_index(0));
        }
        assert!(known.words.len() <= MOST_WORDS);
        assert!(known.find(Chain { space: 9_999, kind: 0, words: &words }).is_some());
    }
}
