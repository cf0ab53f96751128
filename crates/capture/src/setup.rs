//! From a request to open counters: which events, whose, on which CPUs, how often. Where the
//! machine refuses the first choice, `ladder` says what is tried next.

use crate::busy::Busy;
use crate::description;
use crate::error::Error;
use crate::follow::follow_new_threads;
use crate::found::{self, Found};
use crate::ladder::{refused, step_down};
use crate::remarks;
use crate::request::{Request, Target};
use crate::ring_size::{self, page_size};
use crate::sampling::{describe, is_clock, keep_to_clock_limit, keep_to_rate_limit, sampling};
use model::{CallGraph, Cpu, EventDescription, Recording};
use perf::events::{self, EventSpec, Modifiers, Placement, Roots, TracepointFiles};
use perf::limits::Limits;
use perf::refusal::{self, RingAttempt};
use perf::{Observed, OpenFailure, Plan, SampleRequest, Sampler, Start, TracepointFields, Waiting, sampling_attr};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::Command;

/// Open counters, and what is known of the run.
pub struct Prepared {
    /// The counters.
    pub sampler: Sampler,
    /// The command, waiting for its exec.
    pub waiting: Option<Waiting>,
    /// Whose work is sampled.
    pub found: Found,
    /// The sampled events.
    pub descriptions: Vec<EventDescription>,
    /// What is known of the run.
    pub recording: Recording,
    /// What tells of tracepoints' fields, where samples carry them.
    pub tracepoint_files: Option<TracepointFiles>,
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
    let specs = wanted_events(request)?;
    check_placement(&specs, &request.target)?;
    // Before the fork, so that the command, which is us still, is not found with the others.
    let found = found::find(&request.target, &mut remarks)?;

    let waiting = request.command.as_ref().map(|command| fork(command)).transpose()?;
    // After the fork, so that the command keeps the limit that it was given.
    raise_file_limit();
    remarks.extend(specs.iter().filter_map(|spec| keep_to_clock_limit(spec, request.rate)));
    let mut opening = Opening { request, limits: &limits, cpus: &cpus, specs, found, remarks };
    let sampler = opening.open(waiting.as_ref())?;
    let Opening { request, specs, found, mut remarks, .. } = opening;
    let tracepoint_files = match request.tracepoint_fields {
        TracepointFields::Carried => TracepointFiles::read(&Roots::live(), &specs).unwrap_or_else(|error| {
            remarks.push(format!("perf will not open the recording, which cannot say what fields there are: {error}"));
            None
        }),
        TracepointFields::LeftOut => None,
    };
    Ok(Prepared {
        sampler,
        waiting,
        descriptions: specs.iter().map(|spec| describe(spec, request)).collect(),
        recording: description::recording(request, &cpus, remarks),
        tracepoint_files,
        kernel_limit: usize::from(limits.max_stack),
        busy: Busy::of(&found, is_whole(request, &specs)),
        found,
    })
}

/// What is being opened, less of it with each refusal.
struct Opening<'a> {
    request: &'a mut Request,
    limits: &'a Limits,
    cpus: &'a [Cpu],
    specs: Vec<EventSpec>,
    found: Found,
    remarks: Vec<String>,
}

impl Opening<'_> {
    fn open(&mut self, waiting: Option<&Waiting>) -> Result<Sampler, Error> {
        let mut ring_bytes = ring_size::sample_ring(self.request, self.limits, self.cpus.len());
        let mut left_out = 0;
        loop {
            if self.request.ring_bytes.is_none() && !ring_size::is_useful(self.request, ring_bytes) {
                self.remarks.extend(follow_frame_pointers(self.request, self.limits));
            }
            let observed = self.found.observed(waiting)?;
            let opened = Sampler::open(self.plan(observed.clone(), ring_bytes)).and_then(|mut sampler| {
                if let (Observed::Threads(known), pids @ [_, ..]) = (observed, self.found.processes()) {
                    follow_new_threads(pids, known, self.request.inherit, &mut sampler)?;
                }
                Ok(sampler)
            });
            match opened {
                Ok(sampler) => {
                    self.remarks.extend(remarks::left_out(left_out));
                    return Ok(sampler);
                }
                Err(OpenFailure::NoThread) => return Err(Error::TargetGone),
                Err(OpenFailure::Ring { pages, errno }) => {
                    if self.request.ring_bytes.is_some() || ring_bytes <= page_size() {
                        let attempt = RingAttempt { rings: 2 * self.cpus.len(), pages: pages * self.cpus.len() };
                        return Err(Error::Refused(refusal::explain_ring(errno, attempt, self.limits)));
                    }
                    ring_bytes = (ring_bytes / 2).max(page_size());
                }
                Err(OpenFailure::Event(failed)) => {
                    match step_down(&mut self.specs, failed, &self.found, self.request, self.limits) {
                        Some(step) => self.remarks.extend(step.remark),
                        None if self.found.leave_out(failed.thread, failed.errno) => left_out += 1,
                        None => return Err(refused(failed, &self.specs, &self.found, self.request, self.limits)),
                    }
                }
            }
        }
    }

    fn plan(&self, observed: Observed, ring_bytes: u64) -> Plan {
        let request = &*self.request;
        let on_exec = request.target == Target::Command;
        // Whoever is started on a CPU is observed there anyway.
        let inherit = request.inherit && !self.found.is_of_cpus();
        let (user_chain, stack_bytes) = match request.call_graph {
            CallGraph::Auto { stack_bytes } => (true, stack_bytes),
            CallGraph::Dwarf { stack_bytes } => (false, stack_bytes),
            CallGraph::FramePointer => (true, 0),
            CallGraph::None => (false, 0),
        };
        let attr = |spec: &EventSpec| {
            let sample = SampleRequest {
                sampling: sampling(spec, request.rate),
                kernel_chain: request.call_graph != CallGraph::None && spec.includes_kernel(),
                user_chain,
                stack_bytes,
                max_chain: self.limits.max_stack,
                watermark: u32::try_from(ring_bytes / 4).unwrap_or(u32::MAX),
                inherit,
                enable_on_exec: on_exec && request.delay.is_zero(),
                tracepoint_fields: request.tracepoint_fields,
            };
            sampling_attr(spec, &sample)
        };
        Plan {
            events: self.specs.iter().map(attr).collect(),
            observed,
            cpus: self.cpus.to_vec(),
            inherit,
            start: if on_exec { Start::OnExec } else { Start::WhenTold },
            rate_limit: self.limits.max_sample_rate,
            sample_pages: (ring_bytes / page_size()) as usize,
            side_band_pages: (ring_size::side_band_ring(ring_bytes) / page_size()) as usize,
        }
    }
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

fn fork(command: &[std::ffi::OsString]) -> Result<Waiting, Error> {
    let (name, arguments) = command.split_first().ok_or_else(|| Error::Usage("no command is given".into()))?;
    let mut process = Command::new(name);
    process.args(arguments);
    Waiting::fork(process).map_err(|error| Error::Io("start the command", error))
}

/// Whether the accounts of CPU time hold what is sampled and nothing else.
fn is_whole(request: &Request, specs: &[EventSpec]) -> bool {
    request.cpus.is_none()
        && request.inherit
        && request.delay.is_zero()
        && specs.iter().all(|spec| spec.modifiers == Modifiers::default() && (is_clock(spec) || spec.is_cycles()))
}

/// Every thread takes a descriptor for each CPU and event.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Where this fails, opening says what is missing.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
