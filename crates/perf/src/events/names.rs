//! The events that the kernel has a number for on every machine: `enum perf_hw_id` and
//! `enum perf_sw_ids` of `include/uapi/linux/perf_event.h`, under the names that perf gives them.

use perf_event_open_sys::bindings as sys;

/// One such event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Its number, the `config` of `struct perf_event_attr`.
    pub config: u32,
}

const fn name(name: &'static str, aliases: &'static [&'static str], config: u32) -> Name {
    Name { name, aliases, config }
}

/// Counters of the processor.
pub const HARDWARE: &[Name] = &[
    name("cycles", &["cpu-cycles"], sys::PERF_COUNT_HW_CPU_CYCLES),
    name("instructions", &[], sys::PERF_COUNT_HW_INSTRUCTIONS),
    name("cache-references", &[], sys::PERF_COUNT_HW_CACHE_REFERENCES),
    name("cache-misses", &[], sys::PERF_COUNT_HW_CACHE_MISSES),
    name("branches", &["branch-instructions"], sys::PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
    name("branch-misses", &[], sys::PERF_COUNT_HW_BRANCH_MISSES),
    name("bus-cycles", &[], sys::PERF_COUNT_HW_BUS_CYCLES),
    name("stalled-cycles-frontend", &["idle-cycles-frontend"], sys::PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
    name("stalled-cycles-backend", &["idle-cycles-backend"], sys::PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
    name("ref-cycles", &[], sys::PERF_COUNT_HW_REF_CPU_CYCLES),
];

/// Timers and counts of the kernel. `bpf-output`, number 10, is none that could be sampled.
pub const SOFTWARE: &[Name] = &[
    name("cpu-clock", &[], sys::PERF_COUNT_SW_CPU_CLOCK),
    name("task-clock", &[], sys::PERF_COUNT_SW_TASK_CLOCK),
    name("page-faults", &["faults"], sys::PERF_COUNT_SW_PAGE_FAULTS),
    name("context-switches", &["cs"], sys::PERF_COUNT_SW_CONTEXT_SWITCHES),
    name("cpu-migrations", &["migrations"], sys::PERF_COUNT_SW_CPU_MIGRATIONS),
    name("minor-faults", &[], sys::PERF_COUNT_SW_PAGE_FAULTS_MIN),
    name("major-faults", &[], sys::PERF_COUNT_SW_PAGE_FAULTS_MAJ),
    name("alignment-faults", &[], sys::PERF_COUNT_SW_ALIGNMENT_FAULTS),
    name("emulation-faults", &[], sys::PERF_COUNT_SW_EMULATION_FAULTS),
    name("dummy", &[], sys::PERF_COUNT_SW_DUMMY),
    name("cgroup-switches", &[], sys::PERF_COUNT_SW_CGROUP_SWITCHES),
];

/// Names that perf knows and that cannot be sampled, each with the reason.
pub(super) const NOT_SAMPLED: &[(&str, &str)] = &[
    ("bpf-output", "it carries what BPF programs write and takes no samples of code"),
    ("duration_time", "it is a stopwatch of perf stat and takes no samples"),
    ("user_time", "it is a sum that perf stat prints and takes no samples"),
    ("system_time", "it is a sum that perf stat prints and takes no samples"),
];

/// The entry of `table` under this name or alias.
pub(super) fn find(table: &'static [Name], text: &str) -> Option<&'static Name> {
    table.iter().find(|entry| entry.name == text || entry.aliases.contains(&text))
}
