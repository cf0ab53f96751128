//! Whose work is sampled.

use crate::{record, record_command};
use testkit::{Folded, Run, Variant, lock, requires, workload};

#[test]
fn root_a_running_process_with_its_threads_and_children() {
    if !requires::root() {
        return;
    }
    let program = workload::THREADS.build(Variant::without_frame_pointers());
    let mut running = Run::new(&program).args(["30", "--threads", "3", "--odd-name"]).start();
    let pid = running.pid().to_string();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let recorded = record(&["-p", &pid, "-d", "1"], []);
    assert!(recorded.folded.share_of("spin_in_thread") > 95.0, "{}", recorded.folded.largest(5));
    let names: std::collections::BTreeSet<&str> =
        recorded.folded.stacks.iter().map(|stack| stack.frames[0].as_str()).collect();
    // Neither `;` nor a byte that is no text breaks the line.
    assert!(names.contains("odd:\\xff \\xe9name"), "{names:?}");
    assert!(running.is_running());
}

#[test]
fn root_one_thread_of_several() {
    if !requires::root() {
        return;
    }
    let program = workload::THREADS.build(Variant::default());
    let running = Run::new(&program).args(["30", "--threads", "3"]).start();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let tasks = std::fs::read_dir(format!("/proc/{}/task", running.pid())).unwrap();
    let tids: Vec<String> = tasks.map(|task| task.unwrap().file_name().into_string().unwrap()).collect();
    let recorded = record(&["-t", tids.last().unwrap(), "-d", "1", "--no-inherit"], []);
    // One of three threads on two CPUs cannot have used more than the time there was.
    assert!(recorded.folded.total() < 1_100_000_000, "{}", recorded.folded.total());
    assert!(recorded.folded.share_of("spin_in_thread") > 95.0);
}

#[test]
fn root_the_whole_system_and_single_cpus() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let program = workload::THREADS.build(Variant::without_frame_pointers());
    let _running = Run::new(&program).args(["30", "--threads", "2", "--name", "busy"]).start();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let all = record(&["-a", "-d", "1"], []);
    assert!(all.folded.only("busy").total() > 500_000_000, "{}", all.folded.largest(5));
    let inside = all.folded.only("spin_in_thread");
    inside.assert_every_stack_holds("busy");
    let one = record(&["-C", "0", "-d", "1"], []);
    assert!(one.folded.total() < 1_100_000_000, "{}", one.folded.total());
}

#[test]
fn root_children_are_left_out_when_told() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let path = program.to_str().unwrap();
    let alone = record_command(&["--no-inherit"], &[path, "1", "--processes"]);
    assert_eq!(alone.folded.share_of("in_child"), 0.0);
    assert!(alone.folded.share_of("in_parent") > 90.0);
}

#[test]
fn root_two_thousand_short_processes() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let program = workload::STORM.build(Variant::without_frame_pointers());
    let recorded =
        record_command(&["-F", "4999"], &[program.to_str().unwrap(), "10", "--processes", "2000", "--spin-us", "2000"]);
    let cpu_ns: f64 = recorded.finished.truth().number("cpu_ns");
    let inside = recorded.folded.only("in_short_process");
    inside.assert_every_stack_holds("main");
    inside.assert_every_stack_holds("_start");
    // The truth is the children's; starting them costs the parent about as much again.
    let seen = recorded.folded.total() as f64 / cpu_ns;
    assert!((0.9..2.0).contains(&seen), "{seen} of {cpu_ns}\n{}", recorded.finished.stderr);
    let nameless = recorded.folded.share_where(|stack| stack.frames.iter().any(|frame| frame.starts_with("[unknown")));
    assert!(nameless < 1.0, "{nameless} %: {}", recorded.folded.largest(20));
}

#[test]
fn root_five_hundred_threads() {
    if !requires::root() {
        return;
    }
    let program = workload::THREADS.build(Variant::default());
    let path = program.to_str().unwrap();
    let launched = record_command(&["-F", "1999"], &[path, "3", "--threads", "500", "--pause-us", "1000"]);
    assert!(launched.folded.share_of("spin_in_thread") > 50.0, "{}", launched.folded.largest(5));
    let running = Run::new(&program).args(["30", "--threads", "500", "--pause-us", "1000"]).start();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let attached = record(&["-p", &running.pid().to_string(), "-d", "1"], []);
    assert!(attached.folded.share_of("spin_in_thread") > 50.0, "{}", attached.folded.largest(5));
    // No thread is counted twice: two CPUs cannot do more than two seconds in one.
    let cpus = std::thread::available_parallelism().unwrap().get() as u64;
    assert!(attached.folded.total() < cpus * 1_150_000_000, "{}", attached.folded.total());
}

#[test]
fn root_a_binary_that_was_deleted_or_replaced() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::without_frame_pointers());
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("shares");
    testkit::build::copy_program(&program, &copy);
    let running = Run::new(&copy).arg("30").start();
    std::thread::sleep(std::time::Duration::from_millis(300));
    std::fs::remove_file(&copy).unwrap();
    let pid = running.pid().to_string();
    let deleted = record(&["-p", &pid, "-d", "1"], []);
    deleted.folded.only("leaf_60").assert_every_stack_holds("main");
    assert!(deleted.folded.share_of("leaf_60") > 40.0);
    // Another program under the same path must not lend its names.
    std::fs::copy("/bin/true", &copy).unwrap();
    let replaced = record(&["-p", &pid, "-d", "1"], []);
    assert!(replaced.folded.share_of("leaf_60") > 40.0, "{}", replaced.folded.largest(5));
}

#[test]
fn root_a_program_that_only_its_own_mount_namespace_has() {
    if !requires::root() || !requires::program("unshare", "util-linux") {
        return;
    }
    let program = workload::SHARES.build(Variant::without_frame_pointers());
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "mount -t tmpfs none {0} && cp {1} {0}/hidden && exec {0}/hidden 30",
        folder.path().display(),
        program.display()
    );
    let running = Run::new("unshare").args(["-m", "sh", "-c", &script]).start();
    std::thread::sleep(std::time::Duration::from_millis(700));
    assert!(!folder.path().join("hidden").exists());
    let recorded = record(&["-p", &running.pid().to_string(), "-d", "1"], []);
    recorded.folded.only("leaf_60").assert_every_stack_holds("main");
    assert!(recorded.folded.share_of("leaf_60") > 40.0, "{}", recorded.folded.largest(5));
}

#[test]
fn root_a_process_and_the_children_that_it_starts() {
    if !requires::root() {
        return;
    }
    let program = workload::STORM.build(Variant::default());
    let running = Run::new(&program).args(["30", "--processes", "3000", "--spin-us", "3000"]).start();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = running.pid().to_string();
    let with = record(&["-p", &pid, "-d", "1", "-F", "1999"], []);
    assert!(with.folded.share_of("in_short_process") > 10.0, "{}", with.folded.largest(5));
    let without = record(&["-p", &pid, "-d", "1", "-F", "1999", "--no-inherit"], []);
    assert_eq!(without.folded.share_of("in_short_process"), 0.0, "{}", without.folded.largest(5));
}

#[test]
fn root_idle_cpus_are_left_out_unless_asked_for() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let without = record(&["-a", "-d", "1"], []);
    assert_eq!(without.folded.only("swapper").total(), 0);
    assert!(without.finished.stderr.contains("idle CPUs left out"), "{}", without.finished.stderr);
    let with = record(&["-a", "-d", "1", "--idle"], []);
    let idle: u64 = with.folded.stacks.iter().filter(|s| s.frames[0].starts_with("swapper")).map(|s| s.weight).sum();
    assert!(idle > 100_000_000, "{}", with.folded.largest(5));
}

#[test]
fn own_processes_without_root() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::without_frame_pointers());
    let folder = tempfile::tempdir().unwrap();
    let (nobody, out) = (65534, folder.path().join("out.folded"));
    std::os::unix::fs::chown(folder.path(), Some(nobody), Some(nobody)).unwrap();
    // Builds lie where others may not look; a copy does not.
    let copies =
        [(program.as_path(), "shares"), (env!("CARGO_BIN_EXE_flamel").as_ref(), "flamel")].map(|(from, name)| {
            let to = folder.path().join(name);
            testkit::build::copy_program(from, &to);
            to
        });
    let finished = Run::new(&copies[1])
        .user(nobody, nobody)
        .args(["record", "-o"])
        .arg(&out)
        .arg("--")
        .arg(&copies[0])
        .arg("1")
        .finish()
        .success();
    assert!(finished.stderr.contains("kernel"), "{}", finished.stderr);
    let folded = Folded::read(&out);
    folded.only("leaf_60").assert_every_stack_holds("_start");
    let refused = Run::new(&copies[1]).user(nobody, nobody).args(["record", "-a", "-d", "1", "-o"]).arg(&out).finish();
    let refused = refused.exits_with(2);
    assert!(refused.stderr.contains("perf_event_paranoid"), "{}", refused.stderr);
}
