//! Names of inlined C++ functions with the namespaces, classes and functions around them.
//!
//! GCC gives DWARF no mangled name for what is local to a file, lambdas included. What such a
//! function is called then, `operator()` for every lambda, says little without its scope. That
//! scope is where its entry stands in the tree: the units that hold the addresses are walked
//! once, which costs as much again as finding the inlined functions did, and is done for C++
//! and only where such a name was met.

use crate::demangle::demangle;
use elf::Image;
use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, DwarfSections, EndianSlice, RunTimeEndian, Unit};
use std::borrow::Cow;
use std::sync::Arc;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Beyond this many bytes of sections the names are not worth the memory; they stay bare.
const MOST_BYTES: u64 = 512 << 20;

/// The names of the functions that were inlined at each of `addresses` (sorted, ELF virtual
/// ones), innermost first; `None` for what cannot be named better than DWARF does itself.
pub(crate) fn scoped_names(image: &Image, addresses: &[u64]) -> Option<Vec<Vec<Option<String>>>> {
    let sections = load(image)?;
    let endian = if image.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, endian));
    let mut names = vec![Vec::new(); addresses.len()];
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        // A unit that is damaged names nothing; the next one may.
        let Ok(unit) = dwarf.unit(header) else { continue };
        let holds_any = ranges(dwarf.unit_ranges(&unit).ok(), |begin, end| {
            let first = addresses.partition_point(|&address| address < begin);
            addresses.get(first).is_some_and(|&address| address < end)
        });
        if holds_any {
            let mut tree = Tree::new(&dwarf, &unit, addresses);
            let _ = tree.walk();
            for (names, origins) in names.iter_mut().zip(&tree.origins) {
                if !origins.is_empty() {
                    *names = origins.iter().rev().map(|&origin| tree.name_at(origin, 0)).collect();
                }
            }
        }
    }
    Some(names)
}

fn load(image: &Image) -> Option<DwarfSections<Arc<[u8]>>> {
    let mut bytes = 0u64;
    DwarfSections::load(|id| {
        let Some(section) = image.section(id.name()) else { return Ok(Arc::new([]) as Arc<[u8]>) };
        bytes = bytes.saturating_add(image.section_len(section).map_err(drop)?);
        if bytes > MOST_BYTES {
            return Err(());
        }
        image.section_data(section).map_err(drop)
    })
    .ok()
}

/// Whether one of the ranges satisfies `test`, which is given their begin and end.
fn ranges(ranges: Option<gimli::RangeIter<Slice<'_>>>, mut test: impl FnMut(u64, u64) -> bool) -> bool {
    let Some(mut ranges) = ranges else { return false };
    let mut any = false;
    while let Ok(Some(range)) = ranges.next() {
        any |= test(range.begin, range.end);
    }
    any
}

type Value<'a> = AttributeValue<Slice<'a>>;

/// An entry that has a name or lends it to others: a function, a type, a namespace. Names
/// are read when they are asked for, which few of them are.
struct Node<'a> {
    /// Its offset in the unit.
    offset: usize,
    parent: Option<usize>,
    tag: gimli::DwTag,
    linkage_name: Option<Value<'a>>,
    name: Option<Value<'a>>,
    /// The entry of which this one is an instance or the definition.
    origin: Option<usize>,
    /// Which one it is of its parent's types without a name.
    unnamed: u32,
    /// How many types without a name it holds.
    holds_unnamed: u32,
}

/// What one unit says of scopes, and of the functions that were inlined at the addresses.
struct Tree<'a> {
    dwarf: &'a Dwarf<Slice<'a>>,
    unit: &'a Unit<Slice<'a>>,
    addresses: &'a [u64],
    /// In the order of their offsets.
    nodes: Vec<Node<'a>>,
    /// For each address the entries' offsets of the functions inlined there, outermost first.
    origins: Vec<Vec<usize>>,
}

impl<'a> Tree<'a> {
    fn new(dwarf: &'a Dwarf<Slice<'a>>, unit: &'a Unit<Slice<'a>>, addresses: &'a [u64]) -> Self {
        Self { dwarf, unit, addresses, nodes: Vec::new(), origins: vec![Vec::new(); addresses.len()] }
    }

    fn walk(&mut self) -> gimli::Result<()> {
        // The nodes around the current entry, with their depths.
        let mut scopes: Vec<(isize, usize)> = Vec::new();
        let mut entries = self.unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            while scopes.last().is_some_and(|&(scope_depth, _)| scope_depth >= depth) {
                scopes.pop();
            }
            let (tag, attributes) = (abbreviation.tag(), abbreviation.attributes());
            match tag {
                gimli::DW_TAG_inlined_subroutine => {
                    let mut read = Vec::with_capacity(attributes.len());
                    entries.read_attributes(attributes, &mut read)?;
                    self.inlined(&DebuggingInformationEntry::new(tag, abbreviation.has_children(), read, offset));
                }
                gimli::DW_TAG_namespace
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_subprogram => {
                    let parent = scopes.last().map(|&(_, node)| node);
                    let mut node = Node {
                        offset: offset.0,
                        parent,
                        tag,
                        linkage_name: None,
                        name: None,
                        origin: None,
                        unnamed: 0,
                        holds_unnamed: 0,
                    };
                    for &attribute in attributes {
                        let attribute = entries.read_attribute(attribute)?;
                        match attribute.name() {
                            gimli::DW_AT_name => node.name = Some(attribute.value()),
                            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                                node.linkage_name = Some(attribute.value());
                            }
                            gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                                node.origin = in_unit(attribute.value());
                            }
                            _ => {}
                        }
                    }
                    if let (Some(parent), true, None) = (parent, is_type(tag), &node.name) {
                        self.nodes[parent].holds_unnamed += 1;
                        node.unnamed = self.nodes[parent].holds_unnamed;
                    }
                    scopes.push((depth, self.nodes.len()));
                    self.nodes.push(node);
                }
                _ => entries.skip_attributes(attributes)?,
            }
        }
        Ok(())
    }

    fn inlined(&mut self, entry: &DebuggingInformationEntry<Slice<'a>>) {
        /// No compiler inlines deeper; damage could fill the memory.
        const DEEPEST: usize = 512;
        let (addresses, origins) = (self.addresses, &mut self.origins);
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin).and_then(in_unit).unwrap_or(0);
        ranges(self.dwarf.die_ranges(self.unit, entry).ok(), |begin, end| {
            let first = addresses.partition_point(|&address| address < begin);
            let inside = addresses[first..].iter().take_while(|&&address| address < end);
            let chains = inside.zip(&mut origins[first..]).map(|(_, chain)| chain);
            chains.filter(|chain| chain.len() < DEEPEST).for_each(|chain| chain.push(origin));
            false
        });
    }

    fn string(&self, value: &Option<Value<'a>>) -> Option<Cow<'a, str>> {
        let string = self.dwarf.attr_string(self.unit, (*value)?).ok()?;
        Some(model::text::from_bytes(string.slice()))
    }

    /// The whole name of the entry at an offset of the unit.
    fn name_at(&self, offset: usize, depth: u32) -> Option<String> {
        let at = self.nodes.binary_search_by_key(&offset, |node| node.offset).ok()?;
        self.name(&self.nodes[at], depth)
    }

    fn name(&self, node: &Node<'a>, depth: u32) -> Option<String> {
        /// No real chain is longer; a damaged one can be a circle.
        const LONGEST_CHAIN: u32 = 64;
        if depth > LONGEST_CHAIN {
            return None;
        }
        if let Some(name) = self.string(&node.linkage_name) {
            return Some(demangle(&name).into_owned());
        }
        let own = match self.string(&node.name) {
            Some(name) => name.into_owned(),
            None if node.tag == gimli::DW_TAG_subprogram => return self.name_at(node.origin?, depth + 1),
            None if node.tag == gimli::DW_TAG_namespace => "(anonymous namespace)".into(),
            None => format!("{{unnamed#{}}}", node.unnamed),
        };
        let scope = node.parent.and_then(|parent| self.name(&self.nodes[parent], depth + 1)).unwrap_or_default();
        // The type of a lambda has no name; what it does have is a call operator.
        let scope = match scope.rfind("{unnamed#") {
            Some(at) if own == "operator()" => format!("{}{{lambda#{}", &scope[..at], &scope[at + "{unnamed#".len()..]),
            _ => scope,
        };
        Some(if scope.is_empty() { own } else { format!("{scope}::{own}") })
    }
}

fn is_type(tag: gimli::DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_class_type | gimli::DW_TAG_structure_type | gimli::DW_TAG_union_type)
}

/// The offset in the unit that an attribute refers to. What lies in another unit, as link-time
/// optimisation makes it, is not followed.
fn in_unit(value: Value<'_>) -> Option<usize> {
    match value {
        AttributeValue::UnitRef(offset) => Some(offset.0),
        _ => None,
    }
}
