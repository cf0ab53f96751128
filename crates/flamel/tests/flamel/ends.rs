//! However a recording ends: a whole output of what was recorded, and the right exit code.

use crate::flamel;
use std::time::Duration;
use testkit::{Folded, Run, Running, Signal, Variant, requires, workload};

struct Begun {
    running: Running,
    folder: tempfile::TempDir,
}

fn begin(options: &[&str], command: &[&str]) -> Begun {
    let folder = tempfile::tempdir().unwrap();
    let mut run = flamel().arg("record").args(options).arg("-o").arg(folder.path().join("out.folded"));
    if !command.is_empty() {
        run = run.arg("--").args(command);
    }
    let running = run.start();
    std::thread::sleep(Duration::from_millis(1200));
    Begun { running, folder }
}

impl Begun {
    fn folded(&self) -> Folded {
        Folded::read(self.folder.path().join("out.folded"))
    }
}

#[test]
fn root_ctrl_c_stops_and_writes() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let begun = begin(&[], &[program.to_str().unwrap(), "60"]);
    begun.running.signal_group(Signal::INT);
    let Begun { running, folder } = begun;
    running.finish().exits_with(128 + 2);
    let folded = Folded::read(folder.path().join("out.folded"));
    assert!(folded.share_of("leaf_60") > 40.0);
}

#[test]
fn root_sigterm_stops_and_writes_and_ends_the_command() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let begun = begin(&[], &[program.to_str().unwrap(), "60"]);
    begun.running.signal(Signal::TERM);
    let Begun { running, folder } = begun;
    running.finish().exits_with(128 + 15);
    assert!(Folded::read(folder.path().join("out.folded")).share_of("leaf_60") > 40.0);
}

#[test]
fn root_ctrl_c_of_an_attached_recording_is_success() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let target = Run::new(program).arg("60").start();
    let begun = begin(&["-p", &target.pid().to_string()], &[]);
    begun.running.signal(Signal::INT);
    let Begun { running, folder } = begun;
    running.finish().success();
    assert!(Folded::read(folder.path().join("out.folded")).share_of("leaf_60") > 40.0);
}

#[test]
fn root_a_target_that_ends_ends_the_recording() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let target = Run::new(program).arg("2").start();
    let begun = begin(&["-p", &target.pid().to_string()], &[]);
    target.finish().success();
    let Begun { running, folder } = begun;
    running.finish().success();
    assert!(Folded::read(folder.path().join("out.folded")).share_of("leaf_60") > 40.0);
}

#[test]
fn root_the_time_is_up() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let begun = begin(&["-d", "1"], &[program.to_str().unwrap(), "60"]);
    let folded = || begun.folded();
    let total_before = std::time::Instant::now();
    while !begun.folder.path().join("out.folded").exists() && total_before.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(folded().share_of("leaf_60") > 40.0);
    let Begun { running, .. } = begun;
    running.finish().success();
}

#[test]
fn root_a_delay_leaves_the_start_out() {
    if !requires::root() {
        return;
    }
    let _alone = testkit::lock::exclusive();
    let program = workload::SHARES.build(Variant::default());
    let recorded = crate::record_command(&["--delay", "1"], &[program.to_str().unwrap(), "2"]);
    let seconds = recorded.folded.total() as f64 / 1e9;
    assert!((0.3..1.1).contains(&seconds), "{seconds} s");
    recorded.folded.only("leaf_60").assert_every_stack_holds("_start");
}

#[test]
fn root_the_commands_own_code_is_passed_on() {
    if !requires::root() {
        return;
    }
    let program = workload::ENDS.build(Variant::default());
    let folder = tempfile::tempdir().unwrap();
    for (end, code) in [(["--code", "7"], 7), (["--signal", "6"], 128 + 6), (["--signal", "9"], 128 + 9)] {
        let finished = flamel()
            .args(["record", "-o"])
            .arg(folder.path().join("x.svg"))
            .arg("--")
            .arg(&program)
            .arg("0.5")
            .args(end)
            .finish();
        finished.exits_with(code);
    }
    let begun = begin(&[], &[program.to_str().unwrap(), "0.5", "--vfork"]);
    let Begun { running, folder } = begun;
    running.finish().success();
    assert!(Folded::read(folder.path().join("out.folded")).share_of("in_vforked") > 50.0);
}

#[test]
fn root_a_second_request_skips_naming_and_a_third_ends_it() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let begun = begin(&[], &[program.to_str().unwrap(), "60"]);
    // Three signals at once: the second is seen before naming, the third lets the default act.
    begun.running.signal(Signal::STOP);
    begun.running.signal(Signal::INT);
    begun.running.signal(Signal::TERM);
    begun.running.signal(Signal::CONT);
    let Begun { running, folder } = begun;
    let finished = running.finish();
    assert_ne!(finished.code(), Some(0), "{finished}");
    let folded = Folded::read(folder.path().join("out.folded"));
    assert_eq!(folded.share_of("leaf_60"), 0.0, "names were looked up");
    assert!(finished.stderr.contains("naming was skipped"), "{finished}");

    let begun = begin(&[], &[program.to_str().unwrap(), "60"]);
    begun.running.signal(Signal::STOP);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        begun.running.signal(signal);
    }
    begun.running.signal(Signal::CONT);
    let Begun { running, .. } = begun;
    assert!(running.finish().killed_by().is_some());
}
