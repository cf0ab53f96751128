//! What a recording says of the machine, the run and its events, one fact a line.

use super::recording::Recording;
use model::{Sampling, text};
use std::fmt::Write as _;

/// The text.
pub fn of(recording: &Recording) -> String {
    let info = recording.info();
    let mut lines: Vec<(&str, String)> = Vec::new();
    let mut add = |name, value: Option<String>| lines.extend(value.map(|value| (name, value)));
    add("host", info.host.clone());
    add("kernel", info.kernel.clone());
    add("machine", info.machine.clone());
    add("recorder", info.perf.clone());
    add("cpus online", info.cpus_online.map(|cpus| cpus.to_string()));
    add("cpus available", info.cpus_available.map(|cpus| cpus.to_string()));
    add("cpu", info.cpu.clone());
    add("cpu id", info.cpu_id.clone());
    add("memory", info.memory_kib.map(|kib| format!("{kib} KiB")));
    add("command", (!info.command.is_empty()).then(|| info.command.join(" ")));
    add("clock", info.clock.map(clock_name));
    let seconds = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    add("samples from", info.sample_times.map(|(first, _)| seconds(first)));
    add("samples until", info.sample_times.map(|(_, last)| seconds(last)));
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{name:<16}{value}");
    };
    lines.iter().for_each(|(name, value)| line(name, value));
    for event in recording.events() {
        let rate = match event.description.sampling {
            Sampling::Frequency(hz) => format!("{hz} Hz"),
            Sampling::Period(period) => format!("every {period}"),
            Sampling::Unknown => "unknown rate".into(),
        };
        let attribute = &event.attribute;
        line(
            "event",
            &format!(
                "{}, {rate}, type {}, config {:#x}, sample_type {:#x}, {} ids",
                event.description.name,
                attribute.kind,
                attribute.config,
                attribute.sample_type,
                event.ids.len()
            ),
        );
    }
    for (leader, members) in &info.groups {
        line("group", &format!("{members} events led by number {leader}"));
    }
    for file in &info.build_ids {
        line("file", &format!("{} {}", file.build_id, text::from_bytes(&file.path)));
    }
    out
}

/// The names of clock_gettime(2).
fn clock_name(clock: u32) -> String {
    match clock {
        0 => "CLOCK_REALTIME".into(),
        1 => "CLOCK_MONOTONIC".into(),
        4 => "CLOCK_MONOTONIC_RAW".into(),
        7 => "CLOCK_BOOTTIME".into(),
        11 => "CLOCK_TAI".into(),
        other => format!("clock {other}"),
    }
}
