//! perf.data files in both directions: perf opens what flamel writes, flamel reads what perf writes,
//! and both see the same samples. Samples are compared as the lines of `perf script`.

use crate::flamel;
use crate::recordings::both;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use testkit::{Folded, Run, Variant, requires, workload};

/// All that a sample has, without names.
const FIELDS: &str = "comm,pid,tid,cpu,time,event,period,ip";

fn perf() -> Run {
    Run::new(requires::find("perf").unwrap())
}

fn perf_script(data: &Path) -> String {
    let run = perf().args(["script", "--no-inline", "--ns", "-F", FIELDS, "-i"]).arg(data);
    run.finish().success().stdout_text()
}

fn flamel_script(data: &Path) -> String {
    let run = flamel().args(["script", "--no-inline", "--ns", "-F", FIELDS]).arg(data);
    run.finish().success().stdout_text()
}

fn assert_same_text(what: &str, perf: &str, flamel: &str) {
    let first = perf.lines().zip(flamel.lines()).position(|(perf, flamel)| perf != flamel);
    if let Some(at) = first {
        let around = |text: &str| -> String {
            text.lines().skip(at.saturating_sub(2)).take(5).map(|line| format!("  {line}\n")).collect()
        };
        panic!("{what}, line {}:\nperf\n{}flamel\n{}", at + 1, around(perf), around(flamel));
    }
    assert!(perf.len() == flamel.len(), "{what}: {} bytes by perf, {} by flamel", perf.len(), flamel.len());
    assert!(!perf.is_empty(), "{what}: no samples");
}

/// Self shares in percent, with two digits, of functions that have at least one.
type Shares = BTreeMap<String, String>;

/// Rows `12.34%  COMM  FILE  [.] SYMBOL`, and the sum of the weights.
fn shares_by_perf(data: &Path) -> (Shares, u64) {
    let run = perf().args(["report", "--stdio", "--no-children", "-g", "none", "--percent-limit", "1", "-i"]).arg(data);
    let text = run.finish().success().stdout_text();
    let total = text.lines().find_map(|line| line.strip_prefix("# Event count (approx.): ")).unwrap();
    let row = |line: &str| {
        let (share, rest) = line.trim_start().split_once('%')?;
        let symbol = ["[.] ", "[k] "].iter().find_map(|kind| rest.split_once(kind))?.1.trim_end();
        // perf shows the version of a symbol; flamel does not.
        let name = symbol.split_once("@@").map_or(symbol, |(name, _)| name);
        Some((name.to_owned(), share.to_owned()))
    };
    let rows = text.lines().filter(|line| !line.starts_with('#')).filter_map(row);
    (rows.collect(), total.parse().unwrap())
}

/// Rows `12.34 %  12.34 %  WEIGHT  SAMPLES  FUNCTION  MODULE` of the first table.
fn shares_by_flamel(data: &Path) -> Shares {
    let text = flamel().args(["report", "--no-inline"]).arg(data).finish().success().stdout_text();
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [share, "%", _, "%", _, _, name, _module] = words[..] else { panic!("no row: `{line}`") };
        (share.parse::<f64>().unwrap() >= 1.0).then(|| (name.to_owned(), share.to_owned()))
    };
    text.lines().skip(1).take_while(|line| !line.is_empty()).filter_map(row).collect()
}

#[test]
fn root_perf_reads_what_flamel_writes() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let program = program.to_str().unwrap();
    let cases: [&[&str]; 6] = [
        &["-e", "cpu-clock", "--call-graph", "fp"],
        &["-e", "cpu-clock", "--call-graph", "fp", "-z"],
        &["-e", "cpu-clock", "--call-graph", "dwarf"],
        &["-e", "cpu-clock", "--call-graph", "auto", "-z"],
        &["-e", "cpu-clock", "--call-graph", "none"],
        &["-e", "cpu-clock", "-e", "context-switches", "-e", "page-faults"],
    ];
    for options in cases {
        let events = options.iter().filter(|word| **word == "-e").count();
        let folder = tempfile::tempdir().unwrap();
        let run = flamel().args(["record", "-F", "1999"]).args(options).args(["-o", "x.data", "--"]);
        run.args([program, "0.7"]).dir(folder.path()).finish().success();
        let data = folder.path().join("x.data");
        assert_same_text(&format!("{options:?}"), &perf_script(&data), &flamel_script(&data));
        if events == 1 {
            let (shares, total) = shares_by_perf(&data);
            assert!(shares.contains_key("leaf_60"), "{options:?}: {shares:?}");
            assert_eq!(shares, shares_by_flamel(&data), "{options:?}");
            let folded = flamel().arg("fold").arg(&data).finish().success().stdout_text();
            assert_eq!(total, Folded::parse(&folded).total(), "{options:?}");
        }
    }
}

#[test]
fn root_perf_reads_the_whole_system_and_odd_tasks() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("x.data");
    let run = flamel().args(["record", "-a", "-d", "0.7", "-e", "cpu-clock", "--call-graph", "fp", "-o"]).arg(&data);
    run.finish().success();
    assert_same_samples("-a", &perf_script(&data), &flamel_script(&data), Frames::Near);
    let program = workload::STORM.build(Variant::default());
    let storm = both(&["-F", "4999", "-e", "cpu-clock"], &[program.to_str().unwrap(), "0.5", "--processes", "100"]);
    assert_same_text("storm", &perf_script(&storm.data()), &flamel_script(&storm.data()));
    let program = workload::THREADS.build(Variant::default());
    let threads = both(&["-e", "cpu-clock"], &[program.to_str().unwrap(), "0.5", "--odd-name"]);
    // perf prints a name's bytes as they are, flamel escapes those that are no UTF-8.
    let ours = flamel_script(&threads.data()).replace("\\xff \\xe9", "\u{fffd} \u{fffd}");
    assert!(ours.contains('\u{fffd}'));
    assert_same_text("threads", &perf_script(&threads.data()), &ours);
}

/// How perf made a recording, and how far its frames are to agree.
struct Case {
    name: &'static str,
    record: &'static [&'static str],
    frames: Frames,
}

/// What of a sample's frames is to be the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Frames {
    /// All.
    Same,
    /// Both unwind the copied stack for themselves. perf prints the address that it looks a caller up
    /// by, which is one less than the address that is returned to.
    Unwound,
    /// Nearly, since two things happen on a whole system. A frame-pointer chain through code without
    /// frame pointers may hold a word that is no address: perf throws such a chain away, flamel keeps
    /// what comes before. And a thread within execve(2) is said to have come from a place in the
    /// program before, which perf still takes for mapped, while flamel gives the address as it is.
    Near,
}

const CASES: &[Case] = &[
    Case { name: "chains", record: &["-g", "-e", "cpu-clock"], frames: Frames::Same },
    Case { name: "compressed", record: &["-z", "-g", "-e", "cpu-clock"], frames: Frames::Same },
    Case { name: "plain", record: &["-e", "cpu-clock"], frames: Frames::Same },
    Case { name: "group", record: &["-g", "-e", "{cpu-clock,page-faults}"], frames: Frames::Same },
    Case { name: "leader", record: &["-g", "-e", "{cpu-clock,page-faults}:S"], frames: Frames::Same },
    Case { name: "several", record: &["-g", "-e", "cpu-clock,page-faults,context-switches"], frames: Frames::Same },
    Case { name: "copied", record: &["--call-graph", "dwarf", "-e", "cpu-clock"], frames: Frames::Unwound },
];

/// The lines of a sample: its own and its frames.
fn samples(text: &str) -> Vec<(&str, Vec<u64>)> {
    let mut samples: Vec<(&str, Vec<u64>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix('\t') {
            None => samples.push((line, Vec::new())),
            Some(frame) => {
                // Of a pipe, perf prints names whatever the fields are.
                let address = frame.split_whitespace().next().unwrap();
                let address = u64::from_str_radix(address, 16).unwrap_or_else(|_| panic!("no frame: `{line}`"));
                samples.last_mut().unwrap().1.push(address);
            }
        }
    }
    samples
}

/// A sample's line, without the thread's name where the thread was past its exit, which the kernel
/// states as -1: perf knows no name for that, flamel has that of the process.
fn named(line: &str) -> &str {
    line.split_once("/-1 ").map_or(line, |(_, rest)| rest)
}

fn assert_same_samples(what: &str, perf: &str, flamel: &str, frames: Frames) {
    let (perf, flamel) = (samples(perf), samples(flamel));
    assert_eq!(perf.len(), flamel.len(), "{what}: numbers of samples");
    assert!(!perf.is_empty(), "{what}: no samples");
    let mut different = Vec::new();
    for (index, (theirs, ours)) in perf.iter().zip(&flamel).enumerate() {
        assert_eq!(named(theirs.0), named(ours.0), "{what}, sample {index}");
        let near =
            |(index, (theirs, ours)): (usize, (&u64, &u64))| theirs == ours || (index > 0 && *theirs + 1 == *ours);
        let in_page = |(theirs, ours): (&u64, &u64)| theirs & 0xfff == ours & 0xfff;
        let agree = match frames {
            Frames::Same => theirs.1 == ours.1,
            Frames::Unwound => theirs.1.len() == ours.1.len() && theirs.1.iter().zip(&ours.1).enumerate().all(near),
            Frames::Near => {
                theirs.1.is_empty() || (theirs.1.len() == ours.1.len() && theirs.1.iter().zip(&ours.1).all(in_page))
            }
        };
        if !agree {
            different.push((theirs, ours));
        }
    }
    // Two unwinders may part in the few instructions of a program's start.
    let allowed = if frames == Frames::Unwound { perf.len() / 50 } else { 0 };
    assert!(different.len() <= allowed, "{what}: {} of {}, such as {:x?}", different.len(), perf.len(), different[0]);
}

impl Case {
    fn record(&self, folder: &Path) -> PathBuf {
        let variant =
            if self.frames == Frames::Unwound { Variant::without_frame_pointers() } else { Variant::default() };
        let data = folder.join(format!("{}.data", self.name));
        // Without -N the program would stay in a cache under the home folder; the CPU of a single
        // program's samples is stated only if that is asked for.
        let run =
            perf().args(["record", "-q", "-N", "-F", "1999", "--sample-cpu"]).args(self.record).arg("-o").arg(&data);
        run.arg("--").arg(workload::SHARES.build(variant)).arg("0.5").finish().success();
        data
    }
}

#[test]
fn root_flamel_reads_what_perf_writes_and_writes_it_again() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for case in CASES {
        let data = case.record(folder.path());
        let by_perf = perf_script(&data);
        assert_same_samples(case.name, &by_perf, &flamel_script(&data), case.frames);
        for compress in [&[][..], &["-z"]] {
            let again = folder.path().join("again.data");
            flamel().arg("convert").arg(&data).arg("-o").arg(&again).args(compress).finish().success();
            assert_same_samples(
                &format!("{}, converted {compress:?}", case.name),
                &by_perf,
                &perf_script(&again),
                case.frames,
            );
        }
    }
}

#[test]
fn root_flamel_reads_the_pipe_of_perf() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = workload::SHARES.build(Variant::default());
    // In a pipe perf says less at the beginning: events, names and files come among the samples.
    let script = format!(
        "perf record -q -N -F 1999 -g --sample-cpu -e cpu-clock -o - -- {program} 0.5 | tee pipe.data | {flamel} fold - > x.folded",
        program = program.display(),
        flamel = env!("CARGO_BIN_EXE_flamel"),
    );
    Run::new("/bin/sh").args(["-c", &script]).dir(folder.path()).finish().success();
    let data = folder.path().join("pipe.data");
    let by_perf = perf_script(&data);
    assert_same_samples("pipe", &by_perf, &flamel_script(&data), Frames::Same);
    let folded = Folded::read(folder.path().join("x.folded"));
    let words = |line: &str| line.split_whitespace().rev().nth(1).unwrap().parse::<u64>().unwrap();
    let total: u64 = samples(&by_perf).iter().map(|(line, _)| words(line)).sum();
    assert_eq!(folded.total(), total);
    assert!(folded.share_of("leaf_60") > 40.0, "{}", folded.largest(5));
}

/// All that perf prints, fields of tracepoints included; it must have nothing to complain of.
fn perf_script_whole(data: &Path) -> String {
    let finished = perf().args(["script", "--no-inline", "--ns", "-i"]).arg(data).finish().success();
    assert_eq!(finished.stderr, "", "{}", data.display());
    finished.stdout_text()
}

const SWITCHES: &[&str] = &["-e", "sched:sched_switch,sched:sched_wakeup,cpu-clock"];

#[test]
fn root_perf_prints_the_fields_of_tracepoints_that_flamel_recorded() {
    if !requires::root() || !requires::perf() || !requires::tracefs() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("x.data");
    for compress in [&[][..], &["-z"]] {
        let run = flamel().args(["record", "-a", "-d", "0.5", "--call-graph", "fp"]).args(SWITCHES).args(compress);
        run.arg("-o").arg(&data).finish().success();
        assert_same_samples("tracepoints", &perf_script(&data), &flamel_script(&data), Frames::Near);
        let text = perf_script_whole(&data);
        for (event, fields) in
            [("sched:sched_switch:", ["prev_comm=", "next_comm="]), ("sched:sched_wakeup:", ["comm=", "target_cpu="])]
        {
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(event)).collect();
            assert!(!lines.is_empty(), "no {event}");
            let without = lines.iter().find(|line| !fields.iter().all(|field| line.contains(field)));
            assert_eq!(without, None, "{compress:?}");
        }
        let report = perf().args(["report", "--stdio", "-i"]).arg(&data).finish().success();
        assert!(report.stdout_text().contains("of event 'sched:sched_switch'"));
    }
}

#[test]
fn root_tracepoints_that_perf_recorded_stay_what_they_are() {
    if !requires::root() || !requires::perf() || !requires::tracefs() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [data, pipe, again] = ["x.data", "pipe.data", "again.data"].map(|name| folder.path().join(name));
    for (to, mode) in [(&data, "perf record -q -o"), (&pipe, "perf record -q -o - >")] {
        let script = format!("{mode} {} -a -g -e {} -- sleep 0.3", to.display(), SWITCHES[1]);
        Run::new("/bin/sh").args(["-c", &script]).finish().success();
    }
    for from in [&data, &pipe] {
        // Of a pipe, perf prints frames in another layout.
        let text = |data: &Path| -> String {
            let whole = perf_script_whole(data);
            if *from == pipe {
                whole.split_inclusive('\n').filter(|line| !line.starts_with('\t')).collect()
            } else {
                whole
            }
        };
        let before = text(from);
        assert!(before.contains("prev_comm="));
        for compress in [&[][..], &["-z"]] {
            flamel().arg("convert").arg(from).arg("-o").arg(&again).args(compress).finish().success();
            assert_same_text("tracepoints", &before, &text(&again));
        }
    }
}

#[test]
fn root_perf_opens_tracepoints_while_they_are_recorded() {
    if !requires::root() || !requires::perf() || !requires::tracefs() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = flamel().args(["record", "-a", "-d", "60", "-e", "sched:sched_switch", "-o", "x.data"]);
    let running = run.dir(folder.path()).start();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    running.signal(testkit::Signal::KILL);
    running.finish();
    assert!(perf_script_whole(&folder.path().join("x.data")).contains("next_comm="));
}
