//! Blocked time as `perf record --off-cpu` writes it since Linux 6.15: one sample a wait, whose own
//! fields tell of whoever happened to run, and whose raw bytes tell of whoever waited (the kernel's
//! tools/perf/util/bpf_off_cpu.c). Until then perf wrote samples like others.

use crate::event_table::{RAW, RecordedEvent};
use model::{Body, Callchain, Event, Sample, TaskIds};
use records::ByteOrder;

/// The name by which perf knows the event.
pub(crate) const NAME: &str = "offcpu-time";

/// Whether samples of this event tell of a wait in their raw bytes.
pub(crate) fn is_raw(event: &RecordedEvent) -> bool {
    const SOFTWARE: u32 = 1;
    const BPF_OUTPUT: u64 = 10;
    let attribute = &event.attribute;
    (attribute.kind, attribute.config) == (SOFTWARE, BPF_OUTPUT)
        && attribute.sample_type & RAW != 0
        && event.description.name.starts_with(NAME)
}

/// The sample that raw bytes tell of: process and thread, the wait in nanoseconds, the callchain, and
/// a cgroup, which is not read. `chain` is room for the callchain, whose words are not aligned.
pub(crate) fn sample<'a>(
    order: ByteOrder,
    event: &Event<'_>,
    outer: &Sample<'_>,
    chain: &'a mut Vec<u64>,
) -> Option<Event<'a>> {
    let raw = outer.raw;
    let task = TaskIds::new(order.u32_at(raw, 0)?, order.u32_at(raw, 4)?);
    let (period, frames) = (order.u64_at(raw, 8)?, order.u64_at(raw, 16)?);
    let bytes = usize::try_from(frames).ok()?.checked_mul(8)?;
    let frames = raw.get(24..)?.get(..bytes)?;
    chain.clear();
    chain.extend(frames.chunks_exact(8).filter_map(|word| order.u64_at(word, 0)));
    let sample = Sample {
        event: outer.event,
        period,
        count: 1,
        callchain: Callchain::new(chain),
        user: None,
        branches: Default::default(),
        data_address: None,
        raw: &[],
        stack_end: None,
    };
    Some(Event { time: event.time, cpu: event.cpu, task, body: Body::Sample(sample) })
}
