//! How large the rings are, and how much of each stack is copied into them: by the rate, the
//! number of CPUs, and what the user may lock.

use crate::request::{AUTO_STACK_BYTES, DEFAULT_HZ, DWARF_STACK_BYTES, Rate, Request};
use model::CallGraph;
use perf::limits::Limits;

/// Side-band records are few: a page holds about forty.
const SIDE_BAND_BYTES: usize = 128 << 10;
/// How long a ring is to last while the reader does not come round.
const RING_SECONDS: f64 = 0.25;
/// A sample without a copied stack takes about this much: thirty frames.
const CHAIN_SAMPLE_BYTES: f64 = 320.0;
const SMALLEST_RING: u64 = 256 << 10;
const LARGEST_RING: u64 = 32 << 20;
/// A ring for fewer samples than this would lose most of them.
const FEWEST_SAMPLES: f64 = 8.0;
/// What all sample rings together take at most.
const ALL_RINGS: u64 = 256 << 20;
/// What `auto` copies at most, bytes a second and CPU: 32 KiB a thousand times.
const AUTO_BYTES_PER_SECOND: f64 = 40e6;
/// For `auto` to copy so much, rings must last so long.
const AUTO_RING_SECONDS: f64 = 0.1;

/// The bytes of each CPU's sample ring: what the user chose, or what the rate asks for and the
/// user may lock. A power of two of whole pages.
pub(crate) fn sample_ring(request: &Request, limits: &Limits, cpus: usize) -> u64 {
    let bytes = request.ring_bytes.unwrap_or_else(|| default_ring_bytes(request).min(within_budget(limits, cpus)));
    prev_power_of_two(bytes.max(page_size()))
}

/// Whether a ring of this size holds a few samples, so that it is worth having.
pub(crate) fn is_useful(request: &Request, ring_bytes: u64) -> bool {
    ring_bytes as f64 >= FEWEST_SAMPLES * bytes_per_sample(request)
}

/// The bytes of the side-band ring beside a sample ring: less where there is little room at all.
pub(crate) fn side_band_ring(sample_ring: u64) -> u64 {
    prev_power_of_two((sample_ring / 2).clamp(2 * page_size(), SIDE_BAND_BYTES as u64))
}

/// Lets `auto` copy less where the larger copy would be too much for the CPUs or the rings.
pub(crate) fn fit_stack_bytes(request: &mut Request, limits: &Limits, cpus: usize) {
    if request.call_graph != (CallGraph::Auto { stack_bytes: AUTO_STACK_BYTES }) {
        return;
    }
    let flow = bytes_per_second(request);
    let room = request.ring_bytes.unwrap_or_else(|| within_budget(limits, cpus));
    if flow > AUTO_BYTES_PER_SECOND || flow * AUTO_RING_SECONDS > room as f64 {
        request.call_graph = CallGraph::Auto { stack_bytes: DWARF_STACK_BYTES };
    }
}

fn bytes_per_sample(request: &Request) -> f64 {
    let stack_bytes = match request.call_graph {
        CallGraph::Auto { stack_bytes } | CallGraph::Dwarf { stack_bytes } => f64::from(stack_bytes),
        CallGraph::FramePointer | CallGraph::None => 0.0,
    };
    CHAIN_SAMPLE_BYTES + stack_bytes
}

/// What a busy CPU's samples come to, as far as the rate is known.
fn bytes_per_second(request: &Request) -> f64 {
    let hz = match request.rate {
        Some(Rate::Hertz(hz)) => hz,
        // How often a period fires is not known; count on a busy event.
        Some(Rate::Period(_)) => 10_000,
        None => DEFAULT_HZ,
    };
    hz as f64 * bytes_per_sample(request)
}

fn default_ring_bytes(request: &Request) -> u64 {
    let bytes = (bytes_per_second(request) * RING_SECONDS) as u64;
    bytes.next_power_of_two().clamp(SMALLEST_RING, LARGEST_RING)
}

/// The largest sample ring that leaves room for the side-band ring of each CPU.
fn within_budget(limits: &Limits, cpus: usize) -> u64 {
    let side_band = SIDE_BAND_BYTES as u64 / page_size() + 1;
    let both = limits.ring_budget_pages().map(|pages| (pages / cpus.max(1) as u64).saturating_sub(side_band + 1));
    let share = prev_power_of_two(ALL_RINGS / cpus.max(1) as u64);
    both.map_or(LARGEST_RING, |pages| prev_power_of_two(pages) * page_size()).min(share)
}

pub(crate) fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

fn prev_power_of_two(value: u64) -> u64 {
    1 << value.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{OwnSamples, Target};
    use model::Cpu;
    use perf::TracepointFields;

    fn request(rate: Option<Rate>, stack_bytes: u16) -> Request {
        Request {
            target: Target::System,
            command: None,
            cpus: None,
            inherit: true,
            own_samples: OwnSamples::Keep,
            events: Vec::new(),
            tracepoint_fields: TracepointFields::LeftOut,
            rate,
            call_graph: CallGraph::Auto { stack_bytes },
            duration: None,
            delay: std::time::Duration::ZERO,
            ring_bytes: None,
        }
    }

    /// A machine on which rings may take so many KiB a CPU, and nothing more.
    fn limits(mlock_kb: u64, cpus: u32) -> Limits {
        let mut limits = Limits::read();
        limits.capabilities = 0;
        limits.paranoid = Some(2);
        limits.mlock_kb = Some(mlock_kb);
        limits.resources.locked_memory = Some(0);
        limits.online_cpus = (0..cpus).map(Cpu).collect();
        limits
    }

    fn copied(mut request: Request, limits: &Limits) -> u16 {
        fit_stack_bytes(&mut request, limits, limits.online_cpus.len());
        match request.call_graph {
            CallGraph::Auto { stack_bytes } => stack_bytes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn auto_copies_less_where_rate_or_rings_ask_for_it() {
        let roomy = limits(64 << 10, 4);
        assert_eq!(copied(request(None, AUTO_STACK_BYTES), &roomy), AUTO_STACK_BYTES);
        assert_eq!(copied(request(Some(Rate::Hertz(9970)), AUTO_STACK_BYTES), &roomy), DWARF_STACK_BYTES);
        assert_eq!(copied(request(None, AUTO_STACK_BYTES), &limits(516, 4)), DWARF_STACK_BYTES);
        // What somebody chose stays.
        assert_eq!(copied(request(Some(Rate::Hertz(9970)), 65_528), &limits(516, 4)), 65_528);
    }

    #[test]
    fn rings_keep_to_what_may_be_locked() {
        let limits = limits(516, 4);
        // 129 pages a CPU, less the side-band ring's 33 and two control pages: 64 pages.
        assert_eq!(within_budget(&limits, 4) / page_size(), 64);
        let mut privileged = limits.clone();
        privileged.paranoid = Some(-1);
        assert_eq!(within_budget(&privileged, 4), LARGEST_RING);
        assert!(within_budget(&privileged, 512) * 512 <= ALL_RINGS);
        assert_eq!(sample_ring(&request(None, DWARF_STACK_BYTES), &privileged, 4), 4 << 20);
        let chosen = Request { ring_bytes: Some(100_000), ..request(None, DWARF_STACK_BYTES) };
        assert_eq!(sample_ring(&chosen, &limits, 4), 64 << 10);
    }
}
