//! The way down where the machine refuses an event: without a hardware counter to the kernel's
//! clock, without rights on the kernel to user space. Each step is a remark to the user.

use crate::error::Error;
use crate::request::{Request, Target};
use crate::setup::sampling;
use perf::events::EventSpec;
use perf::limits::Limits;
use perf::refusal::{self, Fallback};
use rustix::io::Errno;

/// Changes an event that was refused into the next best, with a remark for the user; an error
/// where nothing less would do.
pub(crate) fn step_down(
    specs: &mut [EventSpec],
    index: usize,
    errno: Errno,
    request: &Request,
    limits: &Limits,
) -> Result<Option<String>, Error> {
    let refused = specs[index].clone();
    let attempt = attempt(request, &refused);
    match refusal::fallback(errno, &attempt, limits) {
        Some(Fallback::SoftwareClock) if refused.is_cycles() => {
            specs[index] = refused.as_cpu_clock();
            Ok(Some(format!(
                "no hardware counter for `{}` here (a virtual machine, or no PMU): sampling by `{}`, the kernel's timer",
                refused.name, specs[index].name
            )))
        }
        Some(Fallback::UserOnly) if refused.includes_kernel() => {
            specs.iter_mut().for_each(EventSpec::exclude_kernel);
            Ok(Some(format!("the kernel's side is not recorded: {}", refusal::why_no_kernel(limits))))
        }
        Some(Fallback::LowerPrecision) if specs[index].lower_precision() => Ok(None),
        _ => Err(Error::Refused(refusal::explain(errno, &attempt, limits).to_string())),
    }
}

/// What was tried, for the explanation of a refusal.
pub(crate) fn attempt<'a>(request: &Request, event: &'a EventSpec) -> refusal::Attempt<'a> {
    let target = match &request.target {
        Target::Command => refusal::Target::Command,
        Target::System => refusal::Target::System,
        // Which of several was refused is not known; the first stands for them.
        Target::Processes(pids) => refusal::Target::Process(pids.first().copied().unwrap_or_default()),
        Target::Threads(tids) => refusal::Target::Thread(tids.first().copied().unwrap_or_default()),
    };
    refusal::Attempt { event, target, sampling: sampling(event, request.rate) }
}
