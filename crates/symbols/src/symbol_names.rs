//! Names from ELF symbol tables. The wanted addresses are few and the tables are long, so that
//! the table is walked once past the sorted addresses, and not sorted itself.

use crate::alias::{self, Age};
use elf::{Image, Symbol, SymbolTable};

/// A place in code that has a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Label {
    /// The name, as bytes that need not be UTF-8.
    pub name: Vec<u8>,
    /// Its ELF virtual address.
    pub start: u64,
}

/// What a symbol table knows of an address.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Known {
    /// The address lies within the extent of this symbol.
    Inside(Label),
    /// No symbol's extent holds the address; this label, which has none, comes before it in
    /// the same section, and no other symbol between them.
    After(Label),
    /// No symbol.
    #[default]
    Nothing,
}

/// The names of `addresses`, which are sorted and ELF virtual ones.
pub(crate) fn names(image: &Image, table: &SymbolTable<'_>, addresses: &[u64]) -> Vec<Known> {
    let mut candidates = vec![Candidates::default(); addresses.len()];
    // A table that is cut short has named some of the addresses all the same.
    let _ = table.for_each(|symbol| {
        let first = addresses.partition_point(|&address| address < symbol.address);
        let end = symbol.address.saturating_add(symbol.size);
        let inside = addresses[first..].iter().take_while(|&&address| address < end);
        inside.zip(&mut candidates[first..]).for_each(|(_, candidates)| candidates.inside.add(symbol));
        if let Some(candidates) = candidates.get_mut(first) {
            candidates.before.add(symbol);
        }
    });
    let mut before = Latest::default();
    let mut names = Vec::with_capacity(addresses.len());
    for (&address, candidates) in addresses.iter().zip(candidates) {
        // A symbol before one address is before all that follow.
        if candidates.before.start() > before.start() {
            before = candidates.before;
        }
        names.push(match best_label(table, candidates.inside.0.iter()) {
            Some(label) => Known::Inside(label),
            None if in_one_section(image, before.start(), address) => {
                // What ends before the address is not the function that holds it.
                match best_label(table, before.0.iter().filter(|symbol| symbol.size == 0)) {
                    Some(label) => Known::After(label),
                    None => Known::Nothing,
                }
            }
            None => Known::Nothing,
        });
    }
    names
}

#[derive(Clone, Default)]
struct Candidates {
    /// Symbols whose extent holds the address.
    inside: Latest,
    /// Symbols that start at or before the address, and after the one before it.
    before: Latest,
}

/// The symbols that start last, all at one address.
#[derive(Clone, Default)]
struct Latest(Vec<Symbol>);

impl Latest {
    fn add(&mut self, symbol: Symbol) {
        /// Aliases beyond these are not worth reading.
        const MOST: usize = 32;
        let start = self.start();
        if start.is_none_or(|start| symbol.address > start) {
            self.0.clear();
        }
        if start.is_none_or(|start| symbol.address >= start) && self.0.len() < MOST {
            self.0.push(symbol);
        }
    }

    fn start(&self) -> Option<u64> {
        self.0.first().map(|symbol| symbol.address)
    }
}

fn best_label<'a>(table: &SymbolTable<'_>, aliases: impl Iterator<Item = &'a Symbol>) -> Option<Label> {
    let named = aliases.filter_map(|symbol| {
        let mut name = table.name(symbol).ok()?;
        let mut age = if symbol.is_superseded { Age::Superseded } else { Age::Current };
        // A version is the linker's business: `memcpy@@GLIBC_2.14`, or `cfree@GLIBC_2.2.5` for one
        // that it does not offer any more.
        if let Some(at) = name.iter().position(|&byte| byte == b'@').filter(|&at| at > 0) {
            if name.get(at + 1) != Some(&b'@') {
                age = Age::Superseded;
            }
            name.truncate(at);
        }
        (!name.is_empty()).then_some((symbol, age, name))
    });
    let best = named.min_by(|(a, a_age, a_name), (b, b_age, b_name)| {
        let rank = |symbol: &Symbol, age, name| (!symbol.is_function, alias::rank(symbol.binding, age, name));
        rank(a, *a_age, a_name).cmp(&rank(b, *b_age, b_name))
    });
    best.map(|(symbol, _, name)| Label { name, start: symbol.address })
}

fn in_one_section(image: &Image, start: Option<u64>, address: u64) -> bool {
    let Some(start) = start else { return false };
    let mut sections = image.sections().iter().filter(|section| section.address != 0).map(elf::Section::addresses);
    sections.any(|range| range.contains(&start) && range.contains(&address))
}
