//! What goes by way of a recording is what was written at once: the same run to folded text and to
//! perf.data, and the recording folded afterwards. Both resolve the same events, so that nothing
//! may differ, not by one sample.

use crate::truth::{assert_shares, assert_whole};
use crate::{Recorded, flamel};
use std::path::{Path, PathBuf};
use testkit::{Finished, Folded, Variant, lock, requires, workload};

/// A run that was recorded both ways.
pub struct Both {
    pub finished: Finished,
    /// The folded text that was written at once.
    pub live: Vec<u8>,
    folder: tempfile::TempDir,
}

/// Records a command, which must end well, to folded text and perf.data.
pub fn both(options: &[&str], command: &[&str]) -> Both {
    let folder = tempfile::tempdir().unwrap();
    let run = flamel().arg("record").args(options).args(["-o", "x.data", "-o", "x.folded", "--"]);
    let finished = run.args(command).dir(folder.path()).finish().success();
    let live = std::fs::read(folder.path().join("x.folded")).unwrap();
    Both { finished, live, folder }
}

impl Both {
    /// The recording.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("x.data")
    }

    /// Checks that the recording folds to what was written at once.
    #[track_caller]
    pub fn assert_equal(&self) {
        let again = fold(&self.data());
        if again != self.live {
            let [live, again] = [&self.live, &again].map(|text| String::from_utf8_lossy(text).into_owned());
            let only_in = |one: &str, other: &str| -> String {
                let other: std::collections::HashSet<&str> = other.lines().collect();
                let lines = one.lines().filter(|line| !other.contains(line));
                lines.take(5).map(|line| format!("  {line}\n")).collect()
            };
            panic!("only live:\n{}only in the recording:\n{}", only_in(&live, &again), only_in(&again, &live));
        }
    }
}

fn fold(data: &Path) -> Vec<u8> {
    flamel().arg("fold").arg(data).finish().success().stdout
}

/// Records the known shares both ways; what the recording says must be equal, true and whole.
fn shares(seconds: &str, call_graph: &str, compress: &[&str], within: f64) {
    // A chain needs frame pointers; the other ways are there for programs that have none.
    let variant = if call_graph == "fp" { Variant::default() } else { Variant::without_frame_pointers() };
    let program = workload::SHARES.build(variant);
    let options = ["-F", "4999", "-e", "cpu-clock", "--call-graph", call_graph];
    let run = both(&[&options, compress].concat(), &[program.to_str().unwrap(), seconds]);
    run.assert_equal();
    // The summary tells the share of whole stacks, what has no name, and what was lost.
    let report = flamel().arg("report").arg(run.data()).args(["-n", "10"]).finish().success().stdout_text();
    assert!(run.finished.stderr.contains(&report), "{}\n--- report\n{report}", run.finished);
    let folded = Folded::parse(&String::from_utf8(fold(&run.data())).unwrap());
    let recorded = Recorded { finished: run.finished, folded };
    assert_shares(&recorded, within);
    match call_graph {
        "fp" => {
            ["leaf_60", "leaf_10"].iter().for_each(|leaf| recorded.folded.only(leaf).assert_every_stack_holds("main"))
        }
        _ => assert_whole(&recorded),
    }
}

#[test]
fn root_a_recording_is_as_true_as_what_is_written_at_once() {
    if requires::root() {
        let _alone = lock::exclusive();
        shares("2", "fp", &[], 3.0);
        shares("2", "dwarf", &["-z"], 3.0);
        shares("2", "auto", &[], 3.0);
    }
}

#[test]
#[ignore = "slow: run by `make truth`"]
fn truth_recordings_have_shares_within_one_point_in_twenty_seconds() {
    let _alone = lock::exclusive();
    for call_graph in ["fp", "dwarf", "auto"] {
        for compress in [&[][..], &["-z"]] {
            shares("20", call_graph, compress, 1.0);
        }
    }
}

#[test]
fn root_no_call_graph_and_several_events_are_recorded_too() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let program = program.to_str().unwrap();
    both(&["-e", "cpu-clock", "--call-graph", "none", "-z"], &[program, "0.5"]).assert_equal();
    let folder = tempfile::tempdir().unwrap();
    let run = flamel().args(["record", "-e", "cpu-clock,page-faults", "-o", "x.data", "-o", "x.folded", "--"]);
    run.args([program, "0.5"]).dir(folder.path()).finish().success();
    for event in ["cpu-clock", "page-faults"] {
        let live = std::fs::read_to_string(folder.path().join(format!("x.{event}.folded"))).unwrap();
        let again = flamel().args(["fold", "x.data", "-e", event]).dir(folder.path()).finish().success().stdout_text();
        assert!(!live.is_empty() && live == again, "{event}:\n{live}---\n{again}");
    }
}

#[test]
fn root_a_deep_stack_is_recorded_whole() {
    if !requires::root() {
        return;
    }
    let program = workload::RECURSE.build(Variant::default());
    let command = [program.to_str().unwrap(), "0.5"];
    let dwarf = both(&["--call-graph", "dwarf,65528", "--max-frames", "4000"], &command);
    dwarf.assert_equal();
    let deepest = dwarf.live.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b';').count()).max();
    assert!(deepest > Some(1000), "{deepest:?} frames");
    // The kernel's limit cuts the chain here, which the recording has to tell as well.
    let fp = both(&["--call-graph", "fp"], &command);
    fp.assert_equal();
    let report = flamel().arg("report").arg(fp.data()).finish().success().stdout_text();
    assert!(report.contains("limit"), "{report}");
}

#[test]
fn root_two_thousand_short_processes_are_recorded() {
    if !requires::root() {
        return;
    }
    let program = workload::STORM.build(Variant::without_frame_pointers());
    let command = [program.to_str().unwrap(), "4", "--processes", "2000", "--spin-us", "500"];
    let run = both(&["-F", "4999", "-e", "cpu-clock", "-z"], &command);
    run.assert_equal();
    let script = flamel().arg("script").arg(run.data()).args(["-F", "pid"]).finish().success().stdout_text();
    let processes: std::collections::HashSet<&str> = script.split_whitespace().collect();
    assert!(processes.len() > 1000, "only {} processes have samples", processes.len());
}

#[test]
fn root_a_thread_may_have_any_name() {
    if !requires::root() {
        return;
    }
    let program = workload::THREADS.build(Variant::default());
    let run = both(&["-e", "cpu-clock"], &[program.to_str().unwrap(), "0.5", "--threads", "2", "--odd-name"]);
    run.assert_equal();
    let live = String::from_utf8_lossy(&run.live);
    assert!(live.lines().any(|line| line.starts_with("odd") && line.contains("spin_in_thread")), "{live}");
}

#[test]
fn root_a_program_that_is_gone_is_recorded_with_its_frames() {
    if !requires::root() {
        return;
    }
    let built = workload::SHARES.build(Variant::without_frame_pointers());
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    testkit::build::copy_program(&built, &program);
    // The shell holds on to the program by a descriptor, so that it can still be executed.
    let removed_meanwhile = format!("exec 3<{0}; rm {0}; exec /proc/self/fd/3 0.7", program.display());
    let run = both(&["-e", "cpu-clock", "--no-inline"], &["/bin/sh", "-c", &removed_meanwhile]);
    let live = Folded::parse(&String::from_utf8(run.live.clone()).unwrap());
    assert!(live.share_of("leaf_60") > 40.0, "{}", live.largest(5));
    // Live the file was opened in time. Of the recording, names are looked up when it is no more;
    // the stacks were unwound meanwhile, and are what they were. In perf's cache under the home
    // folder the program could still be found, by its build id.
    let read = |verb: &str| {
        let run = flamel().args([verb, "--no-inline"]).arg(run.data()).env("HOME", folder.path());
        run.finish().success().stdout_text()
    };
    let again = Folded::parse(&read("fold"));
    assert_eq!(again.total(), live.total());
    let deepest = |folded: &Folded| folded.stacks.iter().map(|stack| stack.frames.len()).max();
    assert_eq!(again.share_of("leaf_60"), 0.0);
    assert_eq!(deepest(&again), deepest(&live));
    let report = read("report");
    assert!(report.contains("the file is gone"), "{report}");
}
