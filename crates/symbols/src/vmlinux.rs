//! A kernel's symbols from files: its `vmlinux`, or text in the format of /proc/kallsyms. A
//! `vmlinux` is turned into such text, so that there is one way to choose and find symbols.

use crate::kernel::KernelSymbols;
use elf::{Binding, Image};
use model::NameMissing;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};

/// The longest text that is read, in bytes. A kernel with everything built in prints some 20 MB.
const LONGEST_TEXT: u64 = 512 << 20;

impl KernelSymbols {
    /// Reads a copy of /proc/kallsyms, a `System.map` or a `vmlinux`. A file that tells no
    /// address is an error of the kind [`ErrorKind::InvalidData`], whose text says so.
    pub fn from_file(file: File) -> io::Result<Self> {
        let symbols = match Image::open(&file) {
            Ok(image) => Self::from_vmlinux(&image),
            Err(_) => {
                let mut text = Vec::new();
                file.take(LONGEST_TEXT).read_to_end(&mut text)?;
                Self::parse(text)
            }
        };
        symbols.map_err(|_| io::Error::new(ErrorKind::InvalidData, "no kernel symbols with addresses are in it"))
    }

    /// The symbols of a `vmlinux`, or of the debug file that was split off it. Their addresses
    /// are those before the kernel moved itself at boot. [`NameMissing::Stripped`] where there
    /// is no symbol table.
    pub fn from_vmlinux(image: &Image) -> Result<Self, NameMissing> {
        let table = image.symbols().ok_or(NameMissing::Stripped)?;
        let names = table.names().map_err(|_| NameMissing::Unreadable)?;
        let code: Vec<_> = image.code_sections().collect();
        let mut text = Vec::new();
        let mut add = |address: u64, kind: char, name: &[u8]| {
            text.extend(format!("{address:016x} {kind} ").bytes());
            text.extend(name);
            text.push(b'\n');
        };
        let walked = table.for_each(|symbol| {
            let kind = match symbol.binding {
                _ if !code.iter().any(|addresses| addresses.contains(&symbol.address)) => 'D',
                Binding::Global => 'T',
                Binding::Local => 't',
                Binding::Weak => 'W',
            };
            add(symbol.address, kind, names.of(&symbol));
        });
        walked.map_err(|_| NameMissing::Unreadable)?;
        // A symbol reaches to the next one, and the last of a section to its end.
        code.iter().for_each(|addresses| add(addresses.end, 'D', b""));
        Self::parse(text).map_err(|_| NameMissing::Stripped)
    }
}
