//! Lines and inlined functions of one file, by way of blazesym. It is given the open file, not
//! its path, which may lead to another file by now.
//!
//! Functions are named by the symbol table, not by DWARF, wherever it knows them: the compiler
//! leaves out the mangled name of what is local to a file, and what remains has lost its
//! namespace.

use blazesym::helper::ElfResolver;
use blazesym::symbolize::{CodeInfo, FindSymOpts, ResolvedSym, Symbolize as _};
use elf::Image;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The debug information of one file.
pub(crate) struct DebugInfo {
    resolver: ElfResolver,
}

/// What an address stands for.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The function that was compiled as such, mangled, if it is known for certain.
    pub function: Option<String>,
    /// Where it stands, or calls what was inlined into it.
    pub place: Place,
    /// The functions that were inlined, innermost first, mangled, each with its place.
    pub inlined: Vec<(String, Place)>,
}

/// A place in the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub file: Option<String>,
    /// 0 where it is not known.
    pub line: u32,
}

impl DebugInfo {
    /// The debug information of `file`, whose headers are `image`. It can point to further
    /// files (DWARF supplementary files, as dwz makes them), looked for in `debug_dirs`.
    /// `None` where there is none that can be read.
    pub(crate) fn open(file: &File, image: &Image, debug_dirs: &[PathBuf]) -> Option<Self> {
        // A length that is not checked before, damaged, ends the process for want of memory.
        let is_debug = |name: &[u8]| name.starts_with(b".debug") || name.starts_with(b".zdebug");
        let mut sections = image.sections().iter().filter(|section| is_debug(&section.name));
        if sections.any(|section| image.section_len(section).is_err()) {
            return None;
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let resolver = contained(|| ElfResolver::open_with_debug_dirs(path, debug_dirs).ok())?;
        Some(Self { resolver })
    }

    /// What stands at an ELF virtual address.
    pub(crate) fn find(&self, address: u64) -> Option<Chain> {
        contained(|| {
            let found = self.resolver.find_sym(address, &FindSymOpts::CodeInfoAndInlined).ok()?.ok()?;
            Some(chain(found))
        })
    }
}

/// Runs `read`, and takes a panic in it for damage in the file: the parsers behind it check
/// much, but add up sizes of damaged files unchecked where overflow checks are on.
fn contained<T>(read: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(None)
}

fn chain(found: ResolvedSym<'_>) -> Chain {
    Chain {
        // Without an extent it is the label that happens to stand before the address.
        function: found.size.filter(|_| !found.name.is_empty()).map(|_| found.name.into()),
        place: place(found.code_info.as_deref()),
        inlined: found
            .inlined
            .iter()
            .rev()
            .map(|function| (function.name.to_string(), place(function.code_info.as_ref())))
            .collect(),
    }
}

fn place(info: Option<&CodeInfo<'_>>) -> Place {
    let Some(info) = info else { return Place::default() };
    let file = info.to_path();
    let file = model::text::from_bytes(file.as_os_str().as_encoded_bytes());
    Place { file: (!file.is_empty()).then(|| file.into_owned()), line: info.line.unwrap_or(0) }
}
