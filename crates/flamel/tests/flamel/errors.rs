//! Errors: one sentence, what and what to do, and the right exit code.

use crate::flamel;
use std::path::Path;
use testkit::{Variant, requires, workload};

fn refused(arguments: &[&str], code: i32, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let finished = flamel().args(arguments).dir(folder.path()).finish().exits_with(code);
    for word in expected {
        assert!(finished.stderr.contains(word), "`{word}` is not in:\n{finished}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?} was left behind");
}

#[test]
fn usage_errors_name_what_is_wrong() {
    refused(&[], 2, &["Usage"]);
    refused(&["record"], 2, &["say what to profile"]);
    refused(&["record", "--no-such-flag"], 2, &["--no-such-flag"]);
    refused(&["record", "-F", "0", "--", "true"], 2, &["--freq"]);
    refused(&["record", "-F", "10", "-c", "10", "--", "true"], 2, &["cannot be used with"]);
    refused(&["record", "-p", "1", "-a"], 2, &["cannot be used with"]);
    refused(&["record", "--call-graph", "lbr", "--", "true"], 2, &["auto"]);
    refused(&["record", "-d", "5parsecs", "--", "true"], 2, &["parsecs"]);
    refused(&["record", "-C", "3-1", "--", "true"], 2, &["-C"]);
    refused(&["record", "-C", "4000", "-d", "1"], 2, &["4000"]);
    refused(&["record", "-o", "x.png", "--", "true"], 2, &["png", "svg", "folded"]);
    refused(&["record", "-o", "no/such/folder/x.svg", "--", "true"], 2, &["no/such/folder", "mkdir"]);
    refused(&["record", "-o", "x.svg", "-o", "x.svg", "--", "true"], 2, &["twice"]);
    refused(&["record", "-o", "-", "--", "true"], 2, &["--format"]);
    refused(&["record", "--format", "png", "-o", "x", "--", "true"], 2, &["--format"]);
    refused(
        &["record", "-e", "cpu-clock,page-faults", "-o", "-", "--format", "folded", "--", "true"],
        2,
        &["several events"],
    );
    refused(&["record", "-e", "cpu-clock", "-e", "cpu-clock", "--", "true"], 2, &["twice"]);
    refused(&["record", "--colors", "mauve", "--", "true"], 2, &["hot"]);
}

#[test]
fn root_what_is_not_there_is_said_to_be_not_there() {
    if !requires::root() {
        return;
    }
    refused(&["record", "--", "/no/such/command"], 2, &["/no/such/command", "no such command"]);
    refused(&["record", "--", "no-such-command-at-all"], 2, &["no-such-command-at-all"]);
    refused(&["record", "--", "/etc/passwd"], 2, &["/etc/passwd", "executed"]);
    refused(&["record", "-p", "4000000", "-d", "1"], 2, &["4000000", "no process"]);
    refused(&["record", "-t", "4000000", "-d", "1"], 2, &["4000000", "no thread"]);
    refused(&["record", "-e", "cycels", "--", "true"], 2, &["cycels", "cycles"]);
    refused(&["record", "-e", "no_such_pmu/x=1/", "--", "true"], 2, &["no_such_pmu"]);
}

#[test]
fn root_hardware_events_without_hardware() {
    if !requires::root() || Path::new("/sys/bus/event_source/devices/cpu").exists() {
        return;
    }
    refused(&["record", "-e", "instructions", "--", "true"], 2, &["instructions", "cpu-clock"]);
    refused(&["record", "-e", "r1c2", "--", "true"], 2, &["r1c2"]);
}

#[test]
fn root_no_samples_says_why() {
    if !requires::root() {
        return;
    }
    refused(&["record", "-e", "alignment-faults", "--", "sleep", "0.3"], 1, &["no samples", "did not occur"]);
    let sleeper = testkit::Run::new("/bin/sleep").arg("30").start();
    refused(&["record", "-p", &sleeper.pid().to_string(), "-d", "0.5"], 1, &["no samples"]);
}

#[test]
fn input_that_is_no_profile() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let empty = write("empty", b"");
    let junk = write("junk", b"no stacks here\nnor here\n");
    let binary = write("binary", &[0, 159, 146, 150, 255]);
    refused(&["graph", &empty, "-o", "x.svg"], 2, &["empty"]);
    refused(&["graph", &junk, "-o", "x.svg"], 2, &["junk"]);
    refused(&["report", &junk], 2, &["junk"]);
    refused(&["graph", &binary, "-o", "x.svg"], 2, &["binary"]);
    refused(&["graph", "/no/such/file", "-o", "x.svg"], 2, &["/no/such/file"]);
    refused(&["graph", "/tmp", "-o", "x.svg"], 2, &["/tmp"]);
    refused(&["graph", &empty], 2, &["--output"]);
}

#[test]
fn root_a_full_disk_loses_nothing() {
    if !requires::root() {
        return;
    }
    let program = workload::SHARES.build(Variant::default());
    let folder = tempfile::tempdir().unwrap();
    let mounted = Mounted::tmpfs(folder.path(), "32k");
    let (old, spare) = (mounted.0.join("x.svg"), tempfile::tempdir().unwrap());
    std::fs::write(&old, "the picture before").unwrap();
    let finished = flamel()
        .args(["record", "-o"])
        .arg(&old)
        .arg("--")
        .arg(&program)
        .arg("0.5")
        .env("TMPDIR", spare.path())
        .finish()
        .exits_with(1);
    assert!(finished.stderr.contains("No space left"), "{finished}");
    assert!(finished.stderr.contains("saved as"), "{finished}");
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "the picture before");
    assert_eq!(std::fs::read_dir(&mounted.0).unwrap().count(), 1);
    let saved = std::fs::read_dir(spare.path()).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::read_to_string(saved).unwrap().ends_with("</svg>\n"));
}

/// A file system of its own, gone when this is dropped.
pub struct Mounted(std::path::PathBuf);

impl Mounted {
    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn tmpfs(at: &Path, size: &str) -> Self {
        let options = format!("size={size}");
        let mount = std::process::Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(at).status();
        assert!(mount.unwrap().success());
        Self(at.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn root_under_sudo_the_result_belongs_to_the_caller() {
    use std::os::unix::fs::MetadataExt as _;
    if !requires::root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.folded"), "a;b 1\n").unwrap();
    for _ in 0..2 {
        let run = flamel().args(["graph", "in.folded", "-o", "x.svg"]).dir(folder.path());
        run.env("SUDO_UID", "1234").env("SUDO_GID", "1235").finish().success();
        let owner = std::fs::metadata(folder.path().join("x.svg")).unwrap();
        assert_eq!((owner.uid(), owner.gid()), (1234, 1235));
    }
}
