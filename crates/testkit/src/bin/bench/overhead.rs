//! Work done by a CPU-bound program, under 15 to 22 frames, with no profiler, under perf and under
//! flamel: with one thread, where the profiler has a CPU to itself if there are two, and with one
//! thread a CPU, where it has not.

use crate::Setting;
use crate::side::{Side, alternate, output};
use crate::table::Row;
use std::path::Path;
use std::process::Command;
use testkit::{Truth, Variant, workload};

const RATE: &str = "9970";

pub(crate) fn measure(setting: &Setting) -> Vec<Row> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads = vec![1, cpus];
    threads.dedup();
    let modes = [
        ("fp", "fp", Variant::default()),
        ("dwarf", "dwarf", Variant::without_frame_pointers()),
        // perf has no such mode; its copied stacks are what comes nearest.
        ("auto", "dwarf", Variant::without_frame_pointers()),
    ];
    let pairs = modes.iter().flat_map(|mode| threads.iter().map(move |&threads| (mode, threads)));
    pairs.map(|(&(ours, theirs, variant), threads)| one(setting, [ours, theirs], variant, threads)).collect()
}

fn one(setting: &Setting, [ours, theirs]: [&str; 2], variant: Variant, threads: usize) -> Row {
    let program = workload::WORK.build(variant);
    let picture = setting.folder.path().join("work.svg");
    let data = setting.folder.path().join("perf.data");
    let what = format!("work done, {ours}, {threads} thread{}", if threads == 1 { "" } else { "s" });
    let sides = [
        Side::new("nothing", || units(setting, &program, threads, None)),
        Side::new("perf", || {
            let mut perf = Command::new("perf");
            perf.args(["record", "-F", RATE, "--call-graph", theirs, "-o"]).arg(&data).arg("--");
            units(setting, &program, threads, Some(perf))
        }),
        Side::new("flamel", || {
            let mut flamel = Command::new(&setting.flamel);
            flamel.args(["record", "-F", RATE, "--call-graph", ours, "-o"]).arg(&picture).arg("--");
            units(setting, &program, threads, Some(flamel))
        }),
    ];
    let [nothing, perf, flamel] = alternate(&what, setting.rounds, sides);
    Row {
        what: format!("{what}, {RATE} Hz, of what is done without a profiler"),
        peer: format!("perf record --call-graph {theirs}: {:.3}", perf.ratio_to(&nothing)),
        ours: format!("{:.3}", flamel.ratio_to(&nothing)),
        ratio: format!("{:.3}", flamel.ratio_to(&perf)),
        target: "ratio ≥ 0.99".into(),
    }
}

/// Units of work a second, under `profiler` if there is one.
fn units(setting: &Setting, program: &Path, threads: usize, profiler: Option<Command>) -> f64 {
    let seconds = setting.seconds.to_string();
    let mut command = match profiler {
        Some(mut profiler) => {
            profiler.arg(program);
            profiler
        }
        None => Command::new(program),
    };
    command.args([&seconds, "--threads", &threads.to_string()]);
    Truth::from_output(&output(&mut command).stdout).number::<f64>("units") / setting.seconds
}
