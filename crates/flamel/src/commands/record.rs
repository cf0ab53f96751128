//! `flamel record`: a live run to pictures.

use super::{draw, live_line::LiveLine, open, summary};
use crate::args::{Backend, CallGraphArg, RecordArgs};
use crate::failure::Failure;
use crate::output::Output;
use anyhow::{Context as _, anyhow};
use capture::{
    CommandState, Ended, Observer, Outcome, OwnSamples, Progress, Rate, Request, Session, StopRequests, Target,
};
use model::{CallGraph, Detail, Event, EventId, Pid, Profile, Tid};
use resolve::{LiveFiles, Resolver};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

/// How long a command that was told to end may take.
const GRACE: Duration = Duration::from_secs(2);
/// How long a command may take that got the same Ctrl-C as we did.
const OWN_GRACE: Duration = Duration::from_millis(300);

/// Records, names, draws, sums up.
pub fn run(args: RecordArgs) -> Result<ExitCode, Failure> {
    let outputs = outputs(&args)?;
    let request = request(&args)?;
    let stop = StopRequests::install().context("take over signals").map_err(Failure::run)?;
    let session = Session::prepare(request.clone()).map_err(capture_failure)?;
    for output in &outputs {
        output.check_events(&session.events())?;
    }
    if !args.quiet {
        summary::remarks(&session.recording().remarks);
    }
    let options = resolve::Options {
        recording: session.recording().clone(),
        events: session.events(),
        // Neither pictures nor folded stacks look at single samples.
        detail: Detail::Counts,
        idle: args.idle,
        call_graph: session.call_graph(),
        max_frames: args.max_frames as usize,
        kernel_limit: session.kernel_limit(),
    };
    let mut run = Run { resolver: Resolver::new(options, Box::new(LiveFiles)), live: LiveLine::new(args.quiet) };
    let outcome = session.run(&stop, &mut run).map_err(capture_failure)?;
    run.live.clear();
    if !args.quiet {
        summary::remarks(&outcome.remarks);
    }

    let done = deliver(run.resolver, &outcome, &request, &outputs, &args, &stop);
    // Whatever became of the results, the command is not left behind.
    let command = settle(outcome);
    match (done, command) {
        (Ok(()), command) => Ok(command.unwrap_or(ExitCode::SUCCESS)),
        // There is nothing to show of a command that failed: its own code says more.
        (Err(failure), Some(code)) if failure.is_no_samples() && code != ExitCode::SUCCESS => {
            summary::warn(&format!("{:#}", failure.error));
            Ok(code)
        }
        (Err(failure), _) => Err(failure),
    }
}

/// From what was recorded to what was asked for.
fn deliver(
    resolver: Resolver,
    outcome: &Outcome,
    request: &Request,
    outputs: &[Output],
    args: &RecordArgs,
    stop: &StopRequests,
) -> Result<(), Failure> {
    let profile = name(resolver, outcome, args, stop);
    let events = profile.events_with_samples();
    if events.is_empty() {
        return Err(Failure::no_samples(anyhow!("{}", summary::why_no_samples(&profile, request, outcome))));
    }
    let written = write_all(outputs, &profile, &events, args);
    if !args.quiet {
        events.iter().for_each(|&event| summary::print(&profile, event));
    }
    let written = written?;
    if !args.quiet {
        summary::files(&written);
    }
    if let (true, Some(first)) = (args.open, written.first()) {
        open::in_viewer(first);
    }
    Ok(())
}

struct Run {
    resolver: Resolver,
    live: LiveLine,
}

impl Observer for Run {
    fn event(&mut self, event: &Event<'_>) {
        self.resolver.event(event);
    }
    fn progress(&mut self, progress: Progress) {
        self.live.show(progress);
    }
}

fn outputs(args: &RecordArgs) -> Result<Vec<Output>, Failure> {
    if args.output.is_empty() {
        return Output::all(&["flame.svg".into()], args.format.as_deref());
    }
    Output::all(&args.output, args.format.as_deref())
}

fn request(args: &RecordArgs) -> Result<Request, Failure> {
    // There is one way to sample so far; both words mean it.
    let (Backend::Auto | Backend::Perf) = args.backend;
    let target = target(args)?;
    if args.exclude_self && !matches!(target, Target::System | Target::Cgroups(_)) {
        return Err(Failure::usage(anyhow!(
            "`--exclude-self`: flamel is not sampled with a command; it goes with `-a`, `-C` or `--cgroup`"
        )));
    }
    Ok(Request {
        target,
        command: (!args.command.is_empty()).then(|| args.command.clone()),
        cpus: args.cpu.clone(),
        inherit: !args.no_inherit,
        own_samples: if args.exclude_self { OwnSamples::LeaveOut } else { OwnSamples::Keep },
        events: args.event.clone(),
        rate: args.freq.map(Rate::Hertz).or(args.count.map(Rate::Period)),
        call_graph: match args.call_graph {
            CallGraphArg::Auto(stack_bytes) => CallGraph::Auto { stack_bytes },
            CallGraphArg::Dwarf(stack_bytes) => CallGraph::Dwarf { stack_bytes },
            CallGraphArg::FramePointer => CallGraph::FramePointer,
            CallGraphArg::None => CallGraph::None,
        },
        duration: args.duration,
        delay: args.delay,
        ring_bytes: args.ring_size,
    })
}

/// The parser has seen to it that no two of them are given.
fn target(args: &RecordArgs) -> Result<Target, Failure> {
    Ok(if !args.pid.is_empty() {
        Target::Processes(distinct(&args.pid).into_iter().map(Pid).collect())
    } else if !args.tid.is_empty() {
        Target::Threads(distinct(&args.tid).into_iter().map(Tid).collect())
    } else if !args.uid.is_empty() {
        Target::Users(args.uid.clone())
    } else if !args.comm.is_empty() {
        Target::Names(args.comm.clone())
    } else if !args.cgroup.is_empty() {
        Target::Cgroups(args.cgroup.iter().map(Into::into).collect())
    } else if args.all_cpus || args.cpu.is_some() {
        Target::System
    } else if args.command.is_empty() {
        return Err(Failure::usage(anyhow!(
            "say what to profile: `flamel record -- COMMAND`, `-p PID`, `-t TID`, `--uid USER`, `--comm NAME`, \
             `--cgroup CGROUP`, or `-a` for the whole system"
        )));
    } else {
        Target::Command
    })
}

fn distinct(numbers: &[u32]) -> Vec<u32> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn capture_failure(error: capture::Error) -> Failure {
    if error.is_usage() { Failure::usage(error) } else { Failure::run(error) }
}

fn name(mut resolver: Resolver, outcome: &Outcome, args: &RecordArgs, stop: &StopRequests) -> Profile {
    let profile = resolver.profile_mut();
    profile.losses.merge(&outcome.losses);
    profile.recording.duration = Some(outcome.duration);
    profile.recording.remarks.extend(outcome.remarks.iter().cloned());
    let options =
        symbols::Options { inlines: !args.no_inline, raw_names: args.raw_names, ..symbols::Options::default() };
    resolver.finish(options, &|| stop.hurry())
}

/// Writes every output even if one of them fails; the first failure is what is told.
fn write_all(
    outputs: &[Output],
    profile: &Profile,
    events: &[EventId],
    args: &RecordArgs,
) -> Result<Vec<std::path::PathBuf>, Failure> {
    let mut written = Vec::new();
    let mut failed = None;
    for output in outputs {
        match output.write(profile, events, &|format, profile, event, out| {
            draw::write(format, profile, event, &args.picture, out)
        }) {
            Ok(files) => written.extend(files),
            Err(failure) if failed.is_none() => failed = Some(failure),
            Err(failure) => summary::warn(&format!("{:#}", failure.error)),
        }
    }
    match failed {
        None => Ok(written),
        Some(failure) => {
            summary::files(&written);
            Err(failure)
        }
    }
}

/// Ends the command if it still runs. Gives its own code, or 128 + its signal; 0 where we ended
/// it because its time was up; none where there is no command.
fn settle(outcome: Outcome) -> Option<ExitCode> {
    let Outcome { command, ended, .. } = outcome;
    let child = match command? {
        CommandState::Ended(status) => return Some(ExitCode::from(code_of(status))),
        CommandState::Running(child) => child,
    };
    let status = end(child, ended);
    let by_us = status.is_none_or(|status| status.signal() == Some(rustix::process::Signal::TERM.as_raw()));
    Some(match (status, ended) {
        (_, Ended::Signal(signal)) if by_us => ExitCode::from(128 + signal as u8),
        (_, Ended::TimeUp | Ended::TargetEnded) if by_us => ExitCode::SUCCESS,
        (Some(status), _) => ExitCode::from(code_of(status)),
        (None, _) => ExitCode::SUCCESS,
    })
}

fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128 + signal as u8,
        (None, None) => 1,
    }
}

fn signal_of(ended: Ended) -> Option<i32> {
    match ended {
        Ended::Signal(signal) => Some(signal),
        _ => None,
    }
}

/// Ends a command that outlived its recording. After a Ctrl-C it has most likely had the same
/// signal from the terminal, and gets a moment to follow it before SIGTERM.
fn end(mut child: Child, ended: Ended) -> Option<ExitStatus> {
    let interrupted = signal_of(ended) == Some(rustix::process::Signal::INT.as_raw());
    if interrupted && let Some(status) = wait_for(&mut child, OWN_GRACE) {
        return Some(status);
    }
    let pid = rustix::process::Pid::from_raw(child.id() as i32)?;
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    let status = wait_for(&mut child, GRACE);
    if status.is_none() {
        summary::warn(&format!("the command still runs as process {}; end it with `kill -9 {0}`", child.id()));
    }
    status
}

fn wait_for(child: &mut Child, at_most: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + at_most;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            _ => return None,
        }
    }
}
