//! One file a verb, and what verbs share.

pub mod graph;
pub mod record;
pub mod report;

mod draw;
mod input;
mod live_line;
mod open;
mod summary;
