//! `flamel record`: a live run to pictures.

use super::recorder::{self, Recorder};
use super::recording;
use super::{draw, live_line::LiveLine, open, summary};
use crate::args::{Backend, CallGraphArg, RecordArgs};
use crate::failure::Failure;
use crate::output::Output;
use anyhow::{Context as _, anyhow};
use capture::{
    CommandState, Ended, Machine, Observer, Outcome, OwnSamples, Progress, Rate, Request, Session, StopRequests,
    Target, TracepointFields, TracepointFiles,
};
use model::{CallGraph, Detail, Event, Losses, Pid, Profile, Tid, id::Id as _};
use perfdata::{FileBuildId, Info, RecordedEvent, TracepointFormats, TracepointSystem, WriteOptions};
use resolve::{KernelSource, LiveFiles, Resolver};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ExitCode, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

/// How long a command that was told to end may take.
const GRACE: Duration = Duration::from_secs(2);
/// How long a command may take that got the same Ctrl-C as we did.
const OWN_GRACE: Duration = Duration::from_millis(300);

/// Records, names, draws, sums up.
pub fn run(args: RecordArgs) -> Result<ExitCode, Failure> {
    let (recordings, outputs): (Vec<Output>, Vec<Output>) = outputs(&args)?.into_iter().partition(Output::is_recording);
    if let [_, second, ..] = &recordings[..] {
        let second = second.path().display();
        return Err(Failure::usage(anyhow!("write `{second}`: one recording is enough; copy it")));
    }
    let write_options = recorder::write_options(args.recording.compress, &recordings)?;
    let tracepoint_fields = if recordings.is_empty() { TracepointFields::LeftOut } else { TracepointFields::Carried };
    let request = Request { tracepoint_fields, ..request(&args)? };
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
        kernel: KernelSource::Live { cache: recording::kernel_cache() },
        ahead: None,
        call_graph: session.call_graph(),
        max_frames: args.max_frames as usize,
        kernel_limit: session.kernel_limit(),
    };
    let recorder = recordings.first().map(|output| recorder(output.path(), &session, write_options)).transpose()?;
    if let Some(meanwhile) = recorder.as_ref().and_then(Recorder::meanwhile).filter(|_| !args.quiet) {
        summary::warn(&format!("writing to `{}` until the recording has ended", meanwhile.display()));
    }
    let mut run =
        Run { resolver: Resolver::new(options, Box::new(LiveFiles)), recorder, live: LiveLine::new(args.quiet) };
    let outcome = match session.run(&stop, &mut run) {
        Ok(outcome) => outcome,
        Err(error) => {
            // What was recorded before is worth keeping.
            let has_samples = !run.resolver.profile().events_with_samples().is_empty();
            match run.recorder {
                Some(recorder) if has_samples => summary::files(&[recorder.finish(&Losses::default())?]),
                recorder => recorder.into_iter().for_each(Recorder::abandon),
            }
            return Err(capture_failure(error));
        }
    };
    run.live.clear();
    if !args.quiet {
        summary::remarks(&outcome.remarks);
    }

    let Run { resolver, recorder, .. } = run;
    let done = deliver(resolver, recorder, &outcome, &request, &outputs, &args, &stop);
    // Whatever became of the results, the command is not left behind.
    if outcome.ended == Ended::NotWanted && outcome.command.is_some() {
        summary::warn("nothing more could be recorded: the command is ended");
    }
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
    recorder: Option<Recorder>,
    outcome: &Outcome,
    request: &Request,
    outputs: &[Output],
    args: &RecordArgs,
    stop: &StopRequests,
) -> Result<(), Failure> {
    let events = resolver.profile().events_with_samples();
    // The recording needs no names, and is safe before they are looked up.
    let recorded = match recorder {
        Some(recorder) if events.is_empty() => {
            recorder.abandon();
            Ok(None)
        }
        recorder => recorder.map(|recorder| recorder.finish(&outcome.losses)).transpose(),
    };
    let profile = name(resolver, outcome, args, stop);
    if events.is_empty() {
        return Err(Failure::no_samples(anyhow!("{}", summary::why_no_samples(&profile, request, outcome))));
    }
    for event in (0..profile.events.len()).filter(|index| !events.iter().any(|event| event.index() == *index)) {
        summary::warn(&format!(
            "no samples of `{}`: it did not occur where it was looked for",
            profile.events[event].name
        ));
    }
    let written = draw::write_all(outputs, &profile, &events, &args.picture);
    if !args.quiet {
        events.iter().for_each(|&event| summary::print(&profile, event));
    }
    let mut written = written?;
    written.extend(recorded?);
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
    recorder: Option<Recorder>,
    live: LiveLine,
}

impl Observer for Run {
    fn event(&mut self, event: &Event<'_>) {
        let told = self.resolver.event(event);
        if let Some(recorder) = &mut self.recorder {
            recorder.event(event, told);
        }
    }
    fn progress(&mut self, progress: Progress) {
        self.live.show(progress);
        if let Some(recorder) = &mut self.recorder {
            recorder.tick();
        }
    }
    fn wants_more(&self) -> bool {
        self.recorder.as_ref().is_none_or(Recorder::can_go_on)
    }
}

fn recorder(path: &Path, session: &Session, options: WriteOptions) -> Result<Recorder, Failure> {
    let attributes = session.attributes().into_iter();
    let event = |(description, attribute)| RecordedEvent { description, attribute, ids: Vec::new() };
    let events: Vec<RecordedEvent> = session.events().into_iter().zip(attributes).map(event).collect();
    let machine = Machine::read();
    let info = Info {
        host: Some(machine.host),
        kernel: Some(machine.kernel),
        machine: Some(machine.architecture),
        perf: Some(concat!("flamel ", env!("CARGO_PKG_VERSION")).into()),
        cpus_online: Some(machine.cpus.0),
        cpus_available: Some(machine.cpus.1),
        cpu: machine.cpu,
        memory_kib: machine.memory_kib,
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        clock: Some(CLOCK_MONOTONIC),
        clock_moment: session.recording().wall_offset.and_then(|zero| {
            let wall = zero.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some((u64::try_from(wall.as_nanos()).ok()?, 0))
        }),
        build_ids: resolve::running_build_id()
            .map(|build_id| FileBuildId { path: recording::KERNEL.into(), build_id, kernel: true })
            .into_iter()
            .collect(),
        tracing_data: session.tracepoint_files().map(|files| tracing_data(files).into()),
        ..Info::default()
    };
    Recorder::create(path, &events, info, options)
}

fn tracing_data(files: &TracepointFiles) -> Vec<u8> {
    let system =
        |(name, formats): (&String, &Vec<Vec<u8>>)| TracepointSystem { name: name.clone(), formats: formats.clone() };
    let formats = TracepointFormats {
        header_page: files.header_page.clone(),
        header_event: files.header_event.clone(),
        systems: files.formats.iter().map(system).collect(),
        printk_formats: files.printk_formats.clone(),
    };
    formats.to_bytes(rustix::param::page_size() as u32)
}

/// `CLOCK_MONOTONIC` of clock_gettime(2).
const CLOCK_MONOTONIC: u32 = 1;

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
        tracepoint_fields: TracepointFields::LeftOut,
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
        (_, Ended::TimeUp | Ended::TargetEnded | Ended::NotWanted) if by_us => ExitCode::SUCCESS,
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
