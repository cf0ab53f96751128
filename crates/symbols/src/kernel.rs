//! The kernel's symbols, from /proc/kallsyms: its own, those of its modules and of loaded BPF
//! programs. The kernel takes some 50 ms to print them, which is most of the time that it
//! takes to name anything in it. Those of another kernel come from a file of the same format
//! (a copy of its /proc/kallsyms, or `System.map`), or from its `vmlinux`.

use crate::alias::{self, Age};
use crate::kernel_cache::KernelCache;
use elf::Binding;
use model::{Address, NameMissing};
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;

/// The kernel's symbols as they were when they were read.
#[derive(Debug)]
pub struct KernelSymbols {
    /// What /proc/kallsyms said.
    text: Vec<u8>,
    /// Sorted by start, one for each address. A symbol reaches to the next one.
    symbols: Vec<Entry>,
    /// The addresses of which something is known; `None` for all.
    extent: Option<Range<u64>>,
}

/// A function of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelSymbol<'a> {
    /// Its name, not demangled.
    pub name: &'a [u8],
    /// The module that it belongs to, without brackets; `bpf` for BPF programs, `None` for the
    /// kernel itself.
    pub module: Option<&'a [u8]>,
    /// Its first address.
    pub start: Address,
}

#[derive(Debug)]
struct Entry {
    start: u64,
    /// Where the line's name starts in the text.
    name: u32,
    /// `None`: this is data, or the end of the code, and only ends the function before it.
    binding: Option<Binding>,
}

impl KernelSymbols {
    /// Reads /proc/kallsyms. [`NameMissing::KernelHidden`] where it shows no addresses, because
    /// of `kernel.kptr_restrict` or for want of CAP_SYSLOG.
    pub fn read() -> Result<Self, NameMissing> {
        let mut text = Vec::with_capacity(16 << 20);
        let read = File::open("/proc/kallsyms").and_then(|mut file| file.read_to_end(&mut text));
        read.map_err(|_| NameMissing::KernelHidden)?;
        Self::parse(text)
    }

    /// The same, by way of a copy in `cache`, which is made if there is none. A copy knows the
    /// kernel's own code only: ask [`Self::covers`].
    pub fn read_by(cache: Option<&KernelCache>) -> Result<Self, NameMissing> {
        if let Some(kept) = cache.and_then(KernelCache::read) {
            return Ok(kept);
        }
        let symbols = Self::read()?;
        if let Some(cache) = cache {
            cache.keep(&symbols);
        }
        Ok(symbols)
    }

    /// The symbols of a text in the format of /proc/kallsyms; see [`Self::read`].
    pub fn parse(text: Vec<u8>) -> Result<Self, NameMissing> {
        let mut symbols = Vec::with_capacity(text.len() / 40);
        let mut line_start = 0;
        let ends = memchr::memchr_iter(b'\n', &text).chain([text.len()]);
        for line_end in ends.take_while(|&end| u32::try_from(end).is_ok()) {
            symbols.extend(entry(&text, line_start, line_end));
            line_start = line_end + 1;
        }
        if symbols.iter().all(|symbol| symbol.start == 0) {
            return Err(NameMissing::KernelHidden);
        }
        // Nearly sorted already: the kernel's symbols, then each module's.
        symbols.sort_by_key(|symbol| (symbol.start, symbol.binding.is_none()));
        symbols.dedup_by(|next, kept| {
            let same = next.start == kept.start;
            if let (true, Some(next_binding), Some(binding)) = (same, next.binding, kept.binding) {
                let rank = |binding, at| alias::rank(binding, Age::Current, line(&text, at).0);
                if rank(next_binding, next.name) < rank(binding, kept.name) {
                    std::mem::swap(next, kept);
                }
            }
            same
        });
        Ok(Self { text, symbols, extent: None })
    }

    /// Whether the symbols say anything of an address.
    pub fn covers(&self, address: Address) -> bool {
        self.extent.as_ref().is_none_or(|extent| extent.contains(&address.0))
    }

    /// These symbols as far as they are of the kernel's own code; `None` where its ends are not
    /// known.
    pub(crate) fn of_own_code(self) -> Option<Self> {
        let extent = self.own_code()?;
        Some(Self { extent: Some(extent), ..self })
    }

    /// The lines of the text that are of the kernel's own code.
    pub(crate) fn own_code_text(&self) -> Option<Vec<u8>> {
        let extent = self.own_code()?;
        let lines = self.text.split_inclusive(|&byte| byte == b'\n');
        let is_inside = |line: &&[u8]| {
            entry(line, 0, line.len()).is_some_and(|entry| (extent.start..=extent.end).contains(&entry.start))
        };
        Some(lines.filter(is_inside).flatten().copied().collect())
    }

    /// From the first symbol of the kernel's code to its end.
    fn own_code(&self) -> Option<Range<u64>> {
        let (start, end) =
            (self.address_of(b"_text").or_else(|| self.address_of(b"_stext"))?, self.address_of(b"_etext")?);
        (start.0 != 0 && start < end).then_some(start.0..end.0)
    }

    /// The function at an address, which is a look-up address
    /// ([`CodeAddress::lookup`](model::CodeAddress::lookup)).
    pub fn find(&self, address: Address) -> Option<KernelSymbol<'_>> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address.0);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        symbol.binding.map(|_| {
            let (name, module) = line(&self.text, symbol.name);
            KernelSymbol { name, module, start: Address(symbol.start) }
        })
    }

    /// The address of one of the kernel's own symbols, code or not. The text is searched for it.
    pub fn address_of(&self, name: &[u8]) -> Option<Address> {
        memchr::memmem::find_iter(&self.text, name).find_map(|at| {
            let line_start = memchr::memrchr(b'\n', &self.text[..at]).map_or(0, |before| before + 1);
            let line_end = memchr::memchr(b'\n', &self.text[at..]).map_or(self.text.len(), |len| at + len);
            let entry = entry(&self.text, line_start, line_end)?;
            (line(&self.text, entry.name) == (name, None)).then_some(Address(entry.start))
        })
    }
}

/// `ffffffff81000000 T name`, with a tab and `[module]` behind it where it belongs to one.
fn entry(text: &[u8], start: usize, end: usize) -> Option<Entry> {
    let line = &text[start..end];
    let blank = line.iter().position(|&byte| byte == b' ')?;
    let address = line[..blank].iter().try_fold(0u64, |value, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        value.checked_mul(16).map(|value| value | u64::from(digit))
    })?;
    let kind = *line.get(blank + 1)?;
    let name_at = blank + 3;
    let name = line.get(name_at..)?;
    let binding = match kind {
        // The marks behind the last function are typed as functions.
        _ if name == b"_etext" || name == b"_einittext" => None,
        b'T' => Some(Binding::Global),
        b't' => Some(Binding::Local),
        b'W' | b'w' => Some(Binding::Weak),
        _ => None,
    };
    Some(Entry { start: address, name: u32::try_from(start + name_at).ok()?, binding })
}

/// Name and module of the line whose name starts at `at`.
fn line(text: &[u8], at: u32) -> (&[u8], Option<&[u8]>) {
    let rest = &text[at as usize..];
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    match memchr::memchr(b'\t', line) {
        Some(tab) => (&line[..tab], line[tab + 1..].strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"))),
        None => (line, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 t local
ffffffff81000000 T _text
ffffffff81000010 W weak_call
ffffffff81000010 T __x64_sys_call
ffffffff81000020 t __pfx_inner
ffffffff81000030 t inner.cold
ffffffff82000000 T _etext
ffffffff83000000 D data
ffffffffc0200000 t nf_hook\t[nf_tables]
ffffffffc0100000 t bpf_prog_6deef7357e7b4530_on_sample\t[bpf]
0000000000000000 A fixed_percpu_data
broken
ffffffffc0300000 r rodata\t[nf_tables]
";

    fn name_of(symbols: &KernelSymbols, address: u64) -> Option<(&str, Option<&str>)> {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        symbols.find(Address(address)).map(|found| (text(found.name), found.module.map(text)))
    }

    #[test]
    fn a_symbol_reaches_to_the_next_one() {
        let symbols = KernelSymbols::parse(TEXT.into()).unwrap();
        for (address, expected) in [
            (0xffff_ffff_8100_0000, Some(("_stext", None))),
            (0xffff_ffff_8100_0010, Some(("__x64_sys_call", None))),
            (0xffff_ffff_8100_001f, Some(("__x64_sys_call", None))),
            (0xffff_ffff_8100_0031, Some(("inner.cold", None))),
            (0xffff_ffff_8200_0000, None),
            (0xffff_ffff_8300_0008, None),
            (0xffff_ffff_c010_0001, Some(("bpf_prog_6deef7357e7b4530_on_sample", Some("bpf")))),
            (0xffff_ffff_c020_0001, Some(("nf_hook", Some("nf_tables")))),
            (0xffff_ffff_c030_0001, None),
            (0x1000, None),
        ] {
            assert_eq!(name_of(&symbols, address), expected, "{address:x}");
        }
    }

    #[test]
    fn a_symbol_of_the_kernel_is_found_by_name() {
        let symbols = KernelSymbols::parse(TEXT.into()).unwrap();
        for (name, expected) in [
            ("_text", Some(0xffff_ffff_8100_0000)),
            ("_stext", Some(0xffff_ffff_8100_0000)),
            ("_etext", Some(0xffff_ffff_8200_0000)),
            ("data", Some(0xffff_ffff_8300_0000)),
            ("text", None),
            ("inner", None),
            ("nf_hook", None),
            ("", None),
        ] {
            assert_eq!(symbols.address_of(name.as_bytes()), expected.map(Address), "{name}");
        }
        assert_eq!(symbols.find(Address(0xffff_ffff_8100_0031)).unwrap().start, Address(0xffff_ffff_8100_0030));
    }

    #[test]
    fn hidden_addresses_are_a_reason() {
        for text in ["0000000000000000 T _stext\n0000000000000000 t x\n", "", "no kallsyms"] {
            assert_eq!(KernelSymbols::parse(text.into()).err(), Some(NameMissing::KernelHidden));
        }
    }

    #[test]
    fn damaged_lines_are_skipped() {
        let lines: Vec<&str> = TEXT.lines().collect();
        let text = format!("\n \nx\nffffffffffffffffff T long\nffffffff81000000\nffffffff81000000 T\n{}", lines[4]);
        let symbols = KernelSymbols::parse(text.into()).unwrap();
        assert_eq!(name_of(&symbols, 0xffff_ffff_8100_0011), Some(("__x64_sys_call", None)));
    }
}
