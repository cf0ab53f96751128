//! Lines and inlined functions of one file, by way of blazesym. It is given the open file, not
//! its path, which may lead to another file by now.
//!
//! Functions are named by the symbol table, not by DWARF, wherever it knows them: the compiler
//! leaves out the mangled name of what is local to a file, and what remains has lost its
//! namespace.

use crate::scoped_names::scoped_names;
use blazesym::helper::ElfResolver;
use blazesym::symbolize::{CodeInfo, FindSymOpts, ResolvedSym, SrcLang, Symbolize as _};
use elf::Image;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::num::NonZero;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// A file with debug information.
pub(crate) struct DebugInfo<'a> {
    /// The file, open for reading.
    pub file: &'a File,
    /// Its headers.
    pub image: &'a Image,
    /// Where further files lie that it points to (DWARF supplementary files, as dwz makes them).
    pub debug_dirs: &'a [PathBuf],
}

/// What an address stands for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// The function that was compiled as such, mangled, and its first address (an ELF virtual
    /// one), if it is known for certain.
    pub function: Option<(String, u64)>,
    /// Where it stands, or calls what was inlined into it.
    pub place: Place,
    /// The functions that were inlined, innermost first, mangled, each with its place.
    pub inlined: Vec<(String, Place)>,
    /// Whether the language is C++.
    is_cpp: bool,
}

/// A place in the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub file: Option<String>,
    /// 0 where it is not known.
    pub line: u32,
}

impl DebugInfo<'_> {
    /// What stands at each of `addresses`: sorted, ELF virtual ones. Empty where it is not
    /// known or cannot be read.
    pub(crate) fn chains(&self, addresses: &[u64], open: &mut OpenDebugInfo) -> Vec<Chain> {
        /// Measured: below this, starting a thread costs more than it saves.
        const FEWEST_A_THREAD: usize = 250;
        // A length that is not checked before, damaged, ends the process for want of memory.
        let is_debug = |name: &[u8]| name.starts_with(b".debug") || name.starts_with(b".zdebug");
        let mut sections = self.image.sections().iter().filter(|section| is_debug(&section.name));
        if sections.any(|section| self.image.section_len(section).is_err()) {
            return vec![Chain::default(); addresses.len()];
        }
        let most = std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads = (addresses.len() / FEWEST_A_THREAD).clamp(1, most);
        // Neighbours mostly stand in the same compilation unit, which is then read by one
        // thread only.
        let share = addresses.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let (first, others) = addresses.split_at(share.min(addresses.len()));
            let read = |part| self.read(part, self.open().as_ref());
            let others: Vec<_> = others.chunks(share).map(|part| (part, scope.spawn(move || read(part)))).collect();
            let mut chains = self.read(first, open.of(self));
            for (part, thread) in others {
                chains.extend(thread.join().unwrap_or_else(|_| vec![Chain::default(); part.len()]));
            }
            chains
        })
    }

    fn open(&self) -> Option<ElfResolver> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        contained(|| ElfResolver::open_with_debug_dirs(path, self.debug_dirs).ok())
    }

    fn read(&self, addresses: &[u64], resolver: Option<&ElfResolver>) -> Vec<Chain> {
        let Some(resolver) = resolver else { return vec![Chain::default(); addresses.len()] };
        let find = |&address: &u64| {
            let found = || resolver.find_sym(address, &FindSymOpts::CodeInfoAndInlined).ok()?.ok().map(chain);
            contained(found).unwrap_or_default()
        };
        let mut chains: Vec<Chain> = addresses.iter().map(find).collect();
        self.add_scopes(addresses, &mut chains);
        chains
    }

    /// Replaces the names that lack their namespace.
    fn add_scopes(&self, addresses: &[u64], chains: &mut [Chain]) {
        let is_bare = |name: &str| !name.is_empty() && !name.starts_with("_Z");
        let mut bare: Vec<(&u64, &mut Chain)> = addresses
            .iter()
            .zip(chains)
            .filter(|(_, chain)| chain.is_cpp && chain.inlined.iter().any(|(name, _)| is_bare(name)))
            .collect();
        if bare.is_empty() {
            return;
        }
        let wanted: Vec<u64> = bare.iter().map(|(address, _)| **address).collect();
        let Some(scoped) = scoped_names(self.image, &wanted) else { return };
        for ((_, chain), scoped) in bare.iter_mut().zip(scoped) {
            // Two readers of the same tree: where they do not agree, neither is improved on.
            if chain.inlined.len() == scoped.len() {
                let better = chain.inlined.iter_mut().zip(scoped).filter(|((name, _), _)| is_bare(name));
                better.for_each(|((name, _), scoped)| *name = scoped.unwrap_or(std::mem::take(name)));
            }
        }
    }
}

/// Debug information that was read before: most of the time goes into unpacking and indexing it, and
/// a file may be asked about more than once.
#[derive(Default)]
pub(crate) struct OpenDebugInfo {
    /// By device and inode.
    resolvers: FxHashMap<(u64, u64), Option<ElfResolver>>,
}

impl OpenDebugInfo {
    fn of(&mut self, info: &DebugInfo<'_>) -> Option<&ElfResolver> {
        let metadata = info.file.metadata().ok()?;
        let key = (metadata.dev(), metadata.ino());
        self.resolvers.entry(key).or_insert_with(|| info.open()).as_ref()
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
        function: found.size.filter(|_| !found.name.is_empty()).map(|_| (found.name.into(), found.addr)),
        place: place(found.code_info.as_deref()),
        inlined: found
            .inlined
            .iter()
            .rev()
            .map(|function| (function.name.to_string(), place(function.code_info.as_ref())))
            .collect(),
        is_cpp: found.lang == SrcLang::Cpp,
    }
}

fn place(info: Option<&CodeInfo<'_>>) -> Place {
    let Some(info) = info else { return Place::default() };
    let file = info.to_path();
    let file = model::text::from_bytes(file.as_os_str().as_encoded_bytes());
    Place { file: (!file.is_empty()).then(|| file.into_owned()), line: info.line.unwrap_or(0) }
}
