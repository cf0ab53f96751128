//! What runs in a cgroup, and nothing else.

use crate::{flamel, record};
use std::path::Path;
use std::time::Duration;
use testkit::{Cgroup, Folded, Run, Running, Signal, Variant, cgroup, lock, requires, workload};

/// A busy program, whose threads bear this name.
fn busy(name: &str) -> Running {
    let program = workload::THREADS.build(Variant::without_frame_pointers());
    Run::new(program).args(["30", "--threads", "1", "--name", name]).start()
}

fn assert_only_inside(folded: &Folded) {
    assert_eq!(folded.only("outside").total(), 0, "{}", folded.largest(5));
    assert!(folded.share_of("spin_in_thread") > 90.0, "{}", folded.largest(5));
}

/// By name and by folder, on all CPUs and on some, with and without a command.
fn check_hierarchy(root: &Path) {
    let made = Cgroup::make(root, "made").unwrap();
    let (inside, _outside) = (busy("inside"), busy("outside"));
    made.take_in(inside.pid());
    std::thread::sleep(Duration::from_millis(300));
    assert_only_inside(&record(&["--cgroup", made.name(), "-d", "0.5"], []).folded);
    let twice = format!("{},/{}", made.folder().display(), made.name());
    let recorded = record(&["--cgroup", &twice, "-d", "0.5"], []);
    assert_only_inside(&recorded.folded);
    // A cgroup that is named twice is not counted twice: one thread cannot do more.
    assert!(recorded.folded.total() < 600_000_000, "{}", recorded.folded.total());
    let during = record(&["--cgroup", made.name(), "-C", "0-1", "-d", "0.5"], ["--", "sleep", "10"]);
    assert_only_inside(&during.folded);
    drop(inside);
}

#[test]
fn root_cgroups_of_version_2() {
    if !requires::root() || !requires::cgroup_v2() || !requires::cpus(2) {
        return;
    }
    let _alone = lock::exclusive();
    check_hierarchy(&cgroup::version_2().unwrap());
}

#[test]
fn root_cgroups_of_version_1() {
    if !requires::root() || !requires::cpus(2) {
        return;
    }
    let Some(mounted) = requires::perf_event_v1() else { return };
    check_hierarchy(mounted.root());
}

#[test]
fn root_a_cgroup_by_whose_hierarchy_the_kernel_does_not_count() {
    if !requires::root() || !requires::cgroup_v2() {
        return;
    }
    let Some(mounted) = requires::perf_event_v1() else { return };
    let made = Cgroup::make(&cgroup::version_2().unwrap(), "other").unwrap();
    let refused = flamel().args(["record", "--cgroup", made.name(), "-d", "1"]).finish().exits_with(2);
    assert!(refused.stderr.contains("no process is in it"), "{refused}");
    let (inside, _outside) = (busy("inside"), busy("outside"));
    made.take_in(inside.pid());
    std::thread::sleep(Duration::from_millis(300));
    let recorded = record(&["--cgroup", made.name(), "-d", "0.5"], []);
    assert_only_inside(&recorded.folded);
    let stderr = &recorded.finished.stderr;
    let told = stderr.contains("join later are missed") && stderr.contains(mounted.root().to_str().unwrap());
    assert!(told, "{stderr}");
    drop(inside);
}

#[test]
fn root_a_command_that_joins_a_cgroup_is_sampled_from_then_on_and_weighed_right() {
    if !requires::root() || !requires::cgroup_v2() {
        return;
    }
    let _alone = lock::exclusive();
    let made = Cgroup::make(&cgroup::version_2().unwrap(), "joined").unwrap();
    let program = workload::THREADS.build(Variant::without_frame_pointers());
    let script = format!(
        "echo $$ > {}/cgroup.procs && exec {} 2 --threads 2 --name inside",
        made.folder().display(),
        program.display()
    );
    let recorded = record(&["--cgroup", made.name()], ["--", "sh", "-c", &script]);
    let cpu_ns: f64 = recorded.finished.truth().number("cpu_ns");
    let ratio = recorded.folded.total() as f64 / cpu_ns;
    assert!((0.9..1.1).contains(&ratio), "{ratio} of the CPU time\n{}", recorded.finished);
    assert!(recorded.folded.share_of("spin_in_thread") > 95.0, "{}", recorded.folded.largest(5));
}

#[test]
fn root_a_cgroup_that_empties_does_not_end_the_recording() {
    if !requires::root() || !requires::cgroup_v2() {
        return;
    }
    let made = Cgroup::make(&cgroup::version_2().unwrap(), "emptied").unwrap();
    let inside = busy("inside");
    made.take_in(inside.pid());
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.folded");
    let mut recording = flamel().args(["record", "--cgroup", made.name(), "-o"]).arg(&out).start();
    std::thread::sleep(Duration::from_millis(1200));
    drop(inside);
    std::thread::sleep(Duration::from_millis(500));
    assert!(recording.is_running());
    recording.signal(Signal::INT);
    recording.finish().success();
    assert_only_inside(&Folded::read(&out));
}

#[test]
fn root_a_cgroup_by_its_last_name_alone_is_refused_with_the_whole() {
    if !requires::root() || !requires::cgroup_v2() {
        return;
    }
    let outer = Cgroup::make(&cgroup::version_2().unwrap(), "outer").unwrap();
    let inner = Cgroup::make(outer.folder(), "inner").unwrap();
    let refused = flamel().args(["record", "--cgroup", inner.name(), "-d", "1"]).finish().exits_with(2);
    let whole = format!("there is `{}/{}`", outer.name(), inner.name());
    assert!(refused.stderr.contains(&whole), "{refused}");
}
