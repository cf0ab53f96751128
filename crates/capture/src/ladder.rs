//! The way down where the machine refuses an event: without a hardware counter to the kernel's
//! clock, without rights on the kernel to user space. Each step is a remark to the user.

use crate::error::Error;
use crate::found::Found;
use crate::request::Request;
use crate::sampling::sampling;
use perf::events::{EventKind, EventSpec};
use perf::limits::Limits;
use perf::refusal::{self, Fallback};
use perf::{EventRefused, TracepointFields};

/// A step that was taken.
pub(crate) struct Step {
    /// What the user must know of it, if anything.
    pub remark: Option<String>,
}

/// Changes an event that was refused into the next best; `None` where nothing less would do.
pub(crate) fn step_down(
    specs: &mut [EventSpec],
    refused: EventRefused,
    found: &Found,
    request: &mut Request,
    limits: &Limits,
) -> Option<Step> {
    let index = refused.index;
    let event = specs[index].clone();
    let carries_fields = event.kind == EventKind::Tracepoint && request.tracepoint_fields == TracepointFields::Carried;
    if carries_fields && refusal::forbids_tracepoint_fields(refused.errno, limits) {
        request.tracepoint_fields = TracepointFields::LeftOut;
        let why = refusal::why_no_tracepoint_fields(limits);
        return Some(Step {
            remark: Some(format!("fields of tracepoints, which perf wants, are not recorded: {why}")),
        });
    }
    let attempt = attempt(refused, &event, found, request);
    let remark = match refusal::fallback(refused.errno, &attempt, limits) {
        Some(Fallback::SoftwareClock) if event.is_cycles() => {
            specs[index] = event.as_cpu_clock();
            Some(format!(
                "no hardware counter for `{}` here (a virtual machine, or no PMU): sampling by `{}`, the kernel's timer",
                event.name, specs[index].name
            ))
        }
        Some(Fallback::UserOnly) if event.includes_kernel() => {
            specs.iter_mut().for_each(EventSpec::exclude_kernel);
            Some(format!("the kernel's side is not recorded: {}", refusal::why_no_kernel(limits)))
        }
        Some(Fallback::LowerPrecision) if specs[index].lower_precision() => None,
        _ => return None,
    };
    Some(Step { remark })
}

/// The error for a refusal with which nothing can be done.
pub(crate) fn refused(
    refused: EventRefused,
    specs: &[EventSpec],
    found: &Found,
    request: &Request,
    limits: &Limits,
) -> Error {
    let attempt = attempt(refused, &specs[refused.index], found, request);
    Error::Refused(refusal::explain(refused.errno, &attempt, limits))
}

/// What was tried, for the explanation of a refusal.
fn attempt<'a>(refused: EventRefused, event: &'a EventSpec, found: &Found, request: &Request) -> refusal::Attempt<'a> {
    let target = found.for_refusal(refused.thread);
    refusal::Attempt { event, target, sampling: sampling(event, request.rate) }
}
