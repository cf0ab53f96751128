//! The list of workloads. A new one is a source under `workloads/`, whose header comment says its
//! truth, and an entry here.

use crate::{Truth, Variant, build};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a workload is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C, gcc.
    C,
    /// C++, g++.
    Cpp,
    /// Rust, rustc.
    Rust,
}

/// What is made of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A program.
    Program,
    /// A shared library, for a program to load.
    Library,
}

/// A source under `workloads/`, whose header comment says how it is called and its truth.
#[derive(Debug)]
pub struct Workload {
    /// The name of source and program, without extension.
    pub name: &'static str,
    /// Its language.
    pub language: Language,
    /// Program or library.
    pub kind: Kind,
    /// What it is good for.
    pub summary: &'static str,
}

macro_rules! workloads {
    ($($const:ident = $name:literal, $language:ident, $kind:ident, $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub const $const: Workload =
                Workload { name: $name, language: Language::$language, kind: Kind::$kind, summary: $summary };
        )*
        /// Every workload.
        pub const ALL: &[&Workload] = &[$(&$const,)*];
    };
}

workloads! {
    SHARES = "shares", C, Program, "60/30/10 % in three leaf functions; two threads, two processes, an exec'd child";
    RECURSE = "recurse", C, Program, "a stack of 3,000 frames";
    THREADS = "threads", C, Program, "many threads, also one whose name is not UTF-8";
    STORM = "storm", C, Program, "many short processes";
    DLOPEN = "dlopen", C, Program, "libraries opened and closed while running, one where another was";
    PLUGIN_A = "plugin_a", C, Library, "the first library for dlopen and memfd, hot in `hot_in_a`";
    PLUGIN_B = "plugin_b", C, Library, "the second library for dlopen and memfd, hot in `hot_in_b`";
    MEMFD = "memfd", C, Program, "a program or a library that lies in a memfd";
    JIT = "jit", C, Program, "generated code with a perf map";
    VDSO = "vdso", C, Program, "time spent in the vDSO";
    SIGNAL = "signal", C, Program, "a hot function inside a signal handler";
    SLEEPY = "sleepy", C, Program, "sleeps, nearly without CPU time";
    INLINED = "inlined", C, Program, "inlined functions with known lines";
    PROLOGUE = "prologue", C, Program, "functions that are little more than prologue and epilogue";
    TABLELESS = "tableless", C, Program, "leaf functions in assembly that no unwind table covers";
    ENDS = "ends", C, Program, "exits with a code, or dies by a signal; a vfork";
    SYSCALLS = "syscalls", C, Program, "time spent in the kernel, in a measured share";
    WORK = "work", C, Program, "counts the work that it gets done";
    LETTERS = "letters", C, Program, "C functions whose names are manglings of types";
    NAMES_CPP = "names", Cpp, Program, "C++ names: namespaces, templates, operators, lambdas";
    NAMES_RUST = "names", Rust, Program, "Rust names: modules, traits, generics, closures";
    DEMO = "demo", C, Program, "writes, reads, sorts and compresses JSON: the picture of `make demo`";
}

impl Workload {
    /// The path of the source.
    pub fn source(&self) -> PathBuf {
        let extension = match self.language {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Rust => "rs",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads").join(self.name).with_extension(extension)
    }

    /// The file name of what is built: the name, with `.so` for a library.
    pub fn file_name(&self) -> String {
        match self.kind {
            Kind::Program => self.name.to_owned(),
            Kind::Library => format!("{}.so", self.name),
        }
    }

    /// Builds it unless that was done before; see [`build::build`].
    ///
    /// # Panics
    /// If it does not compile.
    pub fn build(&self, variant: Variant) -> PathBuf {
        build::build(self, variant)
    }

    /// Builds and runs it, unobserved, and returns the truth that it prints.
    ///
    /// # Panics
    /// If it does not compile, fails, or prints no truth.
    pub fn run(&self, variant: Variant, arguments: &[&str]) -> Truth {
        let output = Command::new(self.build(variant)).args(arguments).output();
        let output = output.unwrap_or_else(|error| panic!("running {}: {error}", self.name));
        assert!(output.status.success(), "{} {arguments:?} failed: {output:?}", self.name);
        Truth::from_output(&output.stdout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_whole() {
        let listed: BTreeSet<PathBuf> = ALL.iter().map(|workload| workload.source()).collect();
        assert_eq!(listed.len(), ALL.len(), "two workloads share a source");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads");
        let found: BTreeSet<PathBuf> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension != "h"))
            .collect();
        assert_eq!(listed, found);
        for workload in ALL {
            assert!(!workload.summary.is_empty(), "{} has no summary", workload.name);
            let text = std::fs::read_to_string(workload.source()).unwrap();
            let says_truth = text.contains("Truth") || workload.kind == Kind::Library;
            assert!(says_truth, "`{}` does not say its truth", workload.source().display());
        }
    }
}
