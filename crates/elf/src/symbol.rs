//! Symbol tables (`.symtab`, `.dynsym`): where functions lie, and what they are called. A
//! table is walked piece by piece and names are read one by one, since both can be 20 MB and
//! few of them are wanted.

use crate::error::{Error, ErrorKind};
use crate::headers::{items, number};
use crate::image::Image;
use crate::section::Section;
use object::Endianness;
use object::elf::{self as abi, Sym32, Sym64};
use object::read::elf::Sym;
use std::ops::Range;
use std::sync::Arc;

/// A symbol that can name code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The ELF virtual address of its first byte.
    pub address: u64,
    /// Its length in bytes; 0 where it is not known.
    pub size: u64,
    /// Who can refer to it.
    pub binding: Binding,
    /// Whether its type says that it is a function. Hand-written assembly has labels without a
    /// type, too.
    pub is_function: bool,
    /// Whether the name is kept for programs that were linked long ago, and new ones cannot link
    /// to it (a hidden version of `.gnu.version`, `name@VERSION`).
    pub is_superseded: bool,
    name: u32,
}

/// Who can refer to a symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Binding {
    /// All files (`STB_GLOBAL`).
    Global,
    /// All files, unless another one defines it (`STB_WEAK`).
    Weak,
    /// Its own file (`STB_LOCAL`).
    Local,
}

/// A symbol table of an image.
#[derive(Clone, Copy, Debug)]
pub struct SymbolTable<'a> {
    image: &'a Image,
    symbols: &'a Section,
    names: Option<&'a Section>,
    /// Two bytes a symbol, in the symbols' order (`.gnu.version`).
    versions: Option<&'a Section>,
}

/// The names of a symbol table.
#[derive(Clone, Debug)]
pub struct SymbolNames {
    bytes: Arc<[u8]>,
}

impl SymbolNames {
    /// The name of a symbol of this table, as bytes that need not be UTF-8. Empty where it has
    /// none.
    pub fn of(&self, symbol: &Symbol) -> &[u8] {
        let start = usize::try_from(symbol.name).unwrap_or(usize::MAX);
        model::text::until_nul(self.bytes.get(start..).unwrap_or_default())
    }
}

impl Image {
    /// The full symbol table (`.symtab`); stripping removes it.
    pub fn symbols(&self) -> Option<SymbolTable<'_>> {
        self.symbol_table(".symtab")
    }

    /// The symbols that the loader needs (`.dynsym`); they stay in a stripped file.
    pub fn dynamic_symbols(&self) -> Option<SymbolTable<'_>> {
        self.symbol_table(".dynsym")
    }

    fn symbol_table(&self, name: &str) -> Option<SymbolTable<'_>> {
        let symbols = self.section(name)?;
        let linked =
            |section: &Section| usize::try_from(section.link).ok().and_then(|index| self.sections().get(index));
        let names = linked(symbols).filter(|section| section.has_bytes());
        let versions = self.section(".gnu.version").filter(|versions| linked(versions) == Some(symbols));
        Some(SymbolTable { image: self, symbols, names, versions })
    }
}

impl SymbolTable<'_> {
    /// Shows every symbol that can name code to `visit`, in the table's order: functions,
    /// indirect functions, and labels that are not local. An error ends the walk; what was
    /// visited until then counts.
    pub fn for_each(&self, visit: impl FnMut(Symbol)) -> Result<(), Error> {
        match self.image.is_64bit() {
            true => self.walk::<Sym64<Endianness>>(visit),
            false => self.walk::<Sym32<Endianness>>(visit),
        }
    }

    /// The name of a symbol of this table, as bytes that need not be UTF-8; what is longer
    /// than 64 KiB is cut. Empty where it has none.
    pub fn name(&self, symbol: &Symbol) -> Result<Vec<u8>, Error> {
        self.text(symbol.name)
    }

    /// All names at once, for whoever wants most of them. They can be 20 MB.
    pub fn names(&self) -> Result<SymbolNames, Error> {
        let bytes = self.names.map(|names| self.image.section_data(names)).transpose()?;
        Ok(SymbolNames { bytes: bytes.unwrap_or_default() })
    }

    /// The name of the symbol at `index`, whatever it stands for; as [`Self::name`].
    pub(crate) fn name_at(&self, index: u32) -> Result<Vec<u8>, Error> {
        match self.image.is_64bit() {
            true => self.text(self.name_start::<Sym64<Endianness>>(index)?),
            false => self.text(self.name_start::<Sym32<Endianness>>(index)?),
        }
    }

    fn name_start<S: Sym<Endian = Endianness>>(&self, index: u32) -> Result<u32, Error> {
        let what = "a symbol";
        let size = size_of::<S>() as u64;
        let offset = u64::from(index) * size;
        if offset.saturating_add(size) > self.symbols.size {
            return Err(Error::new(ErrorKind::Damaged, what));
        }
        let bytes = self.image.source.read(self.symbols.file_offset.saturating_add(offset), size, what)?;
        let symbol = items::<S>(&bytes, what)?.first().ok_or_else(|| Error::new(ErrorKind::Damaged, what))?;
        Ok(symbol.st_name(self.image.headers.endian))
    }

    /// The text at `start` of the table's names.
    fn text(&self, start: u32) -> Result<Vec<u8>, Error> {
        /// Few names are longer, so that one read is enough.
        const USUAL: u64 = 256;
        const LIMIT: u64 = 64 << 10;
        let Some(names) = self.names else { return Ok(Vec::new()) };
        let start = u64::from(start);
        let left = names.size.saturating_sub(start);
        let mut len = USUAL;
        loop {
            let offset = names.file_offset.saturating_add(start);
            let mut bytes = self.image.source.read_up_to(offset, len.min(left), "a symbol's name")?;
            let end = model::text::until_nul(&bytes).len();
            if end < bytes.len() || len >= left.min(LIMIT) {
                bytes.truncate(end);
                return Ok(bytes);
            }
            len *= 4;
        }
    }

    /// How far the symbol at an address reaches; one without a size reaches to the next one.
    pub(crate) fn extent(&self, address: u64) -> Option<Range<u64>> {
        let mut nearest = Nearest { start: None, sized_end: None, next: self.code_end(address)? };
        self.for_each(|symbol| nearest.consider(&symbol, address)).ok()?;
        let start = nearest.start?;
        Some(start..nearest.sized_end.unwrap_or(nearest.next))
    }

    fn walk<S: Sym<Endian = Endianness>>(&self, mut visit: impl FnMut(Symbol)) -> Result<(), Error> {
        const PIECE: u64 = 4096;
        let what = "the symbol table";
        let endian = self.image.headers.endian;
        let size = size_of::<S>() as u64;
        let (mut offset, mut left) = (self.symbols.file_offset, self.symbols.size / size);
        while left > 0 {
            let count = left.min(PIECE);
            let bytes = self.image.source.read(offset, count * size, what)?;
            let versions = self.versions((offset - self.symbols.file_offset) / size, count);
            for (index, symbol) in items::<S>(&bytes, what)?.iter().enumerate() {
                let version = versions.get(2 * index..).and_then(|bytes| number(bytes, 2, endian)).unwrap_or(0);
                code_symbol(symbol, version, endian).into_iter().for_each(&mut visit);
            }
            offset += count * size;
            left -= count;
        }
        Ok(())
    }

    /// The versions of `count` symbols from the `first` on; fewer where they cannot be read.
    fn versions(&self, first: u64, count: u64) -> Vec<u8> {
        let Some(versions) = self.versions else { return Vec::new() };
        let (start, wanted) = (2 * first, 2 * count);
        let len = wanted.min(versions.size.saturating_sub(start));
        let offset = versions.file_offset.saturating_add(start);
        self.image.source.read_up_to(offset, len, "the symbols' versions").unwrap_or_default()
    }

    /// The end of the section or segment that holds the address.
    fn code_end(&self, address: u64) -> Option<u64> {
        let sections = self.image.sections().iter().filter(|section| section.address != 0).map(Section::addresses);
        let segments = self.image.segments().iter().filter(|segment| segment.executable).map(|s| s.addresses());
        sections.chain(segments).find(|range| range.contains(&address)).map(|range| range.end)
    }
}

fn code_symbol<S: Sym<Endian = Endianness>>(symbol: &S, version: u64, endian: Endianness) -> Option<Symbol> {
    let is_function = matches!(symbol.st_type(), abi::STT_FUNC | abi::STT_GNU_IFUNC);
    // Local labels mark data and instruction sets.
    let is_label = symbol.st_type() == abi::STT_NOTYPE && symbol.st_bind() != abi::STB_LOCAL;
    if symbol.st_shndx(endian) == abi::SHN_UNDEF || !(is_function || is_label) {
        return None;
    }
    Some(Symbol {
        address: symbol.st_value(endian).into(),
        size: symbol.st_size(endian).into(),
        binding: match symbol.st_bind() {
            abi::STB_LOCAL => Binding::Local,
            abi::STB_WEAK => Binding::Weak,
            _ => Binding::Global,
        },
        is_function,
        is_superseded: version & u64::from(abi::VERSYM_HIDDEN.0) != 0,
        name: symbol.st_name(endian),
    })
}

/// The symbol that starts last at or before an address.
struct Nearest {
    start: Option<u64>,
    /// Where the symbol ends, if it has a size.
    sized_end: Option<u64>,
    /// Where the next symbol starts, which ends one without a size.
    next: u64,
}

impl Nearest {
    fn consider(&mut self, symbol: &Symbol, address: u64) {
        let start = symbol.address;
        let end = Some(start.saturating_add(symbol.size)).filter(|_| symbol.size > 0);
        if start > address {
            self.next = self.next.min(start);
        } else if end.is_none_or(|end| end > address) && (Some(start), end) >= (self.start, self.sized_end) {
            (self.start, self.sized_end) = (Some(start), end);
        }
    }
}
