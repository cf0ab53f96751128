//! Names for all locations at once, at the end of a run: each file is read once, for what was
//! sampled in it and nothing else.

use crate::binary::{Binaries, BinaryId};
use model::{Address, FileOffset, Frame, Function, LocationId, NameMissing, Pid, Profile};
use rustc_hash::FxHashMap;
use std::thread::JoinHandle;
use symbols::{Binary, Found, KernelSymbols, Symbolizer};

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

/// Looks everything up: file by file in the order of their ids, then generated code, then the
/// kernel.
pub fn name_all(
    profile: &mut Profile,
    wanted: &FxHashMap<LocationId, Wanted>,
    binaries: &Binaries,
    options: symbols::Options,
    stop: &dyn Fn() -> bool,
) {
    let mut by_binary: FxHashMap<BinaryId, Vec<(LocationId, FileOffset)>> = FxHashMap::default();
    let mut by_process: FxHashMap<Pid, Vec<(LocationId, Address)>> = FxHashMap::default();
    let mut kernel = Vec::new();
    for (&location, want) in wanted {
        match *want {
            Wanted::Binary(id, offset) => by_binary.entry(id).or_default().push((location, offset)),
            Wanted::Kernel(address) => kernel.push((location, address)),
            Wanted::Generated(pid, address) => by_process.entry(pid).or_default().push((location, address)),
            Wanted::Nothing => profile.set_missing(location, NameMissing::NoMapping),
            Wanted::OutOfReach => profile.set_missing(location, NameMissing::OutOfReach),
        }
    }
    let mut symbolizer = Symbolizer::new(options);
    // The kernel takes 40 ms to print its symbols: time for the names of files.
    let kernel_symbols = (!kernel.is_empty()).then(|| std::thread::spawn(KernelSymbols::read));
    name_files(profile, &mut symbolizer, by_binary, binaries, stop);
    for (pid, locations) in by_process {
        if stop() {
            return;
        }
        let addresses: Vec<u64> = locations.iter().map(|(_, address)| address.0).collect();
        let found = symbolizer.generated(pid, &addresses);
        store(profile, locations.iter().map(|(location, _)| *location), found);
    }
    // A thread that failed leaves the reading to the symbolizer itself.
    if let Some(Ok(symbols)) = kernel_symbols.map(JoinHandle::join) {
        symbolizer.set_kernel(symbols);
    }
    if !stop() {
        let addresses: Vec<u64> = kernel.iter().map(|(_, address)| address.0).collect();
        let found = symbolizer.kernel(&addresses);
        store(profile, kernel.iter().map(|(location, _)| *location), found);
    }
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
                let addresses: Vec<u64> = locations
                    .iter()
                    // An offset outside all segments has no address, and nothing lies at the last one.
                    .map(|(_, offset)| contents.image.address_of(*offset).unwrap_or(u64::MAX))
                    .collect();
                let file = Binary { file: &contents.file, image: &contents.image, path: binary.path.as_ref() };
                store(profile, ids, symbolizer.binary(&file, &addresses));
            }
        }
    }
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
                        Frame { function, line: symbol.line, inlined: symbol.inlined }
                    })
                    .collect();
                profile.set_frames(location, &frames);
            }
        }
    }
}
