//! Addresses of files, the kernel and generated code to functions, files and lines.
//!
//! ```text
//!                     ┌─ symbol tables ─────────┐
//!  file + addresses ──┤  (own, debug file's)    ├─► name, inlined functions, lines ─► demangled
//!                     └─ DWARF, .gnu_debugdata ─┘
//!  kernel addresses ──── /proc/kallsyms, its copy, or vmlinux
//!  generated code ────── /tmp/perf-PID.map
//! ```
//!
//! A name that is missing has a [`NameMissing`](model::NameMissing) reason. Only local files
//! are read: no network, and nothing of the environment.
#![forbid(unsafe_code)]

mod alias;
mod debug_files;
mod debug_info;
mod demangle;
mod kernel;
mod kernel_cache;
mod parameters;
mod perf_map;
mod perf_map_file;
mod scoped_names;
mod symbol_names;
mod symbolizer;
mod vmlinux;

pub use debug_files::{DebugFile, find_debug_file};
pub use demangle::demangle;
pub use kernel::{KernelSymbol, KernelSymbols};
pub use kernel_cache::KernelCache;
pub use parameters::without_parameters;
pub use perf_map::{GeneratedCode, PerfMap, Tail};
pub use perf_map_file::read_perf_map;
pub use symbolizer::{Binary, Found, Generated, Options, SymbolFrame, Symbolizer};
