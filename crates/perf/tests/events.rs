//! Event names, against kernels made up in a temporary folder. The expected numbers are facts:
//! what `perf record -vv -e NAME true` of perf 6.1 showed for the same names, unless a test says
//! otherwise.

#[path = "events/tree.rs"]
mod tree;

#[path = "events/errors.rs"]
mod errors;
#[path = "events/names.rs"]
mod names;
#[path = "events/pmus.rs"]
mod pmus;
#[path = "events/spec.rs"]
mod spec;
#[path = "events/tracepoints.rs"]
mod tracepoints;
