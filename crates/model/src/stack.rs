//! Stacks as a prefix tree over locations. A stack is a node; its frames are the node's own
//! location and those of its parents. The roots are the [`StackEnd`]s, one each, so that every
//! stack knows, at no cost a sample, whether its outermost frame is truly the outermost.

use crate::id::Id;
use crate::{Interner, LocationId, StackEnd, StackId};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Root(StackEnd),
    Frame { parent: StackId, location: LocationId },
}

/// All distinct stacks of a profile.
#[derive(Clone, Debug)]
pub struct StackTree {
    nodes: Interner<StackId, Node>,
}

impl Default for StackTree {
    fn default() -> Self {
        let mut nodes = Interner::default();
        for end in StackEnd::ALL {
            nodes.intern(Node::Root(*end));
        }
        Self { nodes }
    }
}

impl StackTree {
    /// The stack without frames of this kind.
    pub fn root(end: StackEnd) -> StackId {
        StackId::from_index(end as usize)
    }

    /// The stack that calls `location` from `parent`.
    pub fn child(&mut self, parent: StackId, location: LocationId) -> StackId {
        self.nodes.intern(Node::Frame { parent, location })
    }

    /// The stack of these locations, the outermost (root) first.
    pub fn intern(&mut self, end: StackEnd, root_first: impl IntoIterator<Item = LocationId>) -> StackId {
        root_first.into_iter().fold(Self::root(end), |parent, location| self.child(parent, location))
    }

    /// The caller's stack and the frame that `stack` adds to it; `None` for a root.
    pub fn split(&self, stack: StackId) -> Option<(StackId, LocationId)> {
        match self.nodes[stack] {
            Node::Root(_) => None,
            Node::Frame { parent, location } => Some((parent, location)),
        }
    }

    /// The locations of a stack, the leaf first.
    pub fn leaf_first(&self, stack: StackId) -> impl Iterator<Item = LocationId> + '_ {
        let mut at = stack;
        std::iter::from_fn(move || {
            let (parent, location) = self.split(at)?;
            at = parent;
            Some(location)
        })
    }

    /// Why the stack has no further callers, for every stack, by its id.
    pub fn ends(&self) -> Vec<StackEnd> {
        let mut ends: Vec<StackEnd> = Vec::with_capacity(self.nodes.len());
        for (_, node) in self.nodes.iter() {
            ends.push(match node {
                Node::Root(end) => *end,
                // A parent is interned before its children, so it stands in the list already.
                Node::Frame { parent, .. } => ends[parent.index()],
            });
        }
        ends
    }

    /// Why the stack has no further callers.
    pub fn end(&self, stack: StackId) -> StackEnd {
        let mut at = stack;
        loop {
            match self.nodes[at] {
                Node::Root(end) => return end,
                Node::Frame { parent, .. } => at = parent,
            }
        }
    }

    /// The number of nodes, roots included; ids are below it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no stack has a frame.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == StackEnd::ALL.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(index: usize) -> LocationId {
        LocationId::from_index(index)
    }

    #[test]
    fn equal_stacks_are_one_and_their_ends_tell_them_apart() {
        let mut tree = StackTree::default();
        let whole = tree.intern(StackEnd::Bottom, [1, 2, 3].map(location));
        let again = tree.intern(StackEnd::Bottom, [1, 2, 3].map(location));
        let cut = tree.intern(StackEnd::CopyTooShort, [1, 2, 3].map(location));
        assert_eq!(whole, again);
        assert_ne!(whole, cut);
        assert_eq!(tree.end(whole), StackEnd::Bottom);
        assert_eq!(tree.ends()[cut.index()], StackEnd::CopyTooShort);
        assert_eq!(tree.leaf_first(cut).collect::<Vec<_>>(), [3, 2, 1].map(location));
    }

    #[test]
    fn every_end_has_its_root() {
        let tree = StackTree::default();
        assert!(tree.is_empty());
        for end in StackEnd::ALL {
            assert_eq!(tree.end(StackTree::root(*end)), *end);
        }
    }
}
