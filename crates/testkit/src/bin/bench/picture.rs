//! The time from the end of a command to its picture on disk, for ten seconds of a program with
//! more than 10 MB of debug information. The command itself says when it ended; the profiler is
//! done when it has exited, so the time holds all that it does after the command.

use crate::Setting;
use crate::side::{Side, alternate, output};
use crate::table::Row;
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::{Truth, generated, requires};

const SECONDS: &str = "10";

pub(crate) fn measure(setting: &Setting) -> Row {
    let program = generated::large_program();
    let folder = setting.folder.path();
    let draws = requires::find("inferno-collapse-perf").is_some() && requires::find("inferno-flamegraph").is_some();
    let sides = [
        Side::new("perf", || with_perf(&program, folder, draws)),
        Side::new("flamel", || with_flamel(&setting.flamel, &program, folder)),
    ];
    let [perf, flamel] = alternate("end to picture, s", setting.rounds, sides);
    let peer = if draws { "perf script, inferno" } else { "perf script (text, no picture)" };
    Row {
        what: format!("seconds from a command's end to the picture, {SECONDS} s of a program with 10 MB of debug info"),
        peer: format!("perf record -g, {peer}: {perf:.3}"),
        ours: format!("{flamel:.3}"),
        ratio: format!("{:.2}", flamel.ratio_to(&perf)),
        target: "< 0.3 s".into(),
    }
}

fn with_flamel(flamel: &Path, program: &Path, folder: &Path) -> f64 {
    let picture = folder.join("large.svg");
    let _ = std::fs::remove_file(&picture);
    let mut command = Command::new(flamel);
    command.args(["record", "-o"]).arg(&picture).arg("--").arg(program).arg(SECONDS);
    let ended = end_ns(&mut command);
    let seconds = since(ended);
    assert!(picture.is_file(), "{command:?} left no picture");
    seconds
}

fn with_perf(program: &Path, folder: &Path, draws: bool) -> f64 {
    let data = folder.join("large.data");
    let mut record = Command::new("perf");
    record.args(["record", "-F", "997", "-g", "-o"]).arg(&data).arg("--").arg(program).arg(SECONDS);
    let ended = end_ns(&mut record);
    let draw = if draws { "| inferno-collapse-perf | inferno-flamegraph" } else { "" };
    let script = format!("perf script -i \"$1\" {draw} > \"$2\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh"]).arg(&data).arg(folder.join("large.txt")).stderr(Stdio::null());
    let status = shell.status().unwrap_or_else(|error| panic!("{shell:?}: {error}"));
    assert!(status.success(), "{shell:?}: {status}");
    since(ended)
}

/// Runs a profiler; returns the time at which the program under it says that it ended.
fn end_ns(command: &mut Command) -> u64 {
    Truth::from_output(&output(command).stdout).number("end_ns")
}

/// Seconds since a time of CLOCK_MONOTONIC in nanoseconds.
fn since(ns: u64) -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    let now = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    now.saturating_sub(ns) as f64 / 1e9
}
