//! The table, in Markdown.

use std::fmt;
use std::fs;

/// A line of the table.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) peer: String,
    pub(crate) ours: String,
    pub(crate) ratio: String,
    pub(crate) target: String,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, peer, ours, ratio, target } = self;
        writeln!(f, "| {what} | {peer} | {ours} | {ratio} | {target} |")
    }
}

/// The lines above the rows.
pub(crate) fn head() -> String {
    "Each cell: median (least–most) over the rounds.\n\n\
     | measurement | peer | flamel | flamel / peer | target |\n|---|---|---|---|---|\n"
        .into()
}

/// What the numbers were taken on.
pub(crate) fn machine() -> String {
    let first_line = |path: &str| fs::read_to_string(path).unwrap_or_default().lines().next().unwrap_or("?").to_owned();
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(": "));
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let perf = std::process::Command::new("perf").arg("--version").output();
    let perf = perf.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    format!(
        "{} × {}, Linux {}, {perf}, perf_event_max_sample_rate {}\n",
        cpus,
        cpu.map_or("CPU of an unknown model", |(_, model)| model),
        first_line("/proc/sys/kernel/osrelease"),
        first_line("/proc/sys/kernel/perf_event_max_sample_rate"),
    )
}
