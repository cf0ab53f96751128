//! Pictures and tables of a profile. Everything here is a pure function of a
//! [`Profile`](model::Profile); the only outside world is the writer that is handed in.
//!
//! ```text
//!            ┌─► call tree ─► flame layout ─► svg (palette, fitted text, script and style)
//!  Profile ──┼─► top table ─► text
//!            └─► quality ───► sentences, subtitle
//!                  all of them write weights by way of quantity
//! ```
#![forbid(unsafe_code)]

mod advice;
mod call_tree;
mod error;
mod fit;
mod flame_layout;
pub mod palette;
pub mod quality;
pub mod quantity;
mod svg;
mod top_table;
mod top_text;
mod tree_builder;
mod tree_frame;

pub use call_tree::{CallTree, CallTreeOptions, NodeId, StackOrder, TaskFrames, TreeNode};
pub use error::{Error, ErrorKind};
pub use flame_layout::{FlameLayout, FlameRect};
pub use palette::{PALETTES, Palette};
pub use quantity::Measure;
pub use svg::{FlameGraphOptions, RootSide, flame_graph_svg};
pub use top_table::{TopRow, TopTable};
pub use top_text::{TopOrder, TopTextOptions, write_top_table};
pub use tree_frame::{FrameClass, FrameKind, TreeFrame};
