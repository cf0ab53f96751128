//! ELF files: identity, segments and sections, read without mapping them.
//!
//! ```text
//!  open file or bytes ──► Source (bounded reads) ──► Headers ──► Image ──┬─ identity, addresses
//!                                                                       ├─ sections, UnwindSections
//!                                                                       └─ symbols, stubs, extents of functions
//! ```
//!
//! A file that is mapped and then cut by somebody kills its reader with SIGBUS, so that all is
//! read by pread(2). Every length that the file states is checked against the file's real size
//! before anything is allocated. Choosing among symbols and reading DWARF are the crate
//! `symbols`' business.
#![forbid(unsafe_code)]

mod error;
mod frame_entry;
mod function;
mod headers;
mod image;
mod note;
mod only_debug;
mod section;
mod source;
mod stub;
mod symbol;
mod unwind_sections;

pub use error::{Error, ErrorKind};
pub use headers::{Machine, Segment};
pub use image::Image;
pub use note::{DebugLink, build_id_of_notes};
pub use only_debug::MappedCode;
pub use section::{Section, SectionData};
pub use stub::Stub;
pub use symbol::{Binding, Symbol, SymbolNames, SymbolTable};
pub use unwind_sections::UnwindSections;
