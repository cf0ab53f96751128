//! What perf_event_open(2) and its mmap(2) mean when they fail: one sentence for the user, with
//! the command that helps, and whether something less may be tried.
//!
//! The errors and their causes are those of the manual page and of kernel/events/core.c. Nothing
//! is asked of the machine here; what it allows comes as [`Limits`].

mod permission;
mod rings;

pub use permission::{forbids_tracepoint_fields, why_no_kernel, why_no_tracepoint_fields};
pub use rings::{RingAttempt, explain_ring};

use crate::events::{EventKind, EventSpec, Placement, Precision};
use crate::limits::{Limits, Seccomp};
use model::{Pid, Sampling, Tid};
use rustix::io::Errno;
use std::fmt;

/// Whose work was to be sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A process that flamel starts.
    Command,
    /// A process that runs already.
    Process(Pid),
    /// A thread that runs already.
    Thread(Tid),
    /// All that runs on a CPU.
    System,
    /// What runs on a CPU and is in a cgroup.
    Cgroup,
}

impl Target {
    /// Whether CPUs are observed rather than processes, which needs more rights.
    fn is_of_cpus(self) -> bool {
        matches!(self, Self::System | Self::Cgroup)
    }
}

/// A call of perf_event_open(2) that failed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attempt<'a> {
    /// The event.
    pub event: &'a EventSpec,
    /// Whose work was to be sampled.
    pub target: Target,
    /// How often.
    pub sampling: Sampling,
}

/// Why the kernel refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// perf_event_paranoid, without a capability that overrides it.
    Paranoid,
    /// The process is not the user's.
    ForeignProcess,
    /// A kernel address, without the right to watch it.
    KernelAddress,
    /// A seccomp filter, as containers have.
    Seccomp,
    /// A security module such as SELinux.
    SecurityModule,
    /// The kernel has no perf events.
    NoPerfEvents,
    /// The machine has no such counter.
    NoCounter,
    /// The kernel has no such event.
    NoEvent,
    /// The CPU is switched off.
    CpuOffline,
    /// The counter cannot give samples, or not of this target.
    NotForTarget,
    /// Addresses cannot be as exact as asked for.
    Precision,
    /// The frequency is above the limit.
    Frequency,
    /// A breakpoint that the processor cannot set.
    Breakpoint,
    /// All breakpoints are taken.
    BreakpointsTaken,
    /// The attributes do not go together.
    Attributes,
    /// The kernel is older than the attributes.
    OldKernel,
    /// The process has too many files open.
    OpenFiles,
    /// The system has too many files open.
    SystemFiles,
    /// Somebody else has the counters.
    Busy,
    /// The thread does not exist any more.
    Gone,
    /// Callchains are longer than the kernel's limit.
    StackDepth,
    /// Memory is short.
    Memory,
    /// The rings exceed what the user may lock.
    LockedMemory,
    /// None of these.
    Other(Errno),
}

impl Cause {
    /// Whether the machine lacks something for the moment, so that the same request may succeed
    /// at another time; otherwise the request is at fault.
    pub fn is_passing(self) -> bool {
        matches!(
            self,
            Self::OpenFiles
                | Self::SystemFiles
                | Self::Busy
                | Self::BreakpointsTaken
                | Self::Gone
                | Self::Memory
                | Self::Other(_)
        )
    }
}

/// A refusal, explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Why.
    pub cause: Cause,
    /// The sentence for the user.
    pub sentence: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What may be tried instead of an event that was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// The kernel's clock: the machine has no such counter.
    SoftwareClock,
    /// User space alone: the kernel's side is forbidden.
    UserOnly,
    /// Addresses one level less exact.
    LowerPrecision,
}

/// Why the kernel refused, as a sentence.
pub fn explain(errno: Errno, attempt: &Attempt<'_>, limits: &Limits) -> Refusal {
    let event = &attempt.event.name;
    let (cause, why) = match errno {
        Errno::ACCESS | Errno::PERM => permission::explain(errno, attempt, limits),
        Errno::NOSYS => not_there(limits),
        // Where hardware is missing, the kernel's clock was tried before anybody asks why.
        Errno::NOENT if attempt.target == Target::Cgroup && attempt.event.kind == EventKind::Software => {
            (Cause::Gone, "it was removed meanwhile".into())
        }
        Errno::NOENT | Errno::NODEV | Errno::NXIO | Errno::OPNOTSUPP => no_such_counter(errno, attempt),
        Errno::INVAL => wrong_attributes(attempt, limits),
        Errno::MFILE => (Cause::OpenFiles, too_many_files(limits)),
        Errno::NFILE => (
            Cause::SystemFiles,
            "the whole system has too many files open: `sudo sysctl fs.file-max=N` with an N above that of `sysctl fs.file-nr`".into(),
        ),
        Errno::BUSY => (
            Cause::Busy,
            "somebody else has the counter, such as another profiler, or the kernel's watchdog: \
             `sudo sysctl kernel.nmi_watchdog=0` frees one"
                .into(),
        ),
        Errno::NOSPC => (
            Cause::BreakpointsTaken,
            "the processor's breakpoints are all taken (x86 has 4, debuggers use them too): give fewer `mem:` events".into(),
        ),
        Errno::TOOBIG => {
            (Cause::OldKernel, "this kernel is older than what the event asks for, and does not know it".into())
        }
        Errno::SRCH => (Cause::Gone, "it has ended".into()),
        Errno::BADF if attempt.target == Target::Cgroup => {
            let why = "its folder is not of the hierarchy that the controller perf_event belongs to";
            (Cause::NotForTarget, why.into())
        }
        Errno::OVERFLOW => (
            Cause::StackDepth,
            format!(
                "its callchains are longer than kernel.perf_event_max_stack, which is {}: \
                 `sudo sysctl kernel.perf_event_max_stack=N` with a larger N while nothing is being recorded",
                limits.max_stack
            ),
        ),
        Errno::NOMEM => (Cause::Memory, "the kernel has no memory left for it".into()),
        other => (Cause::Other(other), format!("{other}")),
    };
    Refusal { cause, sentence: format!("sample `{event}` of {}: {why}", whose(attempt.target)) }
}

/// What to try instead, if the refusal leaves hope.
pub fn fallback(errno: Errno, attempt: &Attempt<'_>, limits: &Limits) -> Option<Fallback> {
    let event = attempt.event;
    match errno {
        Errno::OPNOTSUPP | Errno::INVAL | Errno::NOENT | Errno::NODEV
            if matches!(event.modifiers.precision, Precision::AtMost(1..)) =>
        {
            Some(Fallback::LowerPrecision)
        }
        // The counter is there, and less exact than the user insists on.
        Errno::OPNOTSUPP if event.modifiers.precision.level() > 0 => None,
        Errno::OPNOTSUPP | Errno::NOENT | Errno::NODEV | Errno::NXIO if event.kind.needs_hardware() => {
            Some(Fallback::SoftwareClock)
        }
        Errno::ACCESS | Errno::PERM => {
            // What is forbidden without its kernel side too would only fail a second time.
            let user_side = event.includes_kernel() && event.modifiers.user;
            let helps = permission::forbids_kernel_only(attempt, limits);
            (user_side && helps).then_some(Fallback::UserOnly)
        }
        _ => None,
    }
}

fn whose(target: Target) -> String {
    match target {
        Target::Command => "the command".into(),
        Target::Process(pid) => format!("process {pid}"),
        Target::Thread(tid) => format!("thread {tid}"),
        Target::System => "the whole system".into(),
        Target::Cgroup => "the cgroup".into(),
    }
}

fn not_there(limits: &Limits) -> (Cause, String) {
    if limits.paranoid.is_some() || limits.seccomp == Seccomp::Filter {
        return (Cause::Seccomp, permission::seccomp(limits));
    }
    let why = "this kernel has no perf_event_open(2): it was built without CONFIG_PERF_EVENTS, or it is a substitute \
               for a kernel such as gVisor";
    (Cause::NoPerfEvents, why.into())
}

const NO_COUNTER: &str = "this machine shows no such counter (virtual machines often have none): use `-e cpu-clock`, \
                          the kernel's timer";

fn no_such_counter(errno: Errno, attempt: &Attempt<'_>) -> (Cause, String) {
    let event = attempt.event;
    match event.kind {
        _ if errno == Errno::OPNOTSUPP && event.modifiers.precision.level() > 0 => imprecise(event),
        EventKind::Hardware | EventKind::HardwareCache | EventKind::Raw => (Cause::NoCounter, NO_COUNTER.into()),
        EventKind::Pmu(_) if errno == Errno::OPNOTSUPP => not_for_target(attempt),
        EventKind::Pmu(_) => (
            Cause::NoCounter,
            "the pmu has no such event, or not on this CPU: compare its `events` folder in sysfs".into(),
        ),
        _ if errno == Errno::NODEV => {
            (Cause::CpuOffline, "a CPU that it was to be sampled on is not online any more".into())
        }
        EventKind::Breakpoint => {
            (Cause::Breakpoint, "this processor has no breakpoints that the kernel could set".into())
        }
        EventKind::Tracepoint => (Cause::NoEvent, "the tracepoint is gone, or cannot be sampled".into()),
        EventKind::Software => (Cause::NoEvent, "this kernel does not know the event: it is too old for it".into()),
    }
}

fn wrong_attributes(attempt: &Attempt<'_>, limits: &Limits) -> (Cause, String) {
    let event = attempt.event;
    if let (Sampling::Frequency(hz), Some(highest)) = (attempt.sampling, limits.max_sample_rate)
        && hz > highest
    {
        let why = format!(
            "{hz} Hz is above kernel.perf_event_max_sample_rate, which is {highest}: `-F {highest}`, or \
             `sudo sysctl kernel.perf_event_max_sample_rate={hz}`"
        );
        return (Cause::Frequency, why);
    }
    if permission::is_kernel_address(event) && !event.modifiers.kernel {
        let why = "it is an address of the kernel, which user space cannot touch: leave the modifiers out";
        return (Cause::Breakpoint, why.into());
    }
    if event.kind == EventKind::Breakpoint {
        let why = "the processor cannot set this breakpoint; x86 watches writes (`w`), reads and writes (`rw`) of 1, 2, \
                   4 or 8 bytes at a multiple of their number, or execution alone (`x`, without a length)";
        return (Cause::Breakpoint, why.into());
    }
    if event.modifiers.precision.level() > 0 {
        return imprecise(event);
    }
    if attempt.target == Target::Cgroup && event.kind == EventKind::Software {
        let why = "this kernel cannot count by cgroup: it was built without CONFIG_CGROUP_PERF";
        return (Cause::NotForTarget, why.into());
    }
    if matches!(event.kind, EventKind::Pmu(_)) {
        if !attempt.target.is_of_cpus() {
            return (Cause::NotForTarget, "the pmu counts for CPUs and not for processes: use `-a`".into());
        }
        return not_for_target(attempt);
    }
    let why = "the kernel does not take this combination of event, modifiers and call graph, of which an old kernel \
               may not know every part";
    (Cause::Attributes, why.into())
}

fn imprecise(event: &EventSpec) -> (Cause, String) {
    let level = event.modifiers.precision.level();
    let why = format!(
        "the processor cannot give addresses as exact as `{}` asks for: use fewer `p`, or `P` for what it can",
        "p".repeat(level.into())
    );
    (Cause::Precision, why)
}

fn not_for_target(attempt: &Attempt<'_>) -> (Cause, String) {
    let why = match &attempt.event.placement {
        Placement::Packages(_) => "the pmu only counts, for whole packages, and takes no samples",
        _ if !attempt.event.modifiers.is_default() => {
            "the pmu takes no samples, or cannot leave out what the modifiers leave out: try it without them"
        }
        _ => "the pmu only counts and takes no samples, or the terms do not go together",
    };
    (Cause::NotForTarget, why.into())
}

fn too_many_files(limits: &Limits) -> String {
    let now = limits.resources.open_files.map_or("unlimited".into(), |files| files.to_string());
    let most = match limits.resources.open_files_hard {
        Some(hard) if Some(hard) == limits.resources.open_files => {
            format!("`sudo prlimit --nofile={} --pid $$` raises it", hard.saturating_mul(16))
        }
        Some(hard) => format!("`ulimit -n {hard}` raises it"),
        None => "`ulimit -n 1048576` raises it".into(),
    };
    format!(
        "every thread and CPU takes an open file, and the process may have {now}: {most}, or observe fewer threads, or \
         fewer CPUs with `-C`"
    )
}

#[cfg(test)]
mod tests;
