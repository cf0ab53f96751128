//! The attribute of a sampled event: what perf_event_open(2) is told.

use crate::events::{EventSpec, Placement};
use crate::sampler::{ID_FIELDS, SampledEvent};
use model::Sampling;
use perf_event_open_sys::bindings as sys;
use records::registers;

/// What each sample is to carry, and how events are to be counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleRequest {
    /// How often the event is to fire.
    pub sampling: Sampling,
    /// The kernel's part of the callchain.
    pub kernel_chain: bool,
    /// The user's part of the callchain, by frame pointers.
    pub user_chain: bool,
    /// Bytes of user stack to copy, with the registers to unwind them from; 0 for none.
    pub stack_bytes: u16,
    /// The most words of a callchain; 0 for the kernel's own limit.
    pub max_chain: u16,
    /// How many bytes of its ring may fill before the reader is woken.
    pub watermark: u32,
    /// Whether what the observed ones start is observed too.
    pub inherit: bool,
    /// Whether the event starts with the exec of the observed thread.
    pub enable_on_exec: bool,
    /// What becomes of the fields of tracepoints.
    pub tracepoint_fields: TracepointFields,
}

/// What becomes of a tracepoint's fields, such as the next thread of `sched:sched_switch`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TracepointFields {
    /// Samples carry them: a recording is written, which perf opens only with them. The kernel gives
    /// them to fewer users than the samples (perf_trace_event_perm() in
    /// kernel/trace/trace_event_perf.c).
    Carried,
    /// Nobody looks at them.
    LeftOut,
}

/// The event `spec` with samples as `request` says, disabled until told or until an exec.
pub fn sampling_attr(spec: &EventSpec, request: &SampleRequest) -> SampledEvent {
    let mut attr = spec.attr();
    attr.sample_type = ID_FIELDS | u64::from(sys::PERF_SAMPLE_IP);
    if states_period(&attr, request.sampling) {
        attr.sample_type |= u64::from(sys::PERF_SAMPLE_PERIOD);
    }
    if attr.type_ == sys::PERF_TYPE_TRACEPOINT && request.tracepoint_fields == TracepointFields::Carried {
        attr.sample_type |= u64::from(sys::PERF_SAMPLE_RAW);
    }
    attr.set_disabled(1);
    attr.set_sample_id_all(1);
    attr.set_inherit(request.inherit.into());
    attr.set_enable_on_exec(request.enable_on_exec.into());
    attr.set_use_clockid(1);
    attr.clockid = libc::CLOCK_MONOTONIC;
    attr.set_watermark(1);
    attr.__bindgen_anon_2.wakeup_watermark = request.watermark;
    match request.sampling {
        Sampling::Frequency(hz) => {
            attr.set_freq(1);
            attr.__bindgen_anon_1.sample_freq = hz;
        }
        Sampling::Period(period) => attr.__bindgen_anon_1.sample_period = period,
        Sampling::Unknown => attr.__bindgen_anon_1.sample_period = 1,
    }
    if request.kernel_chain || request.user_chain {
        attr.sample_type |= u64::from(sys::PERF_SAMPLE_CALLCHAIN);
        attr.sample_max_stack = request.max_chain;
        attr.set_exclude_callchain_kernel((!request.kernel_chain).into());
        attr.set_exclude_callchain_user((!request.user_chain).into());
    }
    if let (1.., Some(registers)) = (request.stack_bytes, registers::NATIVE) {
        attr.sample_type |= u64::from(sys::PERF_SAMPLE_REGS_USER | sys::PERF_SAMPLE_STACK_USER);
        attr.sample_regs_user = registers.mask();
        attr.sample_stack_user = request.stack_bytes.into();
    }
    let cpus = match &spec.placement {
        Placement::Anywhere => None,
        Placement::Cores(cpus) | Placement::Packages(cpus) => Some(cpus.clone()),
    };
    SampledEvent { attr, sampling: request.sampling, cpus }
}

/// Whether samples are to state their period. Where they are, the kernel gives a sample each time
/// a software event, tracepoint or breakpoint fires, whatever the period
/// (perf_swevent_event in kernel/events/core.c); without it, each sample stands for the period.
pub(crate) fn states_period(attr: &sys::perf_event_attr, sampling: Sampling) -> bool {
    let counts_each = match attr.type_ {
        sys::PERF_TYPE_SOFTWARE => !is_clock(attr),
        sys::PERF_TYPE_TRACEPOINT | sys::PERF_TYPE_BREAKPOINT => true,
        _ => false,
    };
    !(counts_each && matches!(sampling, Sampling::Period(2..)))
}

/// Whether the event is one of the kernel's timers.
pub(crate) fn is_clock(attr: &sys::perf_event_attr) -> bool {
    attr.type_ == sys::PERF_TYPE_SOFTWARE && attr.config <= u64::from(sys::PERF_COUNT_SW_TASK_CLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_would_be_sampled_each_time_do_not_state_their_period() {
        let attr = |type_, config| sys::perf_event_attr { type_, config, ..Default::default() };
        let faults = attr(sys::PERF_TYPE_SOFTWARE, u64::from(sys::PERF_COUNT_SW_PAGE_FAULTS));
        assert!(!states_period(&faults, Sampling::Period(100)));
        assert!(states_period(&faults, Sampling::Period(1)));
        assert!(states_period(&faults, Sampling::Frequency(100)));
        assert!(!states_period(&attr(sys::PERF_TYPE_TRACEPOINT, 7), Sampling::Period(2)));
        assert!(states_period(&attr(sys::PERF_TYPE_SOFTWARE, 0), Sampling::Period(100_000)));
        assert!(states_period(&attr(sys::PERF_TYPE_HARDWARE, 0), Sampling::Period(100_000)));
    }
}
