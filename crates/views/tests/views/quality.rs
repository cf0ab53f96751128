//! What is said about a profile.

use crate::samples::{Build, event, server};
use model::{CallGraph, NameMissing, SampleLoss, StackEnd};
use views::quality::{sentences, subtitle};

#[test]
fn what_is_perfect_is_told_in_one_line() {
    let mut build = Build::plain();
    build.line("main;a", 1_234, 1_234);
    assert_eq!(sentences(&build.profile, event()), ["1,234 samples"]);
    assert_eq!(subtitle(&build.profile, event()), "1,234 samples");
    assert_eq!(sentences(&Build::plain().profile, event()), ["no samples"]);
}

#[test]
fn a_run_with_faults() {
    let profile = server();
    assert_eq!(
        sentences(&profile, event()),
        [
            "8,868 samples of cpu-clock, 8.895 s in all",
            "104 samples lost: the ring buffer was full (1.2 %); a larger ring (`-m 16M`) or a lower rate (`-F`) helps",
            "the kernel held the event back 2 times, for 12 ms summed over CPUs",
            "98.4 % of the stacks are whole",
            "1.6 % of the stacks are cut: deeper than the copied bytes; try `--call-graph dwarf,65528`",
            "0.5 % of the frames have no name (`libvendor.so.3`): no symbols cover the address (stripped binary); \
             install its debug symbols or build with `-g`",
        ]
    );
    assert_eq!(
        subtitle(&profile, event()),
        "cpu-clock · 8,868 samples · 8.895 s · 997 Hz · recorded for 10 s · 1.2 % lost · throttled 2 times · \
         1.6 % of the stacks cut · 0.5 % of the frames without a name"
    );
}

#[test]
fn the_largest_come_first_and_the_rest_is_summed() {
    let mut build = Build::cpu_clock();
    for (count, name) in (1..=6).zip(["a", "b", "c", "d", "e", "f"]) {
        let nameless = build.in_file(name, 0x10, Err(NameMissing::Stripped));
        build.push(None, StackEnd::Bottom, &[nameless], 1, count);
    }
    let lines = sentences(&build.profile, event());
    assert_eq!(lines.len(), 5);
    assert!(lines[1].starts_with("28.6 % of the frames have no name (`f`)"));
    assert_eq!(lines[4], "28.6 % of the frames have no name in 3 more places");
}

#[test]
fn files_whose_cure_is_the_same_are_one_line() {
    let mut build = Build::cpu_clock();
    for path in ["[kernel]", "/lib/modules/ext4.ko"] {
        let nameless = build.in_file(path, 0x10, Err(NameMissing::KernelHidden));
        build.push(None, StackEnd::Bottom, &[nameless], 1, 1);
    }
    let lines = sentences(&build.profile, event());
    assert_eq!(
        lines[1..],
        [
            "100 % of the frames have no name: the kernel hides its symbols; run as root or `sudo sysctl kernel.kptr_restrict=0`"
        ]
    );
}

#[test]
fn advice_fits_how_the_run_was_made() {
    let mut build = Build::cpu_clock();
    let f = build.location("f");
    build.push(None, StackEnd::FramePointersEnd, &[f], 1, 1);
    build.profile.recording.call_graph = Some(CallGraph::FramePointer);
    assert!(sentences(&build.profile, event())[2].ends_with("; try `--call-graph dwarf`"));
    build.profile.recording.call_graph = Some(CallGraph::Auto { stack_bytes: 16_384 });
    assert!(!sentences(&build.profile, event())[2].contains("try"));
    build.push(None, StackEnd::CopyTooShort, &[f], 9, 9);
    build.profile.recording.call_graph = Some(CallGraph::Dwarf { stack_bytes: 65_528 });
    assert!(sentences(&build.profile, event())[2].contains("the kernel copies no more"));
}

#[test]
fn every_reason_makes_a_sentence() {
    let mut build = Build::cpu_clock();
    let f = build.location("f");
    for end in StackEnd::ALL {
        build.push(None, *end, &[f], 1, 1);
    }
    for (offset, reason) in (0..).zip(NameMissing::ALL) {
        let nameless = build.in_file("x", offset, Err(*reason));
        build.push(None, StackEnd::Bottom, &[nameless], 1, 1);
    }
    SampleLoss::ALL.iter().for_each(|reason| build.profile.losses.add(*reason, 5));
    let lines = sentences(&build.profile, event());
    assert_eq!(lines.len(), 1 + SampleLoss::ALL.len() + 1 + 3 + 1 + 3 + 1);
    assert!(lines.iter().all(|line| !line.ends_with('.') && !line.contains("  ")));
}
