//! One recording, from the open counters to the last event.

use crate::course::Course;
use crate::error::Error;
use crate::found::Found;
use crate::machine;
use crate::proc_scan;
use crate::request::Request;
use crate::setup::{self, Prepared};
use crate::signals::StopRequests;
use model::{CallGraph, Event, EventDescription, Losses, Pid, Recording};
use perf::events::TracepointFiles;
use records::Attribute;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// Takes what a recording yields, as it yields it.
pub trait Observer {
    /// The next event, in the order of time.
    fn event(&mut self, event: &Event<'_>);
    /// How far the recording is; a few times a second.
    fn progress(&mut self, progress: Progress);
    /// Whether the recording is to go on; it is not where nothing more can be written.
    fn wants_more(&self) -> bool {
        true
    }
}

/// How far a recording is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time since sampling began; `None` while it has not.
    pub elapsed: Option<Duration>,
    /// Samples taken, those of idle CPUs apart.
    pub samples: u64,
    /// Samples lost, as far as the kernel has told.
    pub lost: u64,
}

/// Why a recording ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The command ended.
    CommandEnded,
    /// All observed processes or threads ended.
    TargetEnded,
    /// The time was up.
    TimeUp,
    /// The observer wants no more.
    NotWanted,
    /// The user or somebody else sent this signal.
    Signal(i32),
}

/// What a recording left behind.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ended: Ended,
    /// The launched command.
    pub command: Option<CommandState>,
    /// What was lost between kernel and here.
    pub losses: Losses,
    /// How long events were enabled.
    pub duration: Duration,
    /// What the user must know of how it went.
    pub remarks: Vec<String>,
}

/// A launched command after its recording.
#[derive(Debug)]
pub enum CommandState {
    /// It ended so.
    Ended(ExitStatus),
    /// It still runs.
    Running(Child),
}

/// A recording that is ready to begin.
pub struct Session {
    request: Request,
    prepared: Prepared,
}

impl Session {
    /// Opens everything. A command is forked, and waits.
    pub fn prepare(mut request: Request) -> Result<Self, Error> {
        let prepared = setup::prepare(&mut request)?;
        Ok(Self { request, prepared })
    }

    /// The sampled events, by [`EventId`](model::EventId).
    pub fn events(&self) -> Vec<EventDescription> {
        self.prepared.descriptions.clone()
    }

    /// What the kernel was asked for, event by event.
    pub fn attributes(&self) -> Vec<Attribute> {
        self.prepared.sampler.attributes()
    }

    /// What tells of tracepoints' fields, where samples carry them.
    pub fn tracepoint_files(&self) -> Option<&TracepointFiles> {
        self.prepared.tracepoint_files.as_ref()
    }

    /// What is known of the run beforehand.
    pub fn recording(&self) -> &Recording {
        &self.prepared.recording
    }

    /// How user stacks are taken, after all.
    pub fn call_graph(&self) -> CallGraph {
        self.request.call_graph
    }

    /// The most words of a kernel callchain.
    pub fn kernel_limit(&self) -> usize {
        self.prepared.kernel_limit
    }

    /// Records until the command or target ends, the time is up or somebody asks to stop.
    pub fn run(self, stop: &StopRequests, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        tell_what_runs(&self.prepared.found, observer);
        let mut course = Course::begin(&self.request, self.prepared, observer)?;
        let ended = course.run(stop)?;
        Ok(course.finish(ended))
    }
}

fn tell_what_runs(found: &Found, observer: &mut dyn Observer) {
    machine::tell_kernel(&mut |event| observer.event(&event));
    let mut tell = |pid| proc_scan::tell(pid, &mut |event| observer.event(&event));
    match found {
        Found::Command => {}
        Found::Processes(pids) | Found::Matching(pids) => pids.iter().copied().for_each(tell),
        Found::Threads(tids) => {
            let mut pids: Vec<Pid> = tids.iter().filter_map(|&tid| proc_scan::process_of(tid)).collect();
            pids.sort();
            pids.dedup();
            pids.into_iter().for_each(&mut tell);
        }
        // Whatever runs may come onto a CPU, or into a cgroup.
        Found::Cgroups(_) | Found::System => proc_scan::all_processes().into_iter().for_each(tell),
    }
}
