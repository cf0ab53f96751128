//! Files, functions and locations of a profile that is read, by their ids in it. Nobody keeps
//! writers from odd ids, so these are looked up, never used as positions.

use super::head::Strings;
use super::messages;
use crate::Error;
use model::{
    Address, BuildId, CodeKind, FileOffset, Frame, Function, FunctionId, Location, LocationAddress, LocationId,
    MappedFile, MappingId, NameMissing, Profile,
};
use rustc_hash::FxHashMap;

/// More functions than are ever inlined into each other; those further out are left out.
const MOST_LINES: usize = 256;

/// A mapping.
#[derive(Clone, Copy)]
struct Region {
    /// The file, where it has a name.
    file: Option<MappingId>,
    kind: RegionKind,
    start: u64,
    /// The address behind it; 0 where it is not told.
    limit: u64,
    offset: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RegionKind {
    File,
    Kernel,
    Jit,
    /// A name in brackets, without a file.
    Other,
}

/// What is known of the places in code so far.
#[derive(Default)]
pub(super) struct Places {
    functions: FxHashMap<u64, FunctionId>,
    regions: FxHashMap<u64, Region>,
    /// Ranges of `parts`.
    locations: FxHashMap<u64, std::ops::Range<usize>>,
    /// What each location became, innermost first.
    parts: Vec<LocationId>,
}

impl Places {
    /// Takes a mapping. Of several with the same id the first counts, here and below.
    pub(super) fn add_mapping(
        &mut self,
        mapping: messages::Mapping,
        strings: &Strings<'_>,
        profile: &mut Profile,
    ) -> Result<(), Error> {
        if mapping.id == 0 || self.regions.contains_key(&mapping.id) {
            return Ok(());
        }
        let path = strings.get(mapping.filename)?;
        let build_id = build_id(strings.get(mapping.build_id)?);
        let kind = match path {
            _ if path.starts_with("[kernel") || path == "[vmlinux]" => RegionKind::Kernel,
            _ if path.starts_with("[jit") => RegionKind::Jit,
            _ if path.starts_with('[') => RegionKind::Other,
            _ => RegionKind::File,
        };
        let file = (!path.is_empty()).then(|| {
            let path = profile.strings.intern_str(path);
            profile.mappings.intern(MappedFile { path, build_id, version: 0 })
        });
        let (start, limit, offset) = (mapping.memory_start, mapping.memory_limit, mapping.file_offset);
        self.regions.insert(mapping.id, Region { file, kind, start, limit, offset });
        Ok(())
    }

    /// Takes a function. One without a name is as good as none.
    pub(super) fn add_function(
        &mut self,
        function: messages::Function,
        strings: &Strings<'_>,
        profile: &mut Profile,
    ) -> Result<(), Error> {
        let name = match strings.get(function.name)? {
            "" => strings.get(function.system_name)?,
            name => name,
        };
        let file = strings.get(function.filename)?;
        if function.id == 0 || name.is_empty() || self.functions.contains_key(&function.id) {
            return Ok(());
        }
        let name = profile.strings.intern_str(name);
        let file = (!file.is_empty()).then(|| profile.strings.intern_str(file));
        self.functions.insert(function.id, profile.functions.intern(Function { name, file }));
        Ok(())
    }

    /// Takes a location, behind all mappings and functions.
    pub(super) fn add_location(&mut self, location: &messages::Location, profile: &mut Profile) {
        if location.id == 0 || self.locations.contains_key(&location.id) {
            return;
        }
        let functions = location.line.iter().take(MOST_LINES).filter_map(|line| {
            let line_number = u32::try_from(line.line).unwrap_or(0);
            Some((*self.functions.get(&line.function_id)?, line_number))
        });
        let mut frames: Vec<Frame> =
            functions.map(|(function, line)| Frame { function, line, inlined: true, offset: None }).collect();
        if let Some(outermost) = frames.last_mut() {
            outermost.inlined = false;
        }
        let start = self.parts.len();
        match add_address(self.address(location), &frames, profile) {
            Ok(id) => self.parts.push(id),
            Err(Taken { mapping, kind }) => {
                self.parts.extend(frames.into_iter().map(|frame| add_function(mapping, kind, frame, profile)));
            }
        }
        self.locations.insert(location.id, start..self.parts.len());
    }

    /// What a location became, innermost first; none for an unknown id.
    pub(super) fn location(&self, id: u64) -> Option<&[LocationId]> {
        self.locations.get(&id).map(|range| &self.parts[range.clone()])
    }

    fn address(&self, location: &messages::Location) -> Location {
        let region = self.regions.get(&location.mapping_id);
        let address = location.address;
        let kind = match region.map(|region| region.kind) {
            Some(RegionKind::Kernel) => CodeKind::Kernel,
            Some(RegionKind::Jit) => CodeKind::Jit,
            // The upper half of all addresses is the kernel's.
            _ if address >> 63 == 1 => CodeKind::Kernel,
            _ => CodeKind::User,
        };
        let in_file = region.filter(|region| region.kind == RegionKind::File && region.file.is_some());
        let address = match in_file.and_then(|region| region.offset_of(address)) {
            _ if kind == CodeKind::Kernel => LocationAddress::Kernel(Address(address)),
            Some(offset) => LocationAddress::File(offset),
            None => LocationAddress::Memory(Address(address)),
        };
        Location { mapping: region.and_then(|region| region.file), address, kind }
    }
}

impl Region {
    fn offset_of(&self, address: u64) -> Option<FileOffset> {
        let inside = address.checked_sub(self.start).filter(|_| self.limit == 0 || address < self.limit)?;
        inside.checked_add(self.offset).map(FileOffset)
    }
}

/// An address that stands for other functions already, or for none: programs without addresses
/// (interpreters, for instance) give 0 to all.
struct Taken {
    mapping: Option<MappingId>,
    kind: CodeKind,
}

fn add_address(at: Location, frames: &[Frame], profile: &mut Profile) -> Result<LocationId, Taken> {
    let taken = Taken { mapping: at.mapping, kind: at.kind };
    let nowhere = matches!(at.address, LocationAddress::Memory(Address(0)) | LocationAddress::Kernel(Address(0)));
    if nowhere && !frames.is_empty() {
        return Err(taken);
    }
    let known = profile.locations().len();
    let id = profile.add_location(at);
    let is_new = profile.locations().len() > known;
    match profile.frames(id) {
        _ if is_new && frames.is_empty() => profile.set_missing(id, NameMissing::NotLookedUp),
        _ if is_new => profile.set_frames(id, frames),
        Ok(before) if before == frames => {}
        Err(_) if frames.is_empty() => {}
        _ => return Err(taken),
    }
    Ok(id)
}

/// The location of a function that is known by its name only, for all its lines.
fn add_function(mapping: Option<MappingId>, kind: CodeKind, frame: Frame, profile: &mut Profile) -> LocationId {
    let address = LocationAddress::Symbol { function: frame.function, inlined: frame.inlined };
    let id = profile.add_location(Location { mapping, address, kind });
    match profile.frames(id) {
        Err(_) => profile.set_frames(id, &[frame]),
        Ok([before]) if before.line != 0 && before.line != frame.line => {
            profile.set_frames(id, &[Frame { line: 0, ..frame }]);
        }
        Ok(_) => {}
    }
    id
}

/// A build id in hexadecimal digits; Go's own are other text, and none.
fn build_id(text: &str) -> Option<BuildId> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    BuildId::new(&bytes)
}
