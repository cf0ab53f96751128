//! A recording that goes on: what is done at each turn, until something ends it.

use crate::error::Error;
use crate::remarks;
use crate::request::{OwnSamples, Request, Target};
use crate::session::{CommandState, Ended, Observer, Outcome, Progress};
use crate::setup::Prepared;
use crate::signals::StopRequests;
use crate::watched::{Watched, pidfd};
use model::{Body, Event, EventDescription, Losses, Pid, SampleLoss};
use perf::{Sampler, Slowed, Waiting};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

/// How often everything is looked at that does not wake us up.
const TICK: Duration = Duration::from_millis(100);
/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// A recording that goes on.
pub(crate) struct Course<'a> {
    sampler: Sampler,
    descriptions: Vec<EventDescription>,
    watched: Vec<Watched>,
    child: Option<Child>,
    child_pidfd: Option<OwnedFd>,
    /// When the events were enabled; `None` while they are not.
    began: Option<Instant>,
    launched: Instant,
    delay: Duration,
    duration: Option<Duration>,
    /// Whether the command's exec enables the events.
    by_exec: bool,
    busy: crate::busy::Busy,
    busy_before: Option<Duration>,
    intake: Intake<'a>,
    slowed: Vec<Slowed>,
    progress_at: Instant,
}

impl<'a> Course<'a> {
    /// Begins to sample, unless that is to wait, and lets the command go.
    pub(crate) fn begin(request: &Request, prepared: Prepared, observer: &'a mut dyn Observer) -> Result<Self, Error> {
        let Prepared { sampler, waiting, found, descriptions, busy, .. } = prepared;
        let by_exec = request.target == Target::Command && request.delay.is_zero();
        // What else runs is observed before the command begins.
        let began = if !by_exec && request.delay.is_zero() { Some(enable(&sampler)?) } else { None };
        let child = waiting.map(|waiting| launch(waiting, request)).transpose()?;
        let launched = Instant::now();
        let own = (request.own_samples == OwnSamples::LeaveOut).then(|| Pid(std::process::id()));
        Ok(Self {
            watched: Watched::all_of(&found),
            child_pidfd: child.as_ref().and_then(|child| pidfd(Pid(child.id()))),
            child,
            began,
            launched,
            delay: request.delay,
            duration: request.duration,
            by_exec,
            busy_before: busy.measure(),
            busy,
            intake: Intake { observer, samples: 0, own, left_out: Losses::default() },
            slowed: Vec::new(),
            progress_at: launched,
            sampler,
            descriptions,
        })
    }

    /// Goes on until something ends it.
    pub(crate) fn run(&mut self, stop: &StopRequests) -> Result<Ended, Error> {
        loop {
            self.begin_when_due()?;
            self.wait(stop)?;
            self.slowed.extend(self.sampler.drain(|event| self.intake.take(&event)));
            self.tell_progress();
            if let Some(ended) = self.end(stop) {
                return Ok(ended);
            }
        }
    }

    /// Stops sampling and gives out what is left.
    pub(crate) fn finish(mut self, ended: Ended) -> Outcome {
        let duration = self.began.map(|began| began.elapsed()).unwrap_or_default();
        // A counter of an ended thread is disabled already; what cannot be stopped is dropped.
        let _ = self.sampler.disable();
        let busy_time = self.busy.since(self.busy_before);
        let mut losses = self.sampler.finish(|event| self.intake.take(&event));
        losses.merge(&self.intake.left_out);
        let mut remarks = remarks::slowed(&self.slowed, &self.descriptions);
        if let (Some(busy_time), true) = (busy_time, self.slowed.is_empty()) {
            let missing = losses.count(SampleLoss::RingFull) + losses.count(SampleLoss::Own);
            remarks.extend(remarks::too_few(self.intake.samples + missing, busy_time, &self.descriptions));
        }
        let command = self.child.map(|mut child| match child.try_wait() {
            Ok(Some(status)) => CommandState::Ended(status),
            _ => CommandState::Running(child),
        });
        Outcome { ended, command, losses, duration, remarks }
    }

    fn begin_when_due(&mut self) -> Result<(), Error> {
        if self.began.is_none() && self.launched.elapsed() >= self.delay {
            self.began = Some(if self.by_exec { Instant::now() } else { enable(&self.sampler)? });
        }
        Ok(())
    }

    /// When there is something to do by itself.
    fn deadline(&self) -> Option<Instant> {
        match (self.began, self.duration) {
            (None, _) => Some(self.launched + self.delay),
            (Some(began), Some(duration)) => Some(began + duration),
            (Some(_), None) => None,
        }
    }

    /// Waits until there is something to do, a tick at most.
    fn wait(&self, stop: &StopRequests) -> Result<(), Error> {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()).min(TICK);
        let left = self.deadline().map_or(TICK, left);
        let pidfds = self.watched.iter().filter_map(Watched::wake_up).chain(self.child_pidfd.as_ref());
        let mut fds: Vec<PollFd<'_>> = std::iter::once(stop.wake_up())
            .chain(pidfds.map(AsFd::as_fd))
            .chain(self.sampler.wake_ups())
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
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

    fn tell_progress(&mut self) {
        if self.progress_at.elapsed() < PROGRESS_EVERY {
            return;
        }
        self.progress_at = Instant::now();
        let elapsed = self.began.map(|began| began.elapsed());
        let progress = Progress { elapsed, samples: self.intake.samples, lost: self.sampler.lost_so_far() };
        self.intake.observer.progress(progress);
    }

    /// What has ended it, if anything has.
    fn end(&mut self, stop: &StopRequests) -> Option<Ended> {
        if let Some(signal) = stop.signal() {
            return Some(Ended::Signal(signal));
        }
        if self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_)))) {
            return Some(Ended::CommandEnded);
        }
        if !self.intake.observer.wants_more() {
            return Some(Ended::NotWanted);
        }
        // All of them are looked at: the descriptor of one that is gone must not be waited on.
        let gone = self.watched.iter_mut().map(Watched::is_gone).filter(|gone| *gone).count();
        if !self.watched.is_empty() && gone == self.watched.len() {
            return Some(Ended::TargetEnded);
        }
        let is_up = |(began, duration): (Instant, Duration)| began.elapsed() >= duration;
        self.began.zip(self.duration).is_some_and(is_up).then_some(Ended::TimeUp)
    }
}

/// What events go through on their way out.
struct Intake<'a> {
    observer: &'a mut dyn Observer,
    /// Samples given out, those of idle CPUs apart.
    samples: u64,
    /// The process whose samples are left out: this one.
    own: Option<Pid>,
    left_out: Losses,
}

impl Intake<'_> {
    fn take(&mut self, event: &Event<'_>) {
        if let Body::Sample(sample) = &event.body {
            if self.own == Some(event.task.pid) {
                self.left_out.add_of(sample.event, SampleLoss::Own, sample.count);
                return;
            }
            self.samples += u64::from(!event.task.is_idle());
        }
        self.observer.event(event);
    }
}

fn enable(sampler: &Sampler) -> Result<Instant, Error> {
    sampler.enable().map_err(|errno| Error::Io("enable the events", errno.into()))?;
    Ok(Instant::now())
}

fn launch(waiting: Waiting, request: &Request) -> Result<Child, Error> {
    let name = request.command.as_ref().and_then(|command| command.first()).cloned().unwrap_or_default();
    waiting.go().map_err(|error| Error::Launch(name, error))
}
