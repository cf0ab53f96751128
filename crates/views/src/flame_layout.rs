//! Where the boxes of a flame graph lie, in the integers of the samples: no pixels, no colours.
//! Pixels come last, so that shares and matches can be computed exactly.

use crate::call_tree::{CallTree, NodeId};

/// A box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlameRect {
    /// What it stands for.
    pub node: NodeId,
    /// Its row: 0 is the root's.
    pub depth: u32,
    /// The weight to the left of it, in the event's unit and the profile's scale.
    pub start: u128,
    /// Its own weight, its callees included.
    pub width: u128,
}

/// The boxes of a call tree.
#[derive(Clone, Debug)]
pub struct FlameLayout {
    /// The boxes depth first: a box stands before those that lie above it.
    pub rects: Vec<FlameRect>,
    /// The whole weight, which is the root's width.
    pub total: u128,
    /// The number of rows.
    pub rows: u32,
    /// How many nodes were left out because they are too narrow.
    pub pruned: usize,
}

impl FlameLayout {
    /// Lays out a tree. Boxes narrower than `min_width` (in units of weight) are left out
    /// together with all that lies above them; those without weight always are.
    pub fn new(tree: &CallTree, min_width: u128) -> Self {
        let total = tree.total().weight;
        let mut layout = Self { rects: Vec::new(), total, rows: 0, pruned: 0 };
        // For each depth, where the next box of that row starts.
        let mut starts: Vec<u128> = vec![0];
        let mut id = NodeId::ROOT;
        while id.index() < tree.len() {
            let node = tree.node(id);
            let (depth, width) = (node.depth as usize, node.total.weight);
            let start = starts[depth];
            starts[depth] += width;
            if width == 0 || width < min_width {
                let after = tree.after(id);
                layout.pruned += after.index() - id.index();
                id = after;
                continue;
            }
            starts.truncate(depth + 1);
            starts.push(start);
            layout.rows = layout.rows.max(node.depth + 1);
            layout.rects.push(FlameRect { node: id, depth: node.depth, start, width });
            id = NodeId(id.0 + 1);
        }
        layout
    }
}
