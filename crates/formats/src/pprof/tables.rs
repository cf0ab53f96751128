//! The tables of a profile that is written: strings, functions, mappings and locations, each
//! numbered when it is first used, so that nothing is written which no sample needs.

use super::messages::{Function, Line, Location, Mapping};
use model::id::Id;
use model::{Interner, LocationAddress, LocationId, MappingId, Profile};
use std::borrow::Cow;

/// The size that limits of mappings are rounded to. Any other would do as well: the mapping's
/// true size is not known.
const PAGE: u64 = 4096;

/// A position in one of the tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Position(u32);

impl Id for Position {
    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("a table holds fewer than 2^32 entries"))
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Position {
    /// The id of what stands here: 0 is none.
    fn id(self) -> u64 {
        u64::from(self.0) + 1
    }
}

/// A name and a file, both of the table of strings.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FunctionKey {
    name: i64,
    file: i64,
}

/// The lowest and the highest address that were seen in a mapping.
#[derive(Clone, Copy)]
struct Span {
    lowest: u64,
    highest: u64,
}

/// The tables, and the profile that they are made of.
pub(super) struct Tables<'a> {
    profile: &'a Profile,
    strings: Interner<Position, Cow<'a, str>>,
    functions: Interner<Position, FunctionKey>,
    mappings: Interner<Position, MappingId>,
    /// By the mapping's position.
    spans: Vec<Span>,
    locations: Interner<Position, LocationId>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let mut strings = Interner::default();
        strings.intern("".into());
        Self {
            profile,
            strings,
            functions: Interner::default(),
            mappings: Interner::default(),
            spans: Vec::new(),
            locations: Interner::default(),
        }
    }

    /// The position of a string.
    pub(super) fn string(&mut self, text: impl Into<Cow<'a, str>>) -> i64 {
        i64::from(self.strings.intern(text.into()).0)
    }

    /// The id of a location.
    pub(super) fn location(&mut self, location: LocationId) -> u64 {
        self.locations.intern(location).id()
    }

    /// How many locations there are.
    pub(super) fn locations(&self) -> usize {
        self.locations.len()
    }

    /// The location at a position, below [`Self::locations`]. Its mapping and functions are
    /// numbered here.
    pub(super) fn location_message(&mut self, index: usize) -> Location {
        let position = Position::from_index(index);
        let id = self.locations[position];
        let location = *self.profile.location(id);
        let address = match location.address {
            LocationAddress::File(offset) => offset.0,
            LocationAddress::Kernel(address) | LocationAddress::Memory(address) => address.0,
            LocationAddress::Symbol { .. } => 0,
        };
        let mapping_id = location.mapping.map_or(0, |mapping| self.mapping(mapping, location.address, address));
        Location { id: position.id(), mapping_id, address, line: self.lines(id), is_folded: false }
    }

    /// The functions of a location, innermost first. One without a name shows its file's name
    /// in brackets, since tools show a location without a function by its address or not at all.
    fn lines(&mut self, id: LocationId) -> Vec<Line> {
        let profile = self.profile;
        match profile.frames(id) {
            Ok(frames) => frames
                .iter()
                .map(|frame| {
                    let function = profile.functions[frame.function];
                    let name = self.string(profile.text(function.name));
                    let file = function.file.map_or(0, |file| self.string(profile.text(file)));
                    Line { function_id: self.function(name, file), line: frame.line.into() }
                })
                .collect(),
            Err(_) => {
                let name = self.string(profile.placeholder(id));
                vec![Line { function_id: self.function(name, 0), line: 0 }]
            }
        }
    }

    fn function(&mut self, name: i64, file: i64) -> u64 {
        self.functions.intern(FunctionKey { name, file }).id()
    }

    fn mapping(&mut self, mapping: MappingId, kind: LocationAddress, address: u64) -> u64 {
        let position = self.mappings.intern(mapping);
        // An offset is one from the file's beginning, so that a file begins at 0; what has
        // addresses of memory begins at the lowest of them.
        let lowest = if matches!(kind, LocationAddress::File(_)) { 0 } else { address };
        let seen = Span { lowest, highest: address };
        match self.spans.get_mut(position.index()) {
            None => self.spans.push(seen),
            Some(span) => {
                span.lowest = span.lowest.min(seen.lowest);
                span.highest = span.highest.max(seen.highest);
            }
        }
        position.id()
    }

    /// The mappings of the locations that were asked for.
    pub(super) fn mapping_messages(&mut self) -> Vec<Mapping> {
        let ids: Vec<(Position, MappingId)> = self.mappings.iter().map(|(position, id)| (position, *id)).collect();
        ids.into_iter()
            .map(|(position, id)| {
                let file = &self.profile.mappings[id];
                let Span { lowest, highest } = self.spans[position.index()];
                let filename = self.string(self.profile.text(file.path));
                let build_id = file.build_id.map_or(0, |build_id| self.string(build_id.to_string()));
                Mapping {
                    id: position.id(),
                    memory_start: lowest - lowest % PAGE,
                    memory_limit: highest.saturating_add(1).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX),
                    file_offset: 0,
                    filename,
                    build_id,
                    // All that can be named is named. Where one of these is missing, pprof looks
                    // the names up itself, and would take offsets for addresses.
                    has_functions: true,
                    has_filenames: true,
                    has_line_numbers: true,
                    has_inline_frames: true,
                }
            })
            .collect()
    }

    /// The functions of the locations that were asked for. The linker's names are not kept.
    pub(super) fn function_messages(&self) -> impl Iterator<Item = Function> + '_ {
        self.functions.iter().map(|(position, key)| Function {
            id: position.id(),
            name: key.name,
            system_name: key.name,
            filename: key.file,
            start_line: 0,
        })
    }

    /// All strings, in the order of their positions.
    pub(super) fn strings(&self) -> impl Iterator<Item = &str> + '_ {
        self.strings.iter().map(|(_, text)| text.as_ref())
    }
}
