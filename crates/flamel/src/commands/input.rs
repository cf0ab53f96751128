//! Reads a file or standard input, whatever format it is in.

use super::recording::Recording;
use super::summary;
use crate::args::{InputArgs, ProfileArgs};
use crate::failure::Failure;
use anyhow::{Context as _, anyhow};
use model::{Detail, EventId, Profile, id::Id as _};
use perfdata::is_perf_data;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What was given.
pub enum Input {
    /// Events with addresses.
    Recording(Box<Recording>),
    /// Stacks with names.
    Profile(Box<Profile>),
}

/// How the input is called in messages.
pub fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".into() } else { format!("`{}`", path.display()) }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens what `path` leads to, or standard input for `-`. What the reader of a text left out is told.
pub fn open(path: &Path) -> Result<Input, Failure> {
    open_as(path, Pipes::ReadOnce)
}

/// The same, for what is read twice.
pub fn open_to_reread(path: &Path) -> Result<Input, Failure> {
    open_as(path, Pipes::Keep)
}

/// What becomes of a recording that comes by a pipe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pipes {
    /// It is gone once it is read.
    ReadOnce,
    /// It is kept in memory.
    Keep,
}

fn open_as(path: &Path, pipes: Pipes) -> Result<Input, Failure> {
    let name = name(path);
    let failed = |error: io::Error| Failure::usage(anyhow!(error).context(format!("read {name}")));
    let (mut reader, file): (Box<dyn Read + Send>, Option<File>) = if is_stdin(path) {
        (Box::new(io::stdin()), None)
    } else {
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Failure::usage(anyhow!(
                "read {name}: it is a folder; a recording of `perf record --threads` has to be made without that"
            )));
        }
        let again = file.try_clone().map_err(failed)?;
        (Box::new(file), metadata.is_file().then_some(again))
    };
    let mut head = Vec::new();
    reader.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
    if is_perf_data(&head) {
        let input = match file {
            Some(file) => perfdata::Input::File(file),
            None if pipes == Pipes::ReadOnce => perfdata::Input::stream(Cursor::new(head).chain(reader)),
            None => {
                reader.read_to_end(&mut head).map_err(failed)?;
                perfdata::Input::Bytes(head)
            }
        };
        return Ok(Input::Recording(Box::new(Recording::open(name, input)?)));
    }
    let mut bytes = head;
    // What is no known format by its beginning may be endless.
    reader.by_ref().take(TELLING).read_to_end(&mut bytes).map_err(failed)?;
    if formats::detect(&bytes).is_none() && bytes.contains(&0) {
        formats::decode(&bytes).with_context(|| format!("read {name}")).map_err(Failure::usage)?;
    }
    reader.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.is_empty() {
        return Err(Failure::usage(anyhow!("read {name}: it is empty")));
    }
    let decoded = formats::decode(&bytes).with_context(|| format!("read {name}")).map_err(Failure::usage)?;
    decoded.notes.iter().for_each(|note| summary::warn(&format!("{name}: {note}")));
    Ok(Input::Profile(Box::new(decoded.profile)))
}

/// Whether two paths lead to one file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| path.metadata().map(|metadata| (metadata.dev(), metadata.ino())).ok();
    id(one).is_some_and(|found| Some(found) == id(other))
}

/// What other formats are told by.
const TELLING: u64 = 64 << 10;

/// What a recording is told by.
const HEAD: u64 = 16;

/// Refuses, for stacks that have names already, what only a recording has use for.
pub fn check_profile_args(args: &ProfileArgs) -> Result<(), Failure> {
    let names = &args.source.names;
    let given = [
        ("--symfs", names.symfs.is_some()),
        ("--debug-dir", !names.debug_dir.is_empty()),
        ("--kallsyms", names.kallsyms.is_some()),
        ("--no-inline", names.no_inline),
        ("--raw-names", names.raw_names),
        ("--idle", args.idle),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => {
            let name = name(&args.source.input);
            Err(Failure::usage(anyhow!("`{option}`: {name} is no recording: its stacks have the names that they have")))
        }
    }
}

/// The input as a profile with names, and those of its events that are wanted and have samples.
pub fn read(args: &ProfileArgs) -> Result<(Profile, Vec<EventId>), Failure> {
    let profile = match open(&args.source.input)? {
        // Neither pictures nor tables look at single samples.
        Input::Recording(recording) => recording.profile(args, Detail::Counts)?,
        Input::Profile(profile) => {
            check_profile_args(args)?;
            *profile
        }
    };
    let events = wanted_events(args, &profile)?;
    Ok((profile, events))
}

/// Refuses an event that is not among those that the input has.
pub fn check_event<'a>(args: &InputArgs, known: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let known: Vec<&str> = known.collect();
    match args.event.as_deref() {
        Some(wanted) if !known.contains(&wanted) => {
            let (name, known) = (name(&args.input), known.join(", "));
            Err(Failure::usage(anyhow!("{name} holds no event `{wanted}`; there are: {known}")))
        }
        _ => Ok(()),
    }
}

/// The events that are asked for and have samples; an error where none has.
pub fn wanted_events(args: &ProfileArgs, profile: &Profile) -> Result<Vec<EventId>, Failure> {
    check_event(&args.source, profile.events.iter().map(|event| event.name.as_str()))?;
    let name = name(&args.source.input);
    let mut events = profile.events_with_samples();
    if let Some(wanted) = &args.source.event {
        events.retain(|event| profile.events[event.index()].name == *wanted);
    }
    if events.is_empty() {
        let idle = profile.losses.count(model::SampleLoss::Idle);
        let but = if idle > 0 { format!(" but {idle} of idle CPUs; show them with `--idle`") } else { String::new() };
        return Err(Failure::usage(anyhow!("{name} holds no samples{but}")));
    }
    Ok(events)
}
