//! One recording, from the open counters to the last event.

use crate::error::Error;
use crate::proc_scan;
use crate::request::{Request, Target};
use crate::setup::{self, Prepared};
use crate::signals::StopRequests;
use model::{Body, CallGraph, Event, EventDescription, Losses, Pid, Recording, Tid, Unit};
use perf::{Sampler, Waiting};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Takes what a recording yields, as it yields it.
pub trait Observer {
    /// The next event, in the order of time.
    fn event(&mut self, event: &Event<'_>);
    /// How far the recording is; a few times a second.
    fn progress(&mut self, progress: Progress);
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
    watched: Vec<Watched>,
}

/// A process or thread whose end is waited for.
struct Watched {
    tid: Tid,
    /// Tells of the end at once; threads, and kernels before 5.3, have none and are looked at.
    pidfd: Option<OwnedFd>,
    gone: bool,
}

/// How often everything is looked at that does not wake us up.
const TICK: Duration = Duration::from_millis(100);
/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

impl Session {
    /// Opens everything. A command is forked, and waits.
    pub fn prepare(mut request: Request) -> Result<Self, Error> {
        let prepared = setup::prepare(&mut request)?;
        let watched = match &request.target {
            Target::Processes(pids) => pids.iter().map(|pid| Watched::process(*pid)).collect(),
            Target::Threads(tids) => tids.iter().map(|&tid| Watched { tid, pidfd: None, gone: false }).collect(),
            Target::Command | Target::System => Vec::new(),
        };
        Ok(Self { request, prepared, watched })
    }

    /// The sampled events, by [`EventId`](model::EventId).
    pub fn events(&self) -> Vec<EventDescription> {
        self.prepared.descriptions.clone()
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
        let Self { request, prepared, mut watched } = self;
        let Prepared { mut sampler, waiting, descriptions, busy, .. } = prepared;
        tell_what_runs(&request.target, observer);

        let by_exec = request.target == Target::Command && request.delay.is_zero();
        // What else runs is observed before the command begins.
        let mut began = None;
        if !by_exec && request.delay.is_zero() {
            sampler.enable().map_err(|errno| Error::Io("enable the events", errno.into()))?;
            began = Some(Instant::now());
        }
        let mut child = waiting.map(|waiting| launch(waiting, &request)).transpose()?;
        let child_pidfd = child.as_ref().and_then(|child| pidfd(Pid(child.id())));
        let launched = Instant::now();
        let busy_before = busy.measure();
        let mut samples = 0;
        let mut slowed = Vec::new();
        let mut progress_at = launched;
        let ended = loop {
            if began.is_none() && launched.elapsed() >= request.delay {
                if !by_exec {
                    sampler.enable().map_err(|errno| Error::Io("enable the events", errno.into()))?;
                }
                began = Some(Instant::now());
            }
            let deadline = match (began, request.duration) {
                (None, _) => Some(launched + request.delay),
                (Some(began), Some(duration)) => Some(began + duration),
                (Some(_), None) => None,
            };
            wait(&sampler, &watched, child_pidfd.as_ref(), stop, deadline)?;
            let slower = sampler.drain(|event| {
                samples += u64::from(is_work(&event));
                observer.event(&event);
            });
            slowed.extend(slower);
            if progress_at.elapsed() >= PROGRESS_EVERY {
                progress_at = Instant::now();
                let elapsed = began.map(|began| began.elapsed());
                observer.progress(Progress { elapsed, samples, lost: sampler.lost_so_far() });
            }
            if let Some(signal) = stop.signal() {
                break Ended::Signal(signal);
            }
            if child.as_mut().is_some_and(has_ended) {
                break Ended::CommandEnded;
            }
            // All of them are looked at: the descriptor of one that is gone must not be waited on.
            let gone = watched.iter_mut().map(Watched::is_gone).filter(|gone| *gone).count();
            if !watched.is_empty() && gone == watched.len() {
                break Ended::TargetEnded;
            }
            if let (Some(began), Some(duration)) = (began, request.duration)
                && began.elapsed() >= duration
            {
                break Ended::TimeUp;
            }
        };

        let duration = began.map(|began| began.elapsed()).unwrap_or_default();
        // A counter of an ended thread is disabled already; what cannot be stopped is dropped.
        let _ = sampler.disable();
        let busy_time = busy.since(busy_before);
        let losses = sampler.finish(|event| {
            samples += u64::from(is_work(&event));
            observer.event(&event);
        });
        let mut remarks = slowed_remarks(&slowed, &descriptions);
        if let (Some(busy_time), true) = (busy_time, slowed.is_empty()) {
            let lost = losses.count(model::SampleLoss::RingFull);
            remarks.extend(too_few(samples + lost, busy_time, &descriptions));
        }
        let command = child.map(|mut child| match child.try_wait() {
            Ok(Some(status)) => CommandState::Ended(status),
            _ => CommandState::Running(child),
        });
        Ok(Outcome { ended, command, losses, duration, remarks })
    }
}

impl Watched {
    fn process(pid: Pid) -> Self {
        Self { tid: Tid(pid.0), pidfd: pidfd(pid), gone: false }
    }

    /// A process is gone when its last thread is, which may be long after its first.
    fn is_gone(&mut self) -> bool {
        self.gone = self.gone
            || match &self.pidfd {
                Some(pidfd) => is_readable(pidfd),
                None => !exists(self.tid),
            };
        self.gone
    }
}

fn pidfd(pid: Pid) -> Option<OwnedFd> {
    let pid = rustix::process::Pid::from_raw(pid.0 as i32)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Whether a process or thread runs. What has ended and was not waited for yet does not.
fn exists(tid: Tid) -> bool {
    let Ok(stat) = std::fs::read(format!("/proc/{tid}/stat")) else { return false };
    let state = stat.iter().rposition(|&byte| byte == b')').and_then(|at| stat.get(at + 2));
    !matches!(state, None | Some(b'Z' | b'X'))
}

fn is_readable(fd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

fn has_ended(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(Some(_)))
}

fn launch(waiting: Waiting, request: &Request) -> Result<Child, Error> {
    let name = request.command.as_ref().and_then(|command| command.first()).cloned().unwrap_or_default();
    waiting.go().map_err(|error| Error::Launch(name, error))
}

fn tell_what_runs(target: &Target, observer: &mut dyn Observer) {
    let mut tell = |pid| proc_scan::tell(pid, &mut |event| observer.event(&event));
    match target {
        Target::Command => {}
        Target::Processes(pids) => pids.iter().copied().for_each(tell),
        Target::Threads(tids) => {
            let mut pids: Vec<Pid> = tids.iter().filter_map(|&tid| proc_scan::process_of(tid)).collect();
            pids.sort();
            pids.dedup();
            pids.into_iter().for_each(&mut tell);
        }
        Target::System => proc_scan::all_processes().into_iter().for_each(tell),
    }
}

/// Waits until there is something to do, a tick at most.
fn wait(
    sampler: &Sampler,
    watched: &[Watched],
    child: Option<&OwnedFd>,
    stop: &StopRequests,
    deadline: Option<Instant>,
) -> Result<(), Error> {
    let left = deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(Instant::now()).min(TICK));
    let pidfds = watched.iter().filter(|watched| !watched.gone).filter_map(|watched| watched.pidfd.as_ref());
    let mut fds: Vec<PollFd<'_>> = std::iter::once(stop.wake_up())
        .chain(pidfds.chain(child).map(AsFd::as_fd))
        .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
        .collect();
    fds.extend(sampler.wake_ups().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => {}
        Err(errno) => return Err(Error::Io("wait for events", errno.into())),
    }
    // A ring whose threads have all ended stays ready for ever (POLLHUP): do not spin on it.
    let hung_up = fds.iter().any(|fd| fd.revents().contains(PollFlags::HUP));
    let readable = fds.iter().any(|fd| fd.revents().contains(PollFlags::IN));
    if hung_up && !readable {
        std::thread::sleep(left.min(Duration::from_millis(10)));
    }
    Ok(())
}

/// Whether an event is a sample of something other than an idle CPU.
fn is_work(event: &Event<'_>) -> bool {
    matches!(event.body, Body::Sample(_)) && !event.task.is_idle()
}

fn slowed_remarks(slowed: &[perf::Slowed], descriptions: &[EventDescription]) -> Vec<String> {
    use model::id::Id as _;
    descriptions
        .iter()
        .enumerate()
        .filter_map(|(index, description)| {
            let factor = slowed
                .iter()
                .filter(|slowed| slowed.event.index() == index)
                .map(|slowed| slowed.factor)
                .reduce(f64::max)?;
            Some(format!(
                "the kernel held `{}` back, so it was sampled up to {factor:.1} times more seldom than asked for; each \
                 sample's weight says how much it stands for",
                description.name
            ))
        })
        .collect()
}

/// A word where far fewer samples came than the CPU time used should have given.
fn too_few(samples: u64, busy: Duration, descriptions: &[EventDescription]) -> Option<String> {
    let [description] = descriptions else { return None };
    let hz = match (description.sampling, description.unit) {
        (model::Sampling::Frequency(hz), _) => hz as f64,
        (model::Sampling::Period(ns), Unit::Nanoseconds) => 1e9 / ns as f64,
        _ => return None,
    };
    let expected = hz * busy.as_secs_f64();
    (expected >= 200.0 && (samples as f64) < 0.85 * expected).then(|| {
        format!(
            "only {samples} samples came where {:.1} s of CPU time at {hz:.0} Hz should have given about {expected:.0}",
            busy.as_secs_f64()
        )
    })
}
