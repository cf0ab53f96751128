//! Known shares: what flamel says of a program against what the program knows of itself.

use crate::{Recorded, record_command};
use testkit::{Variant, lock, requires, workload};

/// Points by which a share of a short run may be off, on a machine that does other things too.
/// The slow tests hold to one.
const SHORT_RUN: f64 = 3.0;

fn shares(seconds: u32, variant: Variant, call_graph: &str, within: f64) -> Recorded {
    let program = workload::SHARES.build(variant);
    let seconds = seconds.to_string();
    let recorded = record_command(
        &["-F", "4999", "--call-graph", call_graph, "-e", "cpu-clock"],
        &[program.to_str().unwrap(), &seconds],
    );
    assert_shares(&recorded, within);
    recorded
}

/// The shares are those that the workload tells, to this many points.
pub fn assert_shares(recorded: &Recorded, within: f64) {
    let truth = recorded.finished.truth().percent("cpu_ns");
    let program = recorded.folded.only("main");
    for (function, expected) in ["leaf_60", "leaf_30", "leaf_10"].into_iter().zip(truth) {
        program.assert_share(function, expected, within);
    }
}

/// In `dwarf` and `auto` every stack reaches its bottom: those of the program `_start`, those
/// before `main` the dynamic loader's.
pub fn assert_whole(recorded: &Recorded) {
    recorded.folded.only("main").assert_every_stack_holds("_start");
    for leaf in ["leaf_60", "leaf_30", "leaf_10"] {
        for caller in ["level_01", "level_15", "main", "_start"] {
            recorded.folded.only(leaf).assert_every_stack_holds(caller);
        }
    }
}

#[test]
fn root_shares_with_frame_pointers() {
    if requires::root() {
        let _alone = lock::exclusive();
        let recorded = shares(3, Variant::default(), "fp", SHORT_RUN);
        recorded.folded.only("leaf_60").assert_every_stack_holds("main");
        recorded.folded.only("leaf_10").assert_every_stack_holds("main");
    }
}

#[test]
fn root_shares_without_frame_pointers() {
    if requires::root() {
        let _alone = lock::exclusive();
        for call_graph in ["dwarf", "auto"] {
            assert_whole(&shares(3, Variant::without_frame_pointers(), call_graph, SHORT_RUN));
        }
    }
}

#[test]
fn root_auto_is_whole_with_frame_pointers_too() {
    if requires::root() {
        let _alone = lock::exclusive();
        assert_whole(&shares(2, Variant::default(), "auto", SHORT_RUN));
    }
}

#[test]
#[ignore = "slow: run by `make truth`"]
fn truth_shares_within_one_point_in_twenty_seconds() {
    let _alone = lock::exclusive();
    for variant in [Variant::default(), Variant::without_frame_pointers()] {
        for call_graph in ["dwarf", "auto"] {
            assert_whole(&shares(20, variant, call_graph, 1.0));
        }
    }
    let recorded = shares(20, Variant::default(), "fp", 1.0);
    for leaf in ["leaf_60", "leaf_30", "leaf_10"] {
        recorded.folded.only(leaf).assert_every_stack_holds("main");
    }
}

#[test]
fn root_threads_and_processes_are_credited_with_their_own() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let program = workload::SHARES.build(Variant::without_frame_pointers());
    let copy = tempfile::tempdir().unwrap();
    let other = copy.path().join("another");
    testkit::build::copy_program(&program, &other);
    let cases: [(&[&str], [&str; 2]); 3] = [
        (&["--threads"], ["in_thread_a", "in_thread_b"]),
        (&["--processes"], ["in_parent", "in_child"]),
        (&["--exec", other.to_str().unwrap()], ["in_parent", "in_exec"]),
    ];
    for (form, functions) in cases {
        let command = [&[program.to_str().unwrap(), "3"], form].concat();
        let recorded = record_command(&["-F", "4999", "-e", "cpu-clock"], &command);
        let truth: Vec<f64> = recorded.finished.truth().numbers("cpu_ns");
        for (function, cpu_ns) in functions.into_iter().zip(truth) {
            let seen: u64 = recorded.folded.only(function).total();
            let ratio = seen as f64 / cpu_ns;
            assert!(
                (0.94..1.04).contains(&ratio),
                "{form:?}: {function} has {seen} ns of {cpu_ns}\n{}",
                recorded.finished
            );
        }
        match form[0] {
            "--threads" => {
                recorded.folded.only("in_thread_a").assert_every_stack_holds("thread-a");
                recorded.folded.only("in_thread_b").assert_every_stack_holds("thread-b");
            }
            "--exec" => recorded.folded.only("in_exec").assert_every_stack_holds("another"),
            _ => recorded.folded.only("in_child").assert_every_stack_holds("shares"),
        }
    }
}
