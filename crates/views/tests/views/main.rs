//! Everything that the views promise, in one binary. `REWRITE_GOLDEN=1 cargo test -p views`
//! rewrites the files under tests/golden from what comes out now.

mod browser;
mod call_tree;
mod cases;
mod flame_layout;
mod golden;
mod quality;
mod samples;
mod script;
mod svg;
mod top_table;
