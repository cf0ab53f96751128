//! Recordings: how long from a perf.data file to folded stacks and to a picture, how many bytes a
//! run takes on disk, and what writing one costs flamel itself.

use crate::Setting;
use crate::side::{Side, alternate, output};
use crate::table::Row;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use testkit::{Variant, requires, workload};

/// About 190,000 samples of one thread.
const RATE: &str = "9970";
const SECONDS: &str = "19.5";
/// As many copied stacks of 8 KB as make a file of some hundred megabytes.
const COPIED_RATE: &str = "997";

pub(crate) fn measure(setting: &Setting) -> Vec<Row> {
    let mut rows = reading(setting);
    rows.extend(bytes(setting));
    rows.push(own_cpu(setting, "fp", "< 3 %"));
    rows.push(own_cpu(setting, "dwarf", "–"));
    rows
}

fn reading(setting: &Setting) -> Vec<Row> {
    let chains = recorded(setting, "chains.data", &["-F", RATE, "--call-graph", "fp"], Variant::default());
    let copied = Variant::without_frame_pointers();
    let copied = recorded(setting, "copied.data", &["-F", COPIED_RATE, "--call-graph", "dwarf"], copied);
    let inferno = requires::find("inferno-collapse-perf").is_some() && requires::find("inferno-flamegraph").is_some();
    let fold = if inferno { "| inferno-collapse-perf" } else { "" };
    let draw = if inferno { "| inferno-collapse-perf | inferno-flamegraph" } else { "" };
    let ours = |verb: &str| format!("\"$0\" {verb} \"$1\"");
    let rows = [
        ("perf.data, frame pointers → folded", &chains, fold, ours("fold"), "≤ 1/40"),
        ("the same, without inlined functions, as perf", &chains, fold, ours("fold --no-inline"), "≤ 1/40"),
        ("perf.data, frame pointers → SVG", &chains, draw, ours("graph --format svg -o -"), "≤ 1/20"),
        ("perf.data, copied stacks → folded", &copied, fold, ours("fold"), "≤ 1/5"),
        ("perf.data, copied stacks → text", &copied, "", ours("script"), "–"),
    ];
    rows.into_iter()
        .map(|(what, data, peer, ours, target)| {
            let perf = format!("perf script -i \"$1\" {peer}");
            let sides = [
                Side::new("perf", || shell(setting, &perf, data)),
                Side::new("flamel", || shell(setting, &ours, data)),
            ];
            let [perf, flamel] = alternate(what, setting.rounds, sides);
            Row {
                what: format!("{what}, s"),
                peer: format!("perf script {peer}: {perf:.3}").replace('|', "\\|"),
                ours: format!("{flamel:.3}"),
                ratio: format!("1/{:.1}", perf.ratio_to(&flamel)),
                target: target.into(),
            }
        })
        .collect()
}

/// Bytes that a run of ten seconds takes.
fn bytes(setting: &Setting) -> [Row; 2] {
    let program = workload::SHARES.build(Variant::without_frame_pointers());
    let run = |profiler: &Path, arguments: &[&str]| {
        let data = setting.folder.path().join("bytes.data");
        let _ = std::fs::remove_file(&data);
        let mut command = Command::new(profiler);
        command.args(["record", "-F", COPIED_RATE, "--call-graph", "dwarf"]).args(arguments);
        output(command.arg("-o").arg(&data).arg("--").arg(&program).arg("10"));
        std::fs::metadata(&data).map_or(0.0, |metadata| metadata.len() as f64 / 1024.0)
    };
    let sides = [
        Side::new("perf", || run(Path::new("perf"), &[])),
        Side::new("flamel", || run(&setting.flamel, &[])),
        Side::new("flamel -z", || run(&setting.flamel, &["-z"])),
    ];
    let [perf, plain, packed] = alternate("KiB on disk", setting.rounds, sides);
    let row = |name: &str, ours: &crate::series::Series, target: &str| Row {
        what: format!("KiB on disk of 10 s at {COPIED_RATE} Hz, copied stacks{name}"),
        peer: format!("perf record --call-graph dwarf: {perf:.0}"),
        ours: format!("{ours:.0}"),
        ratio: format!("1/{:.0}", perf.ratio_to(ours)),
        target: target.into(),
    };
    [row("", &plain, "≤ 1/30"), row(", -z", &packed, "≤ 1/50")]
}

/// CPU time that flamel takes for itself while it records two busy threads, in percent of one CPU.
fn own_cpu(setting: &Setting, call_graph: &str, target: &str) -> Row {
    let program = workload::WORK.build(Variant::default());
    let seconds = setting.seconds.to_string();
    let data = setting.folder.path().join("own.data");
    let run = || {
        let mut command = Command::new(&setting.flamel);
        command.args(["record", "-q", "-F", RATE, "--call-graph", call_graph, "-o"]).arg(&data).arg("--");
        command.arg(&program).args([&seconds, "--threads", "2"]);
        let _ = std::fs::remove_file(&data);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        // Names are looked up after the program has ended, which is not what is asked for here.
        std::thread::sleep(std::time::Duration::from_secs_f64(0.9 * setting.seconds));
        let seconds = cpu_seconds(child.id());
        assert!(child.wait().is_ok_and(|status| status.success()), "{command:?}");
        100.0 * seconds / (0.9 * setting.seconds)
    };
    let [percent] = alternate("own CPU, %", setting.rounds, [Side::new("flamel", run)]);
    Row {
        what: format!("CPU time of `flamel record -o x.data`, {call_graph}, {RATE} Hz on two busy CPUs, % of one"),
        peer: "–".into(),
        ours: format!("{percent:.1}"),
        ratio: "–".into(),
        target: target.into(),
    }
}

/// utime and stime of proc_pid_stat(5).
fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

fn recorded(setting: &Setting, name: &str, arguments: &[&str], variant: Variant) -> PathBuf {
    let data = setting.folder.path().join(name);
    let mut perf = Command::new("perf");
    perf.args(["record", "-q"]).args(arguments).arg("-o").arg(&data).arg("--");
    output(perf.arg(workload::SHARES.build(variant)).arg(SECONDS));
    data
}

/// Seconds that a line of shell takes, `$0` being flamel and `$1` the recording.
fn shell(setting: &Setting, line: &str, data: &Path) -> f64 {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).arg(&setting.flamel).arg(data);
    let began = Instant::now();
    let status = shell.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let seconds = began.elapsed().as_secs_f64();
    assert!(status.is_ok_and(|status| status.success()), "{shell:?}");
    seconds
}
