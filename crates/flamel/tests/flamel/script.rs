//! `flamel script` beside what `perf script` printed of the same recordings. They lie, packed, with
//! the reader's own tests; the first line of each text names the fields that were asked for.

use crate::flamel;
use std::path::{Path, PathBuf};
use testkit::{Run, requires};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../perfdata/tests/corpus")
}

/// A file of the corpus, unpacked.
pub fn unpacked(name: &str) -> Vec<u8> {
    let path = corpus().join(format!("{name}.zst"));
    let packed = std::fs::File::open(&path).unwrap_or_else(|error| panic!("`{}`: {error}", path.display()));
    zstd::decode_all(packed).unwrap()
}

/// The recordings with a text beside them.
fn names() -> Vec<String> {
    let files = std::fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter_map(|name| Some(name.strip_suffix(".txt.zst")?.to_owned())).collect();
    names.sort();
    names
}

/// Lines that differ, by recording: the sample's time, perf's name of the thread and flamel's.
///
/// All are samples of a thread that was past its exit: the kernel has taken its number away and
/// states the thread as 0 (`943/0`). perf looks up thread 0 and prints the idle thread's name;
/// flamel keeps to the process, which is the one that the time belongs to.
const THREADS_THAT_WERE_GONE: [(&str, &str, &str, &str); 3] = [
    ("perf.data.armv7.perf_3.14-3.8", "1324.904482068", "swapper", " powerd"),
    ("perf.data.systemwide.5-3.4", "212.970707926", "swapper", " powerd"),
    ("perf.data.throttle-3.8", "274060.378726953", "swapper", " powerd"),
];

/// Texts whose last byte was lost when they were saved: the blank line behind the last callchain.
const CUT_TEXTS: [&str; 3] =
    ["perf.data.callgraph-3.4", "perf.data.callgraph_and_branch-3.4", "perf.data.raw_callgraph_branch-3.4"];

#[test]
fn the_text_is_that_of_perf_script_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let names = names();
    assert_eq!(names.len(), 22);
    for name in &names {
        let text = String::from_utf8(unpacked(&format!("{name}.txt"))).unwrap();
        let (head, wanted) = text.split_once('\n').unwrap();
        let fields = head.strip_prefix("# fields: ").unwrap_or_else(|| panic!("{name} begins with `{head}`"));
        let mut wanted = wanted.to_owned();
        if CUT_TEXTS.contains(&name.as_str()) {
            wanted.push('\n');
        }
        for (_, time, theirs, ours) in THREADS_THAT_WERE_GONE.iter().filter(|(of, ..)| of == name) {
            let line = wanted.lines().find(|line| line.contains(time)).unwrap();
            wanted = wanted.replace(line, &line.replace(theirs, ours));
        }
        let path = folder.path().join(name);
        std::fs::write(&path, unpacked(name)).unwrap();
        let printed = flamel().arg("script").arg(&path).args(["-F", fields, "--ns"]).finish().success().stdout_text();
        let first = printed.lines().zip(wanted.lines()).position(|(found, wanted)| found != wanted);
        if let Some(at) = first {
            let line = |text: &str| text.lines().nth(at).unwrap().to_owned();
            panic!("{name}, line {}:\nflamel {}\nperf   {}", at + 1, line(&printed), line(&wanted));
        }
        assert!(printed == wanted, "{name}: {} bytes, not {}", printed.len(), wanted.len());
    }
}

/// What the texts of the corpus do not hold, perf prints anew.
#[test]
fn root_branches_and_data_addresses_are_printed_as_by_perf() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let perf = || Run::new(requires::find("perf").unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.data");
    let same = |fields: &str| {
        let theirs = perf().args(["script", "--ns", "-F", fields, "-i"]).arg(&path).finish().success().stdout_text();
        let ours = flamel().arg("script").arg(&path).args(["--ns", "-F", fields]).finish().success().stdout_text();
        assert!(theirs.lines().count() >= 5, "{fields}:\n{theirs}");
        let first = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
        assert_eq!((first, ours.len()), (None, theirs.len()), "{fields}");
    };
    for name in
        ["perf.data.branch_stack_hw_index", "perf.data.callgraph_and_branch-3.4", "perf.data.raw_callgraph_branch-3.4"]
    {
        std::fs::write(&path, unpacked(name)).unwrap();
        same("pid,tid,time,event,brstack");
    }
    let record = perf().args(["record", "-q", "-N", "-e", "page-faults", "-c", "1", "-d", "-o"]).arg(&path);
    record.args(["--", "/bin/ls"]).finish().success();
    same("comm,tid,time,event,addr,ip");
}

#[test]
fn a_recording_may_come_by_a_pipe_and_an_event_may_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.data");
    std::fs::write(&path, unpacked("perf.data.systemwide.5-3.4")).unwrap();
    let whole = flamel().arg("script").arg(&path).args(["-F", "time,event"]).finish().success().stdout_text();
    let piped = std::fs::File::open(&path).unwrap();
    let piped = flamel().args(["script", "-", "-F", "time,event"]).stdin(piped).finish().success();
    assert!(piped.stdout_text() == whole);
    let chosen = flamel().arg("script").arg(&path).args(["-F", "time,event", "-e", "branch-misses"]).finish().success();
    let wanted: Vec<&str> = whole.lines().filter(|line| line.contains("branch-misses")).collect();
    assert!(!wanted.is_empty() && wanted.len() < whole.lines().count());
    assert_eq!(chosen.stdout_text().lines().collect::<Vec<_>>(), wanted);
}

#[test]
fn fields_that_no_sample_has_are_refused_where_they_were_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.data");
    std::fs::write(&path, unpacked("perf.data.singleprocess-3.4")).unwrap();
    let script = |fields: &[&str]| flamel().arg("script").arg(&path).args(fields).finish();
    for (fields, field, option) in [("comm,addr", "addr", "-d"), ("+brstack", "brstack", "-b")] {
        let refused = script(&["-F", fields]).exits_with(2);
        for word in [format!("`-F {field}`"), format!("leave `{field}` out"), format!("`perf record {option}`")] {
            assert!(refused.stderr.contains(&word), "`{word}` is not in:\n{refused}");
        }
        assert_eq!(refused.stdout_text(), "");
    }
    script(&["-F", "-dso"]).success();
    script(&[]).success();
}
