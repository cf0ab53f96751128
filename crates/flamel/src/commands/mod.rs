//! One file a verb, and what verbs share.

pub mod draw;
pub mod graph;
pub mod record;
pub mod report;

mod input;
mod live_line;
mod open;
mod summary;
