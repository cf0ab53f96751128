//! Compiles workloads, in the variants that matter to a profiler: with and without frame
//! pointers, debug information and symbols, and by the ways of linking.

use crate::cache;
use crate::workload::{Kind, Language, Workload};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether functions keep a frame pointer, leaf functions included.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FramePointers {
    /// Every function has one.
    Kept,
    /// None has.
    Omitted,
}

/// How far the compiler optimises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Optimisation {
    /// `-O0`
    None,
    /// `-O2`
    Full,
}

/// Whether there is debug information.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DebugInfo {
    /// None.
    None,
    /// `-g`
    Full,
}

/// How a program is linked. Libraries are shared whatever it says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Linkage {
    /// Dynamic, position-independent: the default of Debian.
    Pie,
    /// Dynamic, at fixed addresses.
    NoPie,
    /// Static, at fixed addresses.
    Static,
    /// Static, position-independent.
    StaticPie,
}

/// Whether the symbol table is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolTable {
    /// It is.
    Kept,
    /// `strip`ped, debug information included.
    Stripped,
}

/// How rustc mangles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mangling {
    /// `_RNv…`
    V0,
    /// `_ZN…17h…E`
    Legacy,
}

/// A way to build a workload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    /// Frame pointers.
    pub frame_pointers: FramePointers,
    /// Optimisation.
    pub optimisation: Optimisation,
    /// Debug information.
    pub debug_info: DebugInfo,
    /// Linking.
    pub linkage: Linkage,
    /// Symbols.
    pub symbols: SymbolTable,
    /// Mangling of Rust names.
    pub mangling: Mangling,
}

impl Default for Variant {
    /// `-O2 -g` with frame pointers, linked as the compiler does by itself.
    fn default() -> Self {
        Self {
            frame_pointers: FramePointers::Kept,
            optimisation: Optimisation::Full,
            debug_info: DebugInfo::Full,
            linkage: Linkage::Pie,
            symbols: SymbolTable::Kept,
            mangling: Mangling::V0,
        }
    }
}

impl Variant {
    /// The default but without frame pointers, as distributions build.
    pub fn without_frame_pointers() -> Self {
        Self { frame_pointers: FramePointers::Omitted, ..Self::default() }
    }

    /// Flags of gcc and g++ that make code; they suit every source.
    pub(crate) fn gcc_flags(self) -> Vec<&'static str> {
        let mut flags = vec!["-Wall", "-Wextra", "-Werror", "-fno-optimize-sibling-calls", "-pthread"];
        flags.extend(match self.frame_pointers {
            FramePointers::Kept => ["-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"],
            FramePointers::Omitted => ["-fomit-frame-pointer", "-momit-leaf-frame-pointer"],
        });
        flags.push(match self.optimisation {
            Optimisation::None => "-O0",
            Optimisation::Full => "-O2",
        });
        flags.extend((self.debug_info == DebugInfo::Full).then_some("-g"));
        flags.extend((self.symbols == SymbolTable::Stripped).then_some("-s"));
        flags
    }

    fn gcc_linkage(self, kind: Kind) -> &'static [&'static str] {
        match (kind, self.linkage) {
            (Kind::Library, _) => &["-shared", "-fPIC"],
            (Kind::Program, Linkage::Pie) => &["-fPIE", "-pie"],
            (Kind::Program, Linkage::NoPie) => &["-fno-pie", "-no-pie"],
            (Kind::Program, Linkage::Static) => &["-fno-pie", "-static"],
            (Kind::Program, Linkage::StaticPie) => &["-fPIE", "-static-pie"],
        }
    }

    fn rustc_flags(self) -> Vec<&'static str> {
        let on = |yes: bool, flag: &'static str, otherwise: &'static str| if yes { flag } else { otherwise };
        let mut flags = vec!["--edition=2024", "-Dwarnings", "-Zunstable-options"];
        flags.extend([
            on(self.frame_pointers == FramePointers::Kept, "-Cforce-frame-pointers=yes", "-Cforce-frame-pointers=no"),
            on(self.optimisation == Optimisation::Full, "-Copt-level=2", "-Copt-level=0"),
            on(self.debug_info == DebugInfo::Full, "-Cdebuginfo=2", "-Cdebuginfo=0"),
            on(self.symbols == SymbolTable::Stripped, "-Cstrip=symbols", "-Cstrip=none"),
            on(self.mangling == Mangling::V0, "-Csymbol-mangling-version=v0", "-Csymbol-mangling-version=legacy"),
        ]);
        flags.extend(match self.linkage {
            Linkage::Pie => ["-Crelocation-model=pie", "-Ctarget-feature=-crt-static"],
            Linkage::NoPie => ["-Crelocation-model=static", "-Ctarget-feature=-crt-static"],
            Linkage::Static => ["-Crelocation-model=static", "-Ctarget-feature=+crt-static"],
            Linkage::StaticPie => ["-Crelocation-model=pie", "-Ctarget-feature=+crt-static"],
        });
        flags
    }
}

/// Compiles `workload` unless that was done before; returns the path of the program or library,
/// whose file name is the workload's.
///
/// # Panics
/// If the compiler is missing or complains; a warning is a complaint.
pub fn build(workload: &Workload, variant: Variant) -> PathBuf {
    let source = workload.source();
    let (compiler, flags): (OsString, Vec<&str>) = match workload.language {
        Language::C | Language::Cpp => {
            let c = workload.language == Language::C;
            let standard = if c { "-std=gnu11" } else { "-std=c++17" };
            let mut flags = variant.gcc_flags();
            flags.push(standard);
            flags.extend(variant.gcc_linkage(workload.kind));
            (if c { "gcc" } else { "g++" }.into(), flags)
        }
        Language::Rust => (rustc(), variant.rustc_flags()),
    };
    let name = workload.file_name();
    let place = cache::entry(&(&name, inputs_of(&source), &compiler, &flags), |into| {
        let mut command = Command::new(&compiler);
        command.args(&flags).arg(&source).arg("-o").arg(into.join(&name));
        match workload.language {
            // After the source, since the linker takes what the sources before have asked for.
            Language::C | Language::Cpp => command.arg("-ldl"),
            // The legacy mangling asks for a nightly compiler, or for this word.
            Language::Rust => command.env("RUSTC_BOOTSTRAP", "1"),
        };
        run_compiler(command);
    });
    place.join(name)
}

/// Copies a program, so that the copy can be executed at once, removed or replaced.
///
/// The copying is done by cp(1): a file that this process had open for writing could be held
/// open by the child of another thread between its fork and its exec, and executing it would
/// fail (ETXTBSY).
///
/// # Panics
/// If it cannot be copied.
pub fn copy_program(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("--").arg(from).arg(to).status();
    assert!(status.is_ok_and(|status| status.success()), "copying `{}` to `{}`", from.display(), to.display());
}

/// Runs a compiler and panics with all that it says unless it succeeds.
pub(crate) fn run_compiler(mut command: Command) {
    let output = command.output().unwrap_or_else(|error| panic!("running {command:?}: {error}"));
    assert!(output.status.success(), "{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// The source and all headers of the workloads: what a binary's contents depend on.
fn inputs_of(source: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = source.parent().expect("a source lies in a folder");
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("reading `{}`: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path == source || path.extension().is_some_and(|extension| extension == "h"));
    paths.sort();
    let read = |path: &PathBuf| fs::read(path).unwrap_or_else(|error| panic!("reading `{}`: {error}", path.display()));
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// The compiler beside the cargo that runs the test: under sudo neither rustup's PATH nor its
/// settings may be there.
fn rustc() -> OsString {
    let beside = std::env::var_os("CARGO").map(|cargo| Path::new(&cargo).with_file_name("rustc"));
    beside.filter(|path| path.is_file()).map_or_else(|| "rustc".into(), PathBuf::into_os_string)
}
