//! Events of the processor's caches: cache, operation and result in one word, such as
//! `L1-dcache-load-misses`. The numbers are those of `enum perf_hw_cache_id`, `…_op_id` and
//! `…_op_result_id` in `include/uapi/linux/perf_event.h`, the names those of perf.

/// A cache, under all its names, and which operations it knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cache {
    /// Its names; the first is the one that perf lists.
    pub names: &'static [&'static str],
    /// Which of [`OPERATIONS`] it has.
    pub operations: &'static [usize],
}

const LOAD: usize = 0;
const STORE: usize = 1;
const PREFETCH: usize = 2;

/// The caches; the position is the kernel's number.
pub const CACHES: &[Cache] = &[
    Cache { names: &["L1-dcache", "l1-d", "l1d", "L1-data"], operations: &[LOAD, STORE, PREFETCH] },
    Cache { names: &["L1-icache", "l1-i", "l1i", "L1-instruction"], operations: &[LOAD, PREFETCH] },
    Cache { names: &["LLC", "L2"], operations: &[LOAD, STORE, PREFETCH] },
    Cache { names: &["dTLB", "d-tlb", "Data-TLB"], operations: &[LOAD, STORE, PREFETCH] },
    Cache { names: &["iTLB", "i-tlb", "Instruction-TLB"], operations: &[LOAD] },
    Cache { names: &["branch", "branches", "bpu", "btb", "bpc"], operations: &[LOAD] },
    Cache { names: &["node"], operations: &[LOAD, STORE, PREFETCH] },
];

/// The operations; the position is the kernel's number. The first is meant where none is named.
pub const OPERATIONS: &[&[&str]] = &[
    &["load", "loads", "read"],
    &["store", "stores", "write"],
    &["prefetch", "prefetches", "speculative-read", "speculative-load"],
];

/// The results; the position is the kernel's number. The first is meant where none is named.
pub const RESULTS: &[&[&str]] = &[&["refs", "reference", "ops", "access"], &["misses", "miss"]];

/// The `config` of the cache event `text`. Upper and lower case count alike; operation and result
/// come in any order, each at most once.
pub(super) fn config(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (id, mut rest) =
        CACHES.iter().enumerate().find_map(|(id, cache)| Some((id, after_any(&text, cache.names)?)))?;
    let (mut operation, mut result) = (None, None);
    while !rest.is_empty() {
        let (slot, value, left) = match (word(OPERATIONS, rest), word(RESULTS, rest)) {
            (Some((value, left)), _) => (&mut operation, value, left),
            (None, Some((value, left))) => (&mut result, value, left),
            (None, None) => return None,
        };
        if slot.replace(value).is_some() {
            return None;
        }
        rest = left;
    }
    let operation = operation.unwrap_or(LOAD);
    let config = id | operation << 8 | result.unwrap_or(0) << 16;
    CACHES[id].operations.contains(&operation).then_some(config as u64)
}

/// All events as perf lists them.
pub(super) fn listed() -> impl Iterator<Item = String> {
    CACHES.iter().flat_map(|cache| {
        cache.operations.iter().flat_map(|&operation| {
            let (cache, names) = (cache.names[0], OPERATIONS[operation]);
            [format!("{cache}-{}", names[1]), format!("{cache}-{}-{}", names[0], RESULTS[1][0])]
        })
    })
}

/// Which row of `table` the first word of `text` belongs to, and what follows it.
fn word<'a>(table: &[&[&str]], text: &'a str) -> Option<(usize, &'a str)> {
    table.iter().enumerate().find_map(|(index, names)| Some((index, after_any(text, names)?)))
}

/// What follows one of `names` in the lower-case `text`, without the hyphen between.
fn after_any<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        let rest = text.strip_prefix(name.to_ascii_lowercase().as_str())?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('-').filter(|rest| !rest.is_empty()) }
    })
}
