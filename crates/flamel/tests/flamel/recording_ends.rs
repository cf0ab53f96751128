//! How a recording ends other than well: flamel killed, the disk full, nothing to record. What was
//! recorded before is kept, and an older file is not harmed.

use crate::flamel;
use std::path::Path;
use std::time::Duration;
use testkit::{Run, Running, Signal, Variant, lock, requires, workload};

/// The time of the last sample, in nanoseconds of CLOCK_MONOTONIC, as flamel and perf tell it.
fn last_samples(data: &Path) -> [u64; 2] {
    let ours = flamel().arg("script").arg(data).args(["-F", "time", "--ns"]);
    let theirs = Run::new(requires::find("perf").unwrap()).args(["script", "-F", "time", "--ns", "-i"]).arg(data);
    [ours, theirs].map(|run| {
        let printed = run.finish().success().stdout_text();
        let last = printed.lines().last().unwrap_or_else(|| panic!("no samples in `{}`", data.display()));
        let (seconds, ns) = last.trim().trim_end_matches(':').split_once('.').unwrap();
        seconds.parse::<u64>().unwrap() * 1_000_000_000 + ns.parse::<u64>().unwrap()
    })
}

/// Starts recording a program to x.data, and lets it go on for a while.
fn begin(folder: &Path, options: &[&str], program: &Path) -> Running {
    let run = flamel().args(["record", "-e", "cpu-clock", "-o", "x.data"]).args(options);
    let running = run.arg("--").arg(program).arg("60").dir(folder).start();
    std::thread::sleep(Duration::from_millis(2500));
    running
}

fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[test]
fn root_a_killed_recording_is_readable_up_to_the_last_second() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let _alone = lock::exclusive();
    let program = workload::SHARES.build(Variant::default());
    for compress in [&[][..], &["-z"]] {
        let folder = tempfile::tempdir().unwrap();
        let running = begin(folder.path(), compress, &program);
        let killed = now_ns();
        running.signal(Signal::KILL);
        assert_eq!(running.finish().killed_by(), Some(9));
        let data = folder.path().join("x.data");
        for last in last_samples(&data) {
            // Half a second is what is held back at most; the rest is for a busy machine.
            assert!(last + 1_000_000_000 > killed, "{} ms are missing", killed.saturating_sub(last) / 1_000_000);
        }
        let folded = flamel().arg("fold").arg(&data).finish().success().stdout_text();
        assert!(folded.contains("leaf_60"), "{folded}");
    }
}

#[test]
fn root_an_older_recording_stays_until_the_new_one_is_whole() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let folder = tempfile::tempdir().unwrap();
    let [data, part] = ["x.data", "x.data.part"].map(|name| folder.path().join(name));
    std::fs::write(&data, "the recording before").unwrap();
    let running = begin(folder.path(), &[], &program);
    running.signal(Signal::KILL);
    running.finish();
    assert_eq!(std::fs::read_to_string(&data).unwrap(), "the recording before");
    last_samples(&part);
    // The next one takes another name meanwhile, and the right one in the end.
    let run = flamel().args(["record", "-e", "cpu-clock", "-o", "x.data", "--"]).arg(&program).arg("0.5");
    run.dir(folder.path()).finish().success();
    last_samples(&data);
    last_samples(&part);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn root_without_samples_there_is_no_recording() {
    if !requires::root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = || flamel().args(["record", "-o", "x.data", "-e"]).dir(folder.path());
    let finished = run().args(["alignment-faults", "--", "sleep", "0.3"]).finish().exits_with(1);
    assert!(finished.stderr.contains("no samples"), "{finished}");
    run().args(["cpu-clock", "--", "/no/such/command"]).finish().exits_with(2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // Nor is an older one lost to it.
    std::fs::write(folder.path().join("x.data"), "the recording before").unwrap();
    run().args(["alignment-faults", "--", "sleep", "0.3"]).finish().exits_with(1);
    assert_eq!(std::fs::read_to_string(folder.path().join("x.data")).unwrap(), "the recording before");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn root_a_full_disk_ends_the_recording_and_keeps_what_was_recorded() {
    if !requires::root() || !requires::perf() || !requires::tracefs() {
        return;
    }
    full_disk("256k", &["-e", "cpu-clock"]);
    full_disk("1m", &["-e", "cpu-clock", "-z"]);
    full_disk("512k", &["-e", "cpu-clock,sched:sched_switch", "--call-graph", "fp"]);
}

fn full_disk(size: &str, options: &[&str]) {
    let built = workload::SHARES.build(Variant::without_frame_pointers());
    let folder = tempfile::tempdir().unwrap();
    let mounted = crate::errors::Mounted::tmpfs(folder.path(), size);
    let elsewhere = tempfile::tempdir().unwrap();
    let program = elsewhere.path().join("on_a_full_disk");
    testkit::build::copy_program(&built, &program);
    let data = mounted.path().join("x.data");
    let run = flamel().args(["record", "-F", "4999"]).args(options).arg("-o").arg(&data).arg("--");
    let finished = run.arg(&program).arg("60").finish().exits_with(1);
    for word in ["write", "x.data", "what was recorded before", "No space left"] {
        assert!(finished.stderr.contains(word), "`{word}` is not in:\n{finished}");
    }
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| std::fs::read_link(entry.ok()?.path().join("exe")).ok());
    assert!(!processes.into_iter().any(|exe| exe == program), "the command was left running");
    let ours = flamel().arg("script").arg(&data).args(["-F", "time", "--ns"]).finish().success();
    let perf = Run::new(requires::find("perf").unwrap()).args(["script", "-F", "time", "--ns", "-i"]).arg(&data);
    let theirs = perf.finish().success();
    assert_eq!((&ours.stderr[..], &theirs.stderr[..]), ("", ""), "{options:?}");
    let ours = ours.stdout_text();
    assert!(ours.lines().count() > 100, "{options:?}: {} samples", ours.lines().count());
    assert_eq!(ours, theirs.stdout_text(), "{options:?}");
}
