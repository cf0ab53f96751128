//! A perf.data recording that is read: to a profile, or event by event.

use super::summary;
use crate::args::{NameArgs, ProfileArgs};
use crate::failure::Failure;
use anyhow::{Context as _, anyhow};
use model::{BuildId, CallGraph, Detail, Event, Profile, Recording as Run};
use perfdata::{FileBuildId, Info, Outcome, Reader};
use resolve::{KernelSource, RecordedFiles, RecordedKernel, Resolver, SearchPlaces};
use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use symbols::{KernelCache, KernelSymbols};

/// What becomes of samples of idle CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    /// They are kept.
    Keep,
    /// They are counted and left out.
    LeaveOut,
}

impl Idle {
    /// What was asked for.
    pub fn of(args: &ProfileArgs) -> Self {
        if args.idle { Self::Keep } else { Self::LeaveOut }
    }
}

/// An open recording.
pub struct Recording {
    name: String,
    reader: Reader,
}

impl Recording {
    /// Opens it; `name` is for messages.
    pub fn open(name: String, input: perfdata::Input) -> Result<Self, Failure> {
        let reader = Reader::open(input).with_context(|| format!("read {name}")).map_err(Failure::usage)?;
        Ok(Self { name, reader })
    }

    /// What it says of the machine and the run.
    pub fn info(&self) -> &Info {
        self.reader.info()
    }

    /// Its events.
    pub fn events(&self) -> &[perfdata::RecordedEvent] {
        self.reader.events()
    }

    /// Whether samples have callchains.
    pub fn has_callchains(&self) -> bool {
        self.reader.has_callchains()
    }

    /// A resolver that has seen nothing of it yet.
    pub fn resolver(&self, names: &NameArgs, detail: Detail, idle: Idle) -> Result<Resolver, Failure> {
        let places = search_places(names)?;
        let same_machine = self.is_of_this_machine();
        let kernel = RecordedKernel {
            build_id: self.info().build_ids.iter().find(|file| &*file.path == KERNEL).map(|file| file.build_id),
            release: self.info().kernel.clone(),
            same_machine,
            given: names.kallsyms.as_deref().map(kernel_symbols).transpose()?,
            places: places.clone(),
            cache: kernel_cache(),
        };
        let build_ids = only_ids(&self.info().build_ids);
        let options = resolve::Options {
            recording: run(self.info()),
            events: self.descriptions(),
            detail,
            idle: idle == Idle::Keep,
            kernel: KernelSource::Recorded(kernel),
            ahead: Some(symbol_options(names)),
            call_graph: match self.has_callchains() {
                true => CallGraph::Auto { stack_bytes: 0 },
                false => CallGraph::None,
            },
            max_frames: MAX_FRAMES,
            kernel_limit: self.kernel_limit(),
        };
        Ok(Resolver::new(options, Box::new(RecordedFiles { places, build_ids, same_machine })))
    }

    /// Whether host and kernel are those that run now.
    fn is_of_this_machine(&self) -> bool {
        let now = rustix::system::uname();
        let is = |recorded: &Option<String>, now: &CStr| {
            recorded.as_deref().is_some_and(|text| text.as_bytes() == now.to_bytes())
        };
        is(&self.info().host, now.nodename()) && is(&self.info().kernel, now.release())
    }

    /// Gives out all events; what could not be read is told.
    pub fn read(&mut self, sink: impl FnMut(&Event<'_>)) -> Result<Outcome, Failure> {
        let outcome = self.read_quietly(sink)?;
        if let Some(damage) = outcome.damage {
            summary::warn(&format!(
                "{} is damaged at byte {}: {}; what comes before it is used",
                self.name, damage.offset, damage.what
            ));
        }
        if outcome.trace_bytes > 0 {
            summary::warn(&format!(
                "{} holds {} bytes of hardware traces (Intel PT, CoreSight), which are not decoded",
                self.name, outcome.trace_bytes
            ));
        }
        Ok(outcome)
    }

    /// Gives out all events and tells nothing, for a second time.
    pub fn read_quietly(&mut self, sink: impl FnMut(&Event<'_>)) -> Result<Outcome, Failure> {
        self.reader.read(sink).with_context(|| format!("read {}", self.name)).map_err(Failure::usage)
    }

    /// All of it as a profile with names.
    pub fn profile(mut self, args: &ProfileArgs, detail: Detail) -> Result<Profile, Failure> {
        let names = &args.source.names;
        let mut resolver = self.resolver(names, detail, Idle::of(args))?;
        let outcome = self.read(|event| {
            resolver.event(event);
        })?;
        self.complete(&mut resolver, &outcome);
        Ok(resolver.finish(symbol_options(names), &|| false))
    }

    /// Goes back to the beginning.
    pub fn rewind(self) -> Result<Self, Failure> {
        let Self { name, reader } = self;
        let reader = reader.rewind().with_context(|| format!("read {name}")).map_err(Failure::usage)?;
        Ok(Self { name, reader })
    }

    /// Adds what is known only at the end.
    pub fn complete(&self, resolver: &mut Resolver, outcome: &Outcome) {
        let events = self.descriptions();
        let profile = resolver.profile_mut();
        profile.losses.merge(&outcome.losses);
        profile.events = events;
        let duration = self.info().sample_times.and_then(|(first, last)| last.checked_sub(first));
        profile.recording.duration = duration.map(Duration::from_nanos);
    }

    fn descriptions(&self) -> Vec<model::EventDescription> {
        self.events().iter().map(|event| event.description.clone()).collect()
    }

    /// The most frames that the kernel put into a callchain: 127 unless something else was asked for.
    fn kernel_limit(&self) -> usize {
        const USUAL: u16 = 127;
        let asked = self.events().iter().map(|event| event.attribute.sample_max_stack).max().unwrap_or(0);
        usize::from(if asked == 0 { USUAL } else { asked })
    }
}

/// No more frames are taken from a copied stack: 64 KiB hold no more.
const MAX_FRAMES: usize = 8192;

/// What perf calls the kernel's own code.
pub const KERNEL: &[u8] = b"[kernel.kallsyms]";

/// The places that were given, which must be there, and the usual ones.
fn search_places(names: &NameArgs) -> Result<SearchPlaces, Failure> {
    let symfs = names.symfs.iter().map(|folder| ("--symfs", folder));
    let given = symfs.chain(names.debug_dir.iter().map(|folder| ("--debug-dir", folder)));
    for (option, folder) in given {
        if !folder.is_dir() {
            return Err(Failure::usage(anyhow!(
                "look for files in `{}` (`{option}`): there is no such folder",
                folder.display()
            )));
        }
    }
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Ok(SearchPlaces {
        symfs: names.symfs.clone(),
        debug_dirs: symbol_options(names).debug_dirs,
        build_id_cache: home.map(|home| home.join(".debug")),
    })
}

/// Where the running kernel's symbols are kept: in the user's cache (XDG Base Directory Specification).
pub fn kernel_cache() -> Option<KernelCache> {
    let given = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let usual = || home().map(|home| home.join(".cache"));
    let folder = given.or_else(usual)?;
    // Under sudo(8), what we made in the caller's home would not be his.
    let is_own = folder.parent()?.metadata().ok()?.uid() == rustix::process::geteuid().as_raw();
    is_own.then(|| KernelCache::new(folder.join("flamel")))
}

fn kernel_symbols(path: &Path) -> Result<KernelSymbols, Failure> {
    let read = File::open(path).and_then(KernelSymbols::from_file);
    read.with_context(|| format!("read the kernel's symbols from `{}`", path.display())).map_err(Failure::usage)
}

/// The build ids by path; of a path that had several contents, none tells which one was mapped.
fn only_ids<'a>(files: impl IntoIterator<Item = &'a FileBuildId>) -> HashMap<Box<[u8]>, BuildId> {
    let mut ids = HashMap::new();
    let mut several = Vec::new();
    for file in files {
        if ids.insert(file.path.clone(), file.build_id).is_some_and(|other| other != file.build_id) {
            several.push(&file.path);
        }
    }
    several.into_iter().for_each(|path| {
        ids.remove(path);
    });
    ids
}

/// How names are looked up.
pub fn symbol_options(names: &NameArgs) -> symbols::Options {
    let usual = symbols::Options::default();
    symbols::Options {
        inlines: !names.no_inline,
        raw_names: names.raw_names,
        debug_dirs: if names.debug_dir.is_empty() { usual.debug_dirs } else { names.debug_dir.clone() },
    }
}

/// What was profiled, by the recorder's command line: the command behind `--`, if there is one.
fn profiled(command: &[String]) -> &[String] {
    let behind = command.iter().position(|word| word == "--").map(|at| &command[at + 1..]);
    behind.filter(|command| !command.is_empty()).unwrap_or(command)
}

/// What a profile says of the run.
fn run(info: &Info) -> Run {
    let wall_offset = info.clock_moment.and_then(|(wall, clock)| {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(wall))?.checked_sub(Duration::from_nanos(clock))
    });
    Run {
        target: profiled(&info.command).join(" "),
        host: info.host.clone(),
        kernel: info.kernel.clone(),
        cpus: info.cpus_online,
        wall_offset,
        ..Run::default()
    }
}
