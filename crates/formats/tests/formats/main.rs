//! Everything that the formats promise, in one binary. tests/cases holds inputs that other
//! tools stumble over, each with a note of what must hold; tests/examples an example of every
//! format.

mod cases;
mod folded;
mod list;
mod places;
mod pprof;
mod pprof_tool;
