//! Names for all locations at once, at the end of a run: each file is read once, for what was
//! sampled in it and nothing else.

use crate::binary::{Binaries, BinaryId, Contents};
use crate::kernel::Kernel;
use model::{Address, FileOffset, Frame, Function, LocationId, NameMissing, Pid, Profile};
use rustc_hash::{FxHashMap, FxHashSet};
use symbols::{Binary, Found, Generated, Symbolizer};

/// Where a location's names are to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// In a file.
    Binary(BinaryId, FileOffset),
    /// In the kernel's symbols.
    Kernel(Address),
    /// In the process's perf map.
    Generated(Pid, Address),
    /// Nowhere: the address lies in no mapping.
    Nothing,
    /// Nowhere: it is code of another machine.
    OutOfReach,
}

/// What names are looked up with.
pub struct Naming<'a> {
    /// What is to be looked up.
    pub wanted: &'a FxHashMap<LocationId, Wanted>,
    /// The files.
    pub binaries: &'a Binaries,
    /// Whether the perf maps of this machine are those of the processes that were sampled.
    pub perf_maps: bool,
    /// Names that were looked up already.
    pub ahead: Vec<(LocationId, Found)>,
    /// The kernel.
    pub kernel: &'a mut Kernel,
    /// How names are looked up.
    pub options: symbols::Options,
    /// Asked between two files: whether the rest shall stay without names.
    pub stop: &'a dyn Fn() -> bool,
}

/// Looks everything up: file by file in the order of their ids, then generated code, then the
/// kernel.
pub fn name_all(profile: &mut Profile, naming: Naming<'_>) {
    let Naming { wanted, binaries, perf_maps, ahead, kernel, options, stop } = naming;
    let mut by_binary: FxHashMap<BinaryId, Vec<(LocationId, FileOffset)>> = FxHashMap::default();
    let mut by_process: FxHashMap<Pid, Vec<(LocationId, Address)>> = FxHashMap::default();
    let mut in_kernel = Vec::new();
    let is_named: FxHashSet<LocationId> = ahead.iter().map(|(location, _)| *location).collect();
    for (location, found) in ahead {
        store(profile, std::iter::once(location), vec![found]);
    }
    for (&location, want) in wanted.iter().filter(|(location, _)| !is_named.contains(location)) {
        match *want {
            Wanted::Binary(id, offset) => by_binary.entry(id).or_default().push((location, offset)),
            Wanted::Kernel(address) => in_kernel.push((location, address)),
            Wanted::Generated(pid, address) => by_process.entry(pid).or_default().push((location, address)),
            Wanted::Nothing => profile.set_missing(location, NameMissing::NoMapping),
            Wanted::OutOfReach => profile.set_missing(location, NameMissing::OutOfReach),
        }
    }
    let mut symbolizer = Symbolizer::new(options);
    // The kernel takes 40 ms to print its symbols: time for the names of files.
    if !in_kernel.is_empty() {
        kernel.start_reading();
    }
    name_files(profile, &mut symbolizer, by_binary, binaries, stop);
    for (pid, locations) in by_process {
        if stop() {
            return;
        }
        if !perf_maps {
            // Another process may have the number here, or have had it.
            locations.iter().for_each(|(location, _)| profile.set_missing(*location, NameMissing::NoJitMap));
            continue;
        }
        let addresses: Vec<u64> = locations.iter().map(|(_, address)| address.0).collect();
        let generated = symbolizer.generated(pid, &addresses);
        profile.recording.remarks.extend(unreadable_lines(pid, &generated));
        store(profile, locations.iter().map(|(location, _)| *location), generated.found);
    }
    if !in_kernel.is_empty() && !stop() {
        let mut image = kernel.image();
        let found = in_kernel.iter().map(|(_, address)| {
            let (symbol, address) = image.as_mut().map_err(|reason| *reason)?.find(*address)?;
            Ok(vec![symbolizer.kernel(&symbol, address)])
        });
        let found = found.collect();
        store(profile, in_kernel.iter().map(|(location, _)| *location), found);
    }
}

/// Lines of a perf map that could not be read, where they may have held a name that is missing.
fn unreadable_lines(pid: Pid, generated: &Generated) -> Option<String> {
    let Generated { found, rejected } = generated;
    let lines = if *rejected == 1 { "line" } else { "lines" };
    (*rejected > 0 && found.iter().any(Result::is_err))
        .then(|| format!("{rejected} {lines} of the perf map of process {pid} could not be read"))
}

fn name_files(
    profile: &mut Profile,
    symbolizer: &mut Symbolizer,
    mut wanted: FxHashMap<BinaryId, Vec<(LocationId, FileOffset)>>,
    binaries: &Binaries,
    stop: &dyn Fn() -> bool,
) {
    for (id, binary) in binaries.iter() {
        let Some(locations) = wanted.remove(&id) else { continue };
        if stop() {
            return;
        }
        let ids = locations.iter().map(|(location, _)| *location);
        match &binary.contents {
            Err(reason) => ids.for_each(|location| profile.set_missing(location, *reason)),
            Ok(contents) => {
                store(profile, ids, of_file(symbolizer, contents, &binary.path, &locations));
            }
        }
    }
}

/// The names at places of one file, in their order.
pub fn of_file(
    symbolizer: &mut Symbolizer,
    contents: &Contents,
    path: &str,
    wanted: &[(LocationId, FileOffset)],
) -> Vec<Found> {
    let addresses: Vec<u64> = wanted.iter().map(|(_, offset)| contents.address_of(*offset)).collect();
    let file = Binary { file: &contents.file, image: &contents.image, path: path.as_ref() };
    symbolizer.binary(&file, &addresses)
}

fn store(profile: &mut Profile, locations: impl Iterator<Item = LocationId>, found: Vec<Found>) {
    for (location, found) in locations.zip(found) {
        match found {
            Err(reason) => profile.set_missing(location, reason),
            Ok(symbols) => {
                let frames: Vec<Frame> = symbols
                    .iter()
                    .map(|symbol| {
                        let name = profile.strings.intern_str(&symbol.name);
                        let file = symbol.file.as_deref().map(|file| profile.strings.intern_str(file));
                        let function = profile.functions.intern(Function { name, file });
                        Frame { function, line: symbol.line, inlined: symbol.inlined, offset: symbol.offset }
                    })
                    .collect();
                profile.set_frames(location, &frames);
            }
        }
    }
}
