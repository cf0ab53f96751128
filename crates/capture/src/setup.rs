//! From a request to open counters: which events, whose, on which CPUs, how often. Where the
//! machine refuses the first choice, `ladder` says what is tried next.

use crate::busy::Busy;
use crate::error::Error;
use crate::ladder::{attempt, step_down};
use crate::proc_scan;
use crate::request::{DEFAULT_HZ, Rate, Request, Target};
use crate::ring_size::{self, page_size};
use model::{CallGraph, Cpu, EventDescription, Recording, Sampling, Tid, Unit};
use perf::events::{self, EventKind, EventSpec, Modifiers, Placement, Roots};
use perf::limits::Limits;
use perf::refusal::{self, RingAttempt};
use perf::{Observed, OpenFailure, Plan, SampleRequest, Sampler, Start, Waiting, sampling_attr};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::Command;
use std::time::SystemTime;

/// Open counters, and what is known of the run.
pub struct Prepared {
    /// The counters.
    pub sampler: Sampler,
    /// The command, waiting for its exec.
    pub waiting: Option<Waiting>,
    /// The sampled events.
    pub descriptions: Vec<EventDescription>,
    /// What is known of the run.
    pub recording: Recording,
    /// The most words of a kernel callchain.
    pub kernel_limit: usize,
    /// The accounts of CPU time.
    pub busy: Busy,
}

/// Opens what `request` asks for; changes in it what this machine allows less of.
pub fn prepare(request: &mut Request) -> Result<Prepared, Error> {
    let limits = Limits::read();
    let mut remarks = Vec::new();
    remarks.extend(keep_to_rate_limit(request, &limits));
    let cpus = wanted_cpus(request, &limits)?;
    ring_size::fit_stack_bytes(request, &limits, cpus.len());
    let mut specs = wanted_events(request)?;
    check_placement(&specs, &request.target)?;

    let waiting = request.command.as_ref().map(|command| fork(command)).transpose()?;
    // After the fork, so that the command keeps the limit that it was given.
    raise_file_limit();
    let observed = observed(request, waiting.as_ref())?;
    let mut ring_bytes = ring_size::sample_ring(request, &limits, cpus.len());

    remarks.extend(specs.iter().find_map(|spec| keep_to_clock_limit(spec, request.rate)));
    let sampler = loop {
        if request.ring_bytes.is_none() && !ring_size::is_useful(request, ring_bytes) {
            remarks.extend(follow_frame_pointers(request, &limits));
        }
        let plan = plan(request, &limits, &specs, &cpus, &observed, ring_bytes);
        match Sampler::open(plan) {
            Ok(sampler) => break sampler,
            Err(OpenFailure::NoThread) => return Err(Error::TargetGone),
            Err(OpenFailure::Ring { pages, errno }) => {
                if request.ring_bytes.is_some() || ring_bytes <= page_size() {
                    let attempt = RingAttempt { rings: 2 * cpus.len(), pages: pages * cpus.len() };
                    return Err(Error::Refused(refusal::explain_ring(errno, attempt, &limits).to_string()));
                }
                ring_bytes = (ring_bytes / 2).max(page_size());
            }
            Err(OpenFailure::Event(index, errno)) => {
                remarks.extend(step_down(&mut specs, index, errno, request, &limits)?);
            }
        }
    };
    let mut prepared = Prepared {
        sampler,
        waiting,
        descriptions: specs.iter().map(|spec| describe(spec, request)).collect(),
        recording: recording(request, &cpus, remarks),
        kernel_limit: usize::from(limits.max_stack),
        busy: Busy::of(&request.target, is_whole(request, &specs)),
    };
    if let Target::Processes(_) = request.target {
        follow_new_threads(request, &observed, &specs, &limits, &mut prepared.sampler)?;
    }
    Ok(prepared)
}

fn plan(
    request: &Request,
    limits: &Limits,
    specs: &[EventSpec],
    cpus: &[Cpu],
    observed: &Observed,
    ring_bytes: u64,
) -> Plan {
    let on_exec = request.target == Target::Command;
    let (user_chain, stack_bytes) = match request.call_graph {
        CallGraph::Auto { stack_bytes } => (true, stack_bytes),
        CallGraph::Dwarf { stack_bytes } => (false, stack_bytes),
        CallGraph::FramePointer => (true, 0),
        CallGraph::None => (false, 0),
    };
    let events = specs
        .iter()
        .map(|spec| {
            let sample = SampleRequest {
                sampling: sampling(spec, request.rate),
                kernel_chain: request.call_graph != CallGraph::None && spec.includes_kernel(),
                user_chain,
                stack_bytes,
                max_chain: limits.max_stack,
                watermark: u32::try_from(ring_bytes / 4).unwrap_or(u32::MAX),
                inherit: request.inherit && request.target != Target::System,
                enable_on_exec: on_exec && request.delay.is_zero(),
            };
            sampling_attr(spec, &sample)
        })
        .collect();
    Plan {
        events,
        observed: observed.clone(),
        cpus: cpus.to_vec(),
        inherit: request.inherit && request.target != Target::System,
        start: if on_exec { Start::OnExec } else { Start::WhenTold },
        rate_limit: limits.max_sample_rate,
        sample_pages: (ring_bytes / page_size()) as usize,
        side_band_pages: (ring_size::side_band_ring(ring_bytes) / page_size()) as usize,
    }
}

pub(crate) fn sampling(spec: &EventSpec, rate: Option<Rate>) -> Sampling {
    let asked = rate.map(|rate| match rate {
        Rate::Hertz(hz) => Sampling::Frequency(hz),
        Rate::Period(period) => Sampling::Period(period),
    });
    let sampling = spec.sampling(asked, Sampling::Frequency(DEFAULT_HZ));
    match sampling {
        Sampling::Period(ns) if is_clock(spec) => Sampling::Period(ns.max(SHORTEST_CLOCK_NS)),
        Sampling::Frequency(hz) if is_clock(spec) => Sampling::Frequency(hz.min(1_000_000_000 / SHORTEST_CLOCK_NS)),
        sampling => sampling,
    }
}

/// The kernel's clocks fire no more often than this, but would give samples the shorter period
/// that they were asked for (perf_swevent_hrtimer in kernel/events/core.c).
const SHORTEST_CLOCK_NS: u64 = 10_000;

fn is_clock(spec: &EventSpec) -> bool {
    spec.kind == EventKind::Software && spec.unit == Unit::Nanoseconds
}

fn keep_to_clock_limit(spec: &EventSpec, rate: Option<Rate>) -> Option<String> {
    let too_fast = match rate? {
        Rate::Hertz(hz) => hz > 1_000_000_000 / SHORTEST_CLOCK_NS,
        Rate::Period(ns) => ns < SHORTEST_CLOCK_NS,
    };
    (too_fast && is_clock(spec))
        .then(|| format!("`{}` fires every {SHORTEST_CLOCK_NS} ns at the most: sampling at that pace", spec.name))
}

fn describe(spec: &EventSpec, request: &Request) -> EventDescription {
    EventDescription { name: spec.name.clone(), unit: spec.unit, sampling: sampling(spec, request.rate) }
}

fn wanted_events(request: &Request) -> Result<Vec<EventSpec>, Error> {
    let names = if request.events.is_empty() { "cycles".to_owned() } else { request.events.join(",") };
    let specs = events::parse(&names, &Roots::live()).map_err(|error| Error::Usage(error.to_string()))?;
    match specs.iter().enumerate().find(|(index, spec)| specs[..*index].iter().any(|other| other.name == spec.name)) {
        Some((_, twice)) => Err(Error::Usage(format!("sample `{}`: it is given twice", twice.name))),
        None => Ok(specs),
    }
}

/// Counters of a whole package know no threads.
fn check_placement(specs: &[EventSpec], target: &Target) -> Result<(), Error> {
    let of_package = specs.iter().find(|spec| matches!(spec.placement, Placement::Packages(_)));
    match of_package {
        Some(spec) if *target != Target::System => Err(Error::Usage(format!(
            "sample `{}`: it counts for a whole processor package, so it needs `-a`",
            spec.name
        ))),
        _ => Ok(()),
    }
}

fn wanted_cpus(request: &Request, limits: &Limits) -> Result<Vec<Cpu>, Error> {
    match &request.cpus {
        None => Ok(limits.online_cpus.clone()),
        Some(list) => limits.wanted_cpus(list).map_err(|error| Error::Usage(format!("`-C {list}`: {error}"))),
    }
}

/// Copied stacks need rings that hold some of them; frame pointers come with less.
fn follow_frame_pointers(request: &mut Request, limits: &Limits) -> Option<String> {
    if !matches!(request.call_graph, CallGraph::Auto { .. }) {
        return None;
    }
    request.call_graph = CallGraph::FramePointer;
    Some(format!(
        "stacks are followed by frame pointers only: what this user may lock for rings holds no copied ones; more \
         with `sudo sysctl kernel.perf_event_mlock_kb={}`",
        limits.mlock_kb.unwrap_or(516).max(516) * 8
    ))
}

/// The kernel refuses rates above its limit; a lower one is better than none.
fn keep_to_rate_limit(request: &mut Request, limits: &Limits) -> Option<String> {
    let wanted = match request.rate {
        Some(Rate::Hertz(hz)) => hz,
        None => DEFAULT_HZ,
        Some(Rate::Period(_)) => return None,
    };
    let limit = limits.max_sample_rate.filter(|limit| *limit > 0)?;
    (wanted > limit).then(|| {
        request.rate = Some(Rate::Hertz(limit));
        format!(
            "sampling at {limit} Hz instead of {wanted}: the kernel's limit is kernel.perf_event_max_sample_rate; \
             raise it with `sysctl kernel.perf_event_max_sample_rate={wanted}`"
        )
    })
}

fn fork(command: &[std::ffi::OsString]) -> Result<Waiting, Error> {
    let (name, arguments) = command.split_first().ok_or_else(|| Error::Usage("no command is given".into()))?;
    let mut process = Command::new(name);
    process.args(arguments);
    Waiting::fork(process).map_err(|error| Error::Io("start the command", error))
}

fn observed(request: &Request, waiting: Option<&Waiting>) -> Result<Observed, Error> {
    Ok(match &request.target {
        Target::System => Observed::System,
        Target::Threads(tids) => {
            if let Some(missing) = tids.iter().find(|tid| proc_scan::process_of(**tid).is_none()) {
                return Err(Error::NoThread(*missing));
            }
            Observed::Threads(tids.clone())
        }
        Target::Processes(pids) => {
            let mut threads = Vec::new();
            for &pid in pids {
                threads.extend(proc_scan::threads_of(pid).map_err(|_| Error::NoProcess(pid))?);
            }
            Observed::Threads(threads)
        }
        Target::Command => {
            let pid = waiting.map(Waiting::pid).ok_or_else(|| Error::Usage("no command is given".into()))?;
            Observed::Threads(vec![Tid(pid.0)])
        }
    })
}

/// Threads that were started while the counters of the others were being opened are not
/// inherited by anyone: look until no new one is found.
fn follow_new_threads(
    request: &Request,
    observed: &Observed,
    specs: &[EventSpec],
    limits: &Limits,
    sampler: &mut Sampler,
) -> Result<(), Error> {
    let (Target::Processes(pids), Observed::Threads(known)) = (&request.target, observed) else { return Ok(()) };
    let mut known = known.clone();
    loop {
        let now: Vec<Tid> = pids.iter().flat_map(|&pid| proc_scan::threads_of(pid).unwrap_or_default()).collect();
        // What was started by a thread that is observed already is observed with it.
        known.extend(if request.inherit { sampler.inheritors() } else { Vec::new() });
        let new: Vec<Tid> = now.into_iter().filter(|tid| !known.contains(tid)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for tid in new {
            known.push(tid);
            sampler.add_thread(tid).map_err(|failure| match failure {
                OpenFailure::Event(index, errno) => {
                    let attempt = attempt(request, &specs[index]);
                    Error::Refused(refusal::explain(errno, &attempt, limits).to_string())
                }
                OpenFailure::Ring { errno, .. } => Error::Io("join a thread's events to the rings", errno.into()),
                OpenFailure::NoThread => Error::TargetGone,
            })?;
        }
    }
}

/// Whether the accounts of CPU time hold what is sampled and nothing else.
fn is_whole(request: &Request, specs: &[EventSpec]) -> bool {
    request.cpus.is_none()
        && request.inherit
        && request.delay.is_zero()
        && specs.iter().all(|spec| spec.modifiers == Modifiers::default() && (is_clock(spec) || spec.is_cycles()))
}

fn recording(request: &Request, cpus: &[Cpu], remarks: Vec<String>) -> Recording {
    let system = rustix::system::uname();
    let since_start = std::time::Duration::from_nanos(perf::now().as_ns());
    Recording {
        target: describe_target(request),
        host: Some(system.nodename().to_string_lossy().into_owned()),
        kernel: Some(system.release().to_string_lossy().into_owned()),
        cpus: Some(cpus.len() as u32),
        wall_offset: SystemTime::now().checked_sub(since_start),
        duration: None,
        call_graph: Some(request.call_graph),
        remarks,
    }
}

fn describe_target(request: &Request) -> String {
    let list = |numbers: Vec<String>| numbers.join(",");
    let command = request
        .command
        .as_ref()
        .map(|command| command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "));
    match (&request.target, command) {
        (Target::Command, Some(command)) => command,
        (Target::Command, None) => String::new(),
        (Target::Processes(pids), _) => format!("pid {}", list(pids.iter().map(ToString::to_string).collect())),
        (Target::Threads(tids), _) => format!("tid {}", list(tids.iter().map(ToString::to_string).collect())),
        (Target::System, None) => "the whole system".into(),
        (Target::System, Some(command)) => format!("the whole system during: {command}"),
    }
}

/// Every thread takes a descriptor for each CPU and event.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Where this fails, opening says what is missing.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_fire_no_faster_than_they_can() {
        let clock = events::parse("cpu-clock", &Roots::live()).unwrap().remove(0);
        assert_eq!(sampling(&clock, Some(Rate::Period(100))), Sampling::Period(10_000));
        assert_eq!(sampling(&clock, Some(Rate::Hertz(1_000_000))), Sampling::Frequency(100_000));
        assert_eq!(sampling(&clock, None), Sampling::Frequency(DEFAULT_HZ));
        assert!(keep_to_clock_limit(&clock, Some(Rate::Period(100))).is_some());
        let faults = events::parse("page-faults", &Roots::live()).unwrap().remove(0);
        assert_eq!(sampling(&faults, Some(Rate::Period(1))), Sampling::Period(1));
        assert!(keep_to_clock_limit(&faults, Some(Rate::Period(1))).is_none());
    }
}
