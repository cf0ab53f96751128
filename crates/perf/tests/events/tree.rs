//! Folders as sysfs and tracefs would show them.

use perf::events::{EventError, EventSpec, Roots, Tracing, parse};
use std::fs;
use tempfile::TempDir;

/// A made-up machine.
pub(crate) struct Machine {
    root: TempDir,
    has_tracefs: bool,
}

impl Machine {
    /// One without pmus and without tracefs.
    pub(crate) fn bare() -> Self {
        Self { root: tempfile::tempdir().unwrap(), has_tracefs: false }
    }

    /// One with these files: pmus below `pmu/`, tracepoints below `tracing/`.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let machine = Self { has_tracefs: files.iter().any(|(path, _)| path.starts_with("tracing/")), ..Self::bare() };
        for (path, text) in files {
            let path = match path.strip_prefix("pmu/") {
                Some(path) => machine.root.path().join("sys/bus/event_source/devices").join(path),
                None => machine.root.path().join(path),
            };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        machine
    }

    pub(crate) fn roots(&self) -> Roots {
        let tracing = self.root.path().join("tracing");
        Roots {
            sys: self.root.path().join("sys"),
            tracing: if self.has_tracefs { Tracing::At(tracing) } else { Tracing::NotMounted },
        }
    }

    pub(crate) fn parse(&self, list: &str) -> Result<Vec<EventSpec>, EventError> {
        parse(list, &self.roots())
    }

    /// The single event that `text` stands for.
    pub(crate) fn one(&self, text: &str) -> EventSpec {
        let mut specs = self.parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(specs.len(), 1, "{text} stands for {specs:?}");
        specs.remove(0)
    }

    pub(crate) fn error(&self, list: &str) -> String {
        self.parse(list).expect_err(list).to_string().replace(self.root.path().to_str().unwrap(), "")
    }
}

/// A processor like those of Intel, its uncore, and an event that leaves a term open as those of
/// POWER's hv_24x7 do.
pub(crate) const DESKTOP: &[(&str, &str)] = &[
    ("pmu/cpu/type", "4\n"),
    ("pmu/cpu/format/event", "config:0-7\n"),
    ("pmu/cpu/format/umask", "config:8-15\n"),
    ("pmu/cpu/format/edge", "config:18\n"),
    ("pmu/cpu/format/cmask", "config:24-31\n"),
    ("pmu/cpu/format/ldlat", "config1:0-15\n"),
    ("pmu/cpu/format/offcore_rsp", "config1:0-63\n"),
    ("pmu/cpu/format/frontend", "config2:0-23\n"),
    ("pmu/cpu/format/split", "config:0-7,32-35\n"),
    ("pmu/cpu/events/cpu-cycles", "event=0x3c\n"),
    ("pmu/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"),
    ("pmu/cpu/events/slots", "event=0x00,umask=0x4\n"),
    ("pmu/cpu/caps/max_precise", "2\n"),
    ("pmu/power/type", "14\n"),
    ("pmu/power/cpumask", "0,4\n"),
    ("pmu/power/format/event", "config:0-7\n"),
    ("pmu/power/events/energy-pkg", "event=0x02\n"),
    ("pmu/power/events/energy-pkg.unit", "Joules\n"),
    ("pmu/power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n"),
    ("pmu/hv_24x7/type", "20\n"),
    ("pmu/hv_24x7/format/domain", "config:0-3\n"),
    ("pmu/hv_24x7/format/core", "config:16-31\n"),
    ("pmu/hv_24x7/format/offset", "config:32-63\n"),
    ("pmu/hv_24x7/events/HPM_INST", "domain=2,offset=0x20,core=?\n"),
    ("pmu/intel_pt/type", "8\n"),
    ("pmu/breakpoint/type", "5\n"),
    ("pmu/uprobe/type", "7\n"),
    ("pmu/uprobe/format/retprobe", "config:0\n"),
    ("pmu/software/type", "1\n"),
    ("pmu/broken/type", "9\n"),
    ("pmu/broken/format/x", "config7:0\n"),
];

/// A processor with two kinds of cores.
pub(crate) const HYBRID: &[(&str, &str)] = &[
    ("pmu/cpu_core/type", "4\n"),
    ("pmu/cpu_core/cpus", "0-7\n"),
    ("pmu/cpu_core/format/event", "config:0-7\n"),
    ("pmu/cpu_core/events/slots", "event=0x00\n"),
    ("pmu/cpu_core/events/mem-loads", "event=0xcd\n"),
    ("pmu/cpu_core/caps/max_precise", "3\n"),
    ("pmu/cpu_atom/type", "10\n"),
    ("pmu/cpu_atom/cpus", "8-11\n"),
    ("pmu/cpu_atom/format/event", "config:0-7\n"),
    ("pmu/cpu_atom/events/mem-loads", "event=0xd0\n"),
];
