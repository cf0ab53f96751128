//! Targets that are looked up: the processes of a user or of a name. And what does not go together.

use crate::{flamel, record};
use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use testkit::{Folded, Run, Variant, lock, requires, workload};

/// Debian's user for what should own nothing.
const NOBODY: u32 = 65534;

/// Builds lie where others may not look; copies in here do not.
fn folder_of_nobody() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    folder
}

fn copied(program: &Path, folder: &TempDir, name: &str) -> PathBuf {
    let copy = folder.path().join(name);
    testkit::build::copy_program(program, &copy);
    copy
}

#[test]
fn root_all_processes_of_a_user_until_they_end() {
    if !requires::root() {
        return;
    }
    let program = workload::THREADS.build(Variant::without_frame_pointers());
    let folder = folder_of_nobody();
    let copy = copied(&program, &folder, "threads");
    let words = |name| ["30", "--threads", "1", "--name", name];
    let _outside = Run::new(&program).args(words("outside")).start();
    let inside = Run::new(&copy).user(NOBODY, NOBODY).args(words("inside")).start();
    std::thread::sleep(Duration::from_millis(300));
    for user in ["nobody", "65534"] {
        let recorded = record(&["--uid", user, "-d", "0.5"], []);
        assert_eq!(recorded.folded.only("outside").total(), 0, "{}", recorded.folded.largest(5));
        assert!(recorded.folded.only("inside").share_of("spin_in_thread") > 90.0, "{}", recorded.folded.largest(5));
    }
    let out = folder.path().join("out.folded");
    let recording = flamel().args(["record", "--uid", "nobody", "-o"]).arg(&out).start();
    std::thread::sleep(Duration::from_millis(1200));
    drop(inside);
    recording.finish().success();
    assert!(Folded::read(&out).only("inside").total() > 0);
}

#[test]
fn root_all_processes_of_a_name_until_they_end() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let folder = tempfile::tempdir().unwrap();
    // The kernel keeps 15 bytes of it.
    let name = "flamel-by-name-of-16";
    let named = copied(&program, &folder, name);
    let _others = Run::new(&program).arg("6").start();
    let _first = Run::new(&named).arg("6").start();
    let _second = Run::new(&named).arg("5").start();
    std::thread::sleep(Duration::from_millis(300));
    let recorded = record(&["--comm", name], []);
    let processes: BTreeSet<&str> = recorded.folded.stacks.iter().map(|stack| stack.frames[0].as_str()).collect();
    assert_eq!(processes.into_iter().collect::<Vec<_>>(), ["flamel-by-name-"], "{}", recorded.folded.largest(5));
    assert!(recorded.folded.share_of("leaf_60") > 40.0, "{}", recorded.folded.largest(5));
}

#[test]
fn root_flamel_itself_is_left_out_when_told() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let fast = ["-a", "-d", "1", "-F", "4999", "--call-graph", "fp"];
    let program = workload::THREADS.build(Variant::default());
    // Two busy threads make flamel work.
    let _busy = Run::new(&program).args(["30", "--threads", "2", "--name", "busy"]).start();
    std::thread::sleep(Duration::from_millis(300));
    let with = record(&fast, []);
    assert!(with.folded.only("flamel").total() > 0, "{}", with.folded.largest(5));
    for option in ["--exclude-self", "--exclude-perf"] {
        let without = record(&fast, [option]);
        assert_eq!(without.folded.only("flamel").total(), 0, "{}", without.folded.largest(5));
        let told = without.finished.stderr.contains("samples of flamel itself left out");
        assert!(told, "{}", without.finished.stderr);
        assert!(without.folded.only("busy").total() > 100_000_000, "{}", without.folded.largest(5));
    }
}

#[test]
fn root_targets_that_are_not_there_or_do_not_go_together() {
    if !requires::root() {
        return;
    }
    for (options, words) in [
        (&["--uid", "no-such-user"][..], &["no-such-user", "/etc/passwd", "number"][..]),
        (&["--uid", "4000000123"], &["no process of this user"]),
        (&["--comm", "no such name"], &["no such name", "none of this name"]),
        (&["--cgroup", "no/such/cgroup"], &["no/such/cgroup"]),
        (&["--uid", "root", "-p", "1"], &["--uid", "cannot be used with", "--pid"]),
        (&["--comm", "x", "-a"], &["--comm", "cannot be used with", "--all-cpus"]),
        (&["--cgroup", "x", "-t", "1"], &["--cgroup", "cannot be used with", "--tid"]),
        (&["--uid", "root", "-C", "0"], &["--uid", "cannot be used with", "--cpu"]),
        (&["--cgroup", "x", "--no-inherit"], &["cannot be used with"]),
        (&["--exclude-self", "-p", "1"], &["cannot be used with"]),
        (&["--exclude-self", "--", "true"], &["--exclude-self", "-a"]),
        (&["--cgroup", ""], &["--cgroup"]),
    ] {
        let refused = flamel().arg("record").args(options).finish().exits_with(2);
        assert!(words.iter().all(|word| refused.stderr.contains(word)), "{words:?} in: {refused}");
    }
}

#[test]
fn root_too_many_threads_for_the_open_files_is_no_fault_of_the_request() {
    if !requires::root() || !requires::program("prlimit", "util-linux") {
        return;
    }
    let program = workload::THREADS.build(Variant::default());
    let running = Run::new(&program).args(["30", "--threads", "30", "--pause-us", "1000"]).start();
    std::thread::sleep(Duration::from_millis(300));
    let pid = running.pid().to_string();
    let limited = Run::new("prlimit").args(["--nofile=40:40", env!("CARGO_BIN_EXE_flamel"), "record", "-p", &pid]);
    let refused = limited.finish().exits_with(1);
    assert!(refused.stderr.contains("open file"), "{refused}");
}

#[test]
fn root_what_a_user_may_not_observe_of_the_own_processes_is_left_out() {
    if !requires::root() {
        return;
    }
    let program = workload::THREADS.build(Variant::default());
    let folder = folder_of_nobody();
    let open = copied(&program, &folder, "open");
    let secret = copied(&program, &folder, "secret");
    // The kernel shows nobody what a program does that its user may run, but not read.
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o111)).unwrap();
    let as_nobody = |program: &Path| Run::new(program).user(NOBODY, NOBODY);
    let words = |name| ["30", "--threads", "1", "--name", name];
    let _secret = as_nobody(&secret).args(words("secret")).start();
    let _open = as_nobody(&open).args(words("open")).start();
    std::thread::sleep(Duration::from_millis(300));
    let (out, flamel) =
        (folder.path().join("out.folded"), copied(env!("CARGO_BIN_EXE_flamel").as_ref(), &folder, "flamel"));
    let recorded = as_nobody(&flamel).args(["record", "--uid", "nobody", "-d", "1", "-o"]).arg(&out).finish().success();
    assert!(recorded.stderr.contains("of the processes are left out"), "{recorded}");
    let folded = Folded::read(&out);
    assert!(folded.only("open").total() > 0 && folded.only("secret").total() == 0, "{}", folded.largest(5));
}
