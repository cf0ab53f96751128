//! What is written, where, and what is said about it.

use crate::{flamel, record_command};
use testkit::{Variant, requires, workload};

#[test]
fn root_a_picture_by_default_and_a_summary() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let folder = tempfile::tempdir().unwrap();
    let finished = flamel().arg("record").arg("--").arg(&program).arg("1").dir(folder.path()).finish().success();
    let svg = std::fs::read_to_string(folder.path().join("flame.svg")).unwrap();
    assert!(svg.contains("leaf_60") && svg.contains("<svg"), "no picture");
    for word in ["leaf_60", "flame.svg", "main"] {
        assert!(finished.stderr.contains(word), "{}", finished.stderr);
    }
    // Standard output belongs to the command.
    assert!(finished.stdout_text().starts_with("truth "), "{}", finished.stdout_text());
    let quiet =
        flamel().args(["record", "-q"]).arg("--").arg(&program).arg("0.3").dir(folder.path()).finish().success();
    assert_eq!(quiet.stderr, "");
}

#[test]
fn root_each_of_several_events_has_its_own_file() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let folder = tempfile::tempdir().unwrap();
    flamel()
        .args(["record", "-e", "cpu-clock,page-faults", "-o", "x.folded", "-o", "y.svg", "-o", "z.pb.gz"])
        .arg("--")
        .arg(&program)
        .arg("0.5")
        .dir(folder.path())
        .finish()
        .success();
    for name in ["x.EVENT.folded", "y.EVENT.svg", "z.EVENT.pb.gz"] {
        for event in ["cpu-clock", "page-faults"] {
            let path = folder.path().join(name.replace("EVENT", event));
            assert!(path.exists(), "{}", path.display());
        }
    }
}

#[test]
fn root_tracepoints_and_breakpoints() {
    if !requires::root() || !requires::tracefs() {
        return;
    }
    let program = workload::SLEEPY.build(Variant::default());
    let recorded = record_command(&["-e", "sched:sched_switch"], &[program.to_str().unwrap(), "0.5"]);
    // One sample, one weight: each switch counts.
    let sleeps = recorded.folded.only("sleeps_here");
    assert!((1..100).contains(&sleeps.total()), "{}", recorded.folded.largest(5));
    let page = record_command(&["-e", "page-faults", "-c", "1"], &[program.to_str().unwrap(), "0.1"]);
    let faults = page.folded.total();
    assert!(faults > 20, "{}", page.folded.largest(5));
    // One sample in ten, each with the weight of ten.
    let tenth = record_command(&["-e", "page-faults", "-c", "10"], &[program.to_str().unwrap(), "0.1"]);
    let weights = tenth.folded.stacks.iter().map(|stack| stack.weight);
    assert!(weights.clone().all(|weight| weight % 10 == 0), "{}", tenth.folded.largest(5));
    let estimate = weights.sum::<u64>();
    assert!(estimate.abs_diff(faults) <= faults / 3 + 10, "{estimate} of {faults}");
}
