//! The tree of who called whom, with the sums of an event's samples: what a flame graph draws.
//! Functions are merged by name, kind and inlining, not by address. The nodes lie in one list,
//! depth first, so that no walk needs recursion, however deep the stacks are.

use crate::tree_builder;
use crate::tree_frame::TreeFrame;
use model::{EventId, Profile, Totals};

/// The direction in which stacks are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StackOrder {
    /// From the outermost caller inwards: where the time goes, top down.
    #[default]
    RootFirst,
    /// From the function that ran outwards: who calls what is hot.
    LeafFirst,
}

/// Whether threads are frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TaskFrames {
    /// A thread's name is the outermost frame of its stacks, where the thread is known.
    #[default]
    Shown,
    /// The stacks of all threads are merged.
    Merged,
}

/// How a [`CallTree`] is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallTreeOptions {
    /// The direction in which stacks are merged.
    pub order: StackOrder,
    /// Whether threads are frames.
    pub tasks: TaskFrames,
}

/// A node's place in its tree. Children have higher ids than their parents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The node of everything.
    pub const ROOT: Self = Self(0);

    /// The node's position in the depth-first order.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A frame in its place: under one chain of callers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeNode {
    pub(crate) frame: u32,
    pub(crate) end: NodeId,
    /// The node below; the root is its own parent.
    pub parent: NodeId,
    /// The distance from the root.
    pub depth: u32,
    /// The samples whose stack ends here.
    pub own: Totals,
    /// The samples whose stack goes through here.
    pub total: Totals,
}

/// The call tree of one event of a profile.
#[derive(Clone, Debug)]
pub struct CallTree {
    pub(crate) frames: Vec<TreeFrame>,
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) cut: Totals,
    pub(crate) measure: crate::Measure,
}

impl CallTree {
    /// The tree of an event's samples. A profile without samples has a tree of one node.
    pub fn new(profile: &Profile, event: EventId, options: CallTreeOptions) -> Self {
        tree_builder::build(profile, event, options)
    }

    /// The sums over all samples.
    pub fn total(&self) -> Totals {
        self.nodes[0].total
    }

    /// The sums over the samples whose stack was cut, so that it may hang too low in the tree.
    pub fn cut(&self) -> Totals {
        self.cut
    }

    /// How the weights of this tree read.
    pub fn measure(&self) -> &crate::Measure {
        &self.measure
    }

    /// The number of nodes, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no sample is in the tree.
    pub fn is_empty(&self) -> bool {
        self.total() == Totals::default()
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &TreeNode {
        &self.nodes[id.index()]
    }

    /// What a node stands for.
    pub fn frame(&self, id: NodeId) -> &TreeFrame {
        &self.frames[self.nodes[id.index()].frame as usize]
    }

    /// All nodes depth first, children in the order of their names.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (NodeId, &TreeNode)> {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeId(index as u32), node))
    }

    /// The children of a node in the order of their names.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.after(id);
        let mut next = NodeId(id.0 + 1);
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.after(child);
            Some(child)
        })
    }

    /// The first node after a node's whole subtree.
    pub fn after(&self, id: NodeId) -> NodeId {
        self.node(id).end
    }
}
