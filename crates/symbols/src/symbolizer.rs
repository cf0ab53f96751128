//! One session of looking up names: every file once, whatever is wanted from it at one go.

use crate::debug_files::{DebugFile, find_debug_file};
use crate::debug_info::{Chain, DebugInfo, OpenDebugInfo};
use crate::demangle::demangle;
use crate::kernel::KernelSymbol;
use crate::perf_map::PerfMap;
use crate::perf_map_file::read_perf_map;
use crate::symbol_names::{self, Known, Label};
use elf::{Image, Stub};
use model::{Address, NameMissing, Pid};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

/// How names are looked up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether inlined functions and lines are looked up. Without them, debug information is
    /// read only where the symbol table does not know a function.
    pub inlines: bool,
    /// The folders under which separate debug files lie.
    pub debug_dirs: Vec<PathBuf>,
    /// Whether names stay as the linker knows them: mangled, with parameter lists.
    pub raw_names: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { inlines: true, debug_dirs: vec!["/usr/lib/debug".into()], raw_names: false }
    }
}

/// A file that holds code.
#[derive(Clone, Copy, Debug)]
pub struct Binary<'a> {
    /// The file itself, open for reading; its path may be gone or lead to another file.
    pub file: &'a File,
    /// Its headers.
    pub image: &'a Image,
    /// Its path, from whose folder separate debug files are looked for.
    pub path: &'a Path,
}

/// A function at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolFrame {
    /// Its name, demangled (see [`demangle`]).
    pub name: String,
    /// The source file, where it is known.
    pub file: Option<String>,
    /// The line in it, 0 where it is not known. In a function into which others were inlined
    /// it is the line of the call.
    pub line: u32,
    /// Whether the compiler merged it into its caller, which is the next frame.
    pub inlined: bool,
    /// How many bytes the address lies behind the function's first one; `None` for an inlined
    /// function, which has no place of its own.
    pub offset: Option<u64>,
}

/// The functions at one address, the innermost first, or why there is none.
pub type Found = Result<Vec<SymbolFrame>, NameMissing>;

/// What a process's perf map says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    /// What was found at each address, in their order.
    pub found: Vec<Found>,
    /// How many of the map's lines could not be read ([`PerfMap::rejected`]).
    pub rejected: u64,
}

/// Looks up names.
#[derive(Default)]
pub struct Symbolizer {
    options: Options,
    /// Demangled names, by symbol. Many addresses share one.
    names: FxHashMap<String, String>,
    open: OpenDebugInfo,
}

impl Symbolizer {
    /// A new session.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// Names the functions at `addresses` of a file: ELF virtual addresses, which for return
    /// addresses have been moved back into the call, in any order. Result i belongs to
    /// address i. Ask for many addresses of a file at once: its symbol table is walked for each
    /// call anew.
    pub fn binary(&mut self, binary: &Binary<'_>, addresses: &[u64]) -> Vec<Found> {
        let mut sorted = addresses.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let found = self.sorted(binary, &sorted);
        let of = |address| sorted.binary_search(address).map_or(Err(NameMissing::Stripped), |at| found[at].clone());
        addresses.iter().map(of).collect()
    }

    /// The frame of a kernel function, which holds `address`
    /// ([`KernelSymbols::find`](crate::KernelSymbols::find)).
    pub fn kernel(&mut self, symbol: &KernelSymbol<'_>, address: Address) -> SymbolFrame {
        let name = self.name(model::text::from_bytes(symbol.name).into_owned());
        function(name, address.0, symbol.start.0)
    }

    /// Names the code that a process generated at `addresses` of its memory, by its perf map.
    pub fn generated(&mut self, pid: Pid, addresses: &[u64]) -> Generated {
        let map = read_perf_map(pid);
        let found = addresses.iter().map(|&address| {
            let code = map.as_ref().map_err(|reason| *reason)?.find(Address(address));
            let code = code.ok_or(NameMissing::NoJitMap)?;
            Ok(vec![function(code.name.into_owned(), address, code.start.0)])
        });
        Generated { found: found.collect(), rejected: map.as_ref().map_or(0, PerfMap::rejected) }
    }

    fn sorted(&mut self, binary: &Binary<'_>, addresses: &[u64]) -> Vec<Found> {
        let separate = match binary.image.has_debug_info() && binary.image.symbols().is_some() {
            true => None,
            false => find_debug_file(binary.file, binary.image, binary.path, &self.options.debug_dirs),
        };
        let known = known(binary.image, separate.as_ref().map(|debug| &debug.image), addresses);
        // DWARF knows no function that a whole symbol table does not.
        let has_table = binary.image.symbols().or(separate.as_ref().and_then(|debug| debug.image.symbols())).is_some();
        let wants_chain = |known: &Known| self.options.inlines || !(has_table || matches!(known, Known::Inside(_)));
        let wanted = addresses.iter().zip(&known).filter(|(_, known)| wants_chain(known));
        let wanted: Vec<u64> = wanted.map(|(address, _)| *address).collect();
        let mut open = std::mem::take(&mut self.open);
        let debug_info = self.debug_info(binary, separate.as_ref()).filter(|_| !wanted.is_empty());
        let chains = debug_info.map(|info| info.chains(&wanted, &mut open)).unwrap_or_default();
        self.open = open;
        let mut chains = wanted.into_iter().zip(chains).peekable();
        // What is missing from a whole file was stripped; a damaged one cannot tell.
        let reason = if binary.image.damage().is_some() { NameMissing::Unreadable } else { NameMissing::Stripped };
        let found = addresses.iter().zip(known).map(|(&address, known)| {
            let chain = chains.next_if(|(of, _)| *of == address).map(|(_, chain)| chain);
            self.frames(address, known, chain.unwrap_or_default()).ok_or(reason)
        });
        found.collect()
    }

    /// Where the debug information is, the binary's own first. A stripped file may hold the
    /// names of its functions in `.gnu_debugdata` instead, which the same reader knows.
    fn debug_info<'a>(&'a self, binary: &Binary<'a>, separate: Option<&'a DebugFile>) -> Option<DebugInfo<'a>> {
        let own = (binary.file, binary.image);
        let separate = separate.map(|debug| (&debug.file, &debug.image));
        let has_mini = binary.image.symbols().is_none() && binary.image.section(".gnu_debugdata").is_some();
        let with_dwarf = [Some(own), separate].into_iter().flatten().find(|(_, image)| image.has_debug_info());
        let (file, image) = with_dwarf.or(has_mini.then_some(own))?;
        Some(DebugInfo { file, image, debug_dirs: &self.options.debug_dirs })
    }

    fn frames(&mut self, address: u64, known: Known, chain: Chain) -> Option<Vec<SymbolFrame>> {
        let text = |label: Label| (model::text::from_bytes(&label.name).into_owned(), label.start);
        let (symbol, start) = match (known, chain.function) {
            (Known::Inside(label), _) => text(label),
            (_, Some(function)) => function,
            (Known::After(label), None) => text(label),
            (Known::Nothing, None) => return None,
        };
        let mut frames = Vec::with_capacity(1 + chain.inlined.len());
        if self.options.inlines {
            // An inlined function without a name tells nothing that its caller does not.
            let named = chain.inlined.into_iter().filter(|(name, _)| !name.is_empty());
            frames.extend(named.map(|(name, place)| SymbolFrame {
                name: self.name(name),
                file: place.file,
                line: place.line,
                inlined: true,
                offset: None,
            }));
        }
        let (file, line) = if self.options.inlines { (chain.place.file, chain.place.line) } else { (None, 0) };
        frames.push(SymbolFrame { file, line, ..function(self.name(symbol), address, start) });
        Some(frames)
    }

    fn name(&mut self, symbol: String) -> String {
        let raw = self.options.raw_names;
        self.names.entry(symbol).or_insert_with_key(|symbol| readable(symbol, raw).into_owned()).clone()
    }
}

/// The names that the symbol tables give: the debug file's, whose table is whole, then the
/// binary's own. What they do not know may be a stub through which another file's function is
/// called, `NAME@plt`.
fn known(image: &Image, separate: Option<&Image>, addresses: &[u64]) -> Vec<Known> {
    let mut known = vec![Known::Nothing; addresses.len()];
    let tables = [
        separate.and_then(|image| Some((image, image.symbols()?))),
        image.symbols().map(|table| (image, table)),
        image.dynamic_symbols().map(|table| (image, table)),
    ];
    for (image, table) in tables.into_iter().flatten() {
        if known.iter().all(|known| matches!(known, Known::Inside(_))) {
            break;
        }
        for (known, found) in known.iter_mut().zip(symbol_names::names(image, &table, addresses)) {
            match (&*known, &found) {
                (Known::Inside(_), _) | (_, Known::Nothing) | (Known::After(_), Known::After(_)) => {}
                _ => *known = found,
            }
        }
    }
    let is_unknown = |known: &Known| !matches!(known, Known::Inside(_));
    if known.iter().any(is_unknown) {
        // Stubs that cannot be read are as nameless as they were.
        let stubs = image.stubs().unwrap_or_default();
        for (address, known) in addresses.iter().zip(&mut known).filter(|(_, known)| is_unknown(known)) {
            if let Some(stub) = stub_at(&stubs, *address) {
                let name = [&stub.name[..], b"@plt"].concat();
                *known = Known::Inside(Label { name, start: stub.addresses.start });
            }
        }
    }
    known
}

fn stub_at(stubs: &[Stub], address: u64) -> Option<&Stub> {
    let after = stubs.partition_point(|stub| stub.addresses.start <= address);
    stubs[..after].last().filter(|stub| stub.addresses.contains(&address))
}

fn readable(symbol: &str, raw: bool) -> Cow<'_, str> {
    if raw { symbol.into() } else { demangle(symbol) }
}

/// The function that holds `address` and starts at `start`, without a place in the sources.
fn function(name: String, address: u64, start: u64) -> SymbolFrame {
    SymbolFrame { name, file: None, line: 0, inlined: false, offset: address.checked_sub(start) }
}
