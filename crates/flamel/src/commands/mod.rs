//! One file a verb, and what verbs share.

pub mod convert;
pub mod draw;
pub mod fold;
pub mod graph;
pub mod record;
pub mod report;
pub mod script;

mod header_text;
mod input;
mod live_line;
mod open;
mod recorder;
mod recording;
mod summary;
