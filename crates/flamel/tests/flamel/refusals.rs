//! What the verbs that read and write recordings refuse: one sentence each, exit code 2, and nothing
//! is written. Where a part can be read, that part is used and the rest is told.

use crate::flamel;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use testkit::{Run, requires};

/// A recording that perf has made, of six events.
fn recording() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| crate::script::unpacked("perf.data.busy.0-3.4"))
}

/// Where one of the inputs is cut: behind what was mapped when it began, among the samples.
const CUT_AT: usize = 240_000;

/// A folder with one input of each kind.
fn inputs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("x.data", recording());
    write("x.folded", b"main;a;b 30\nmain;a 10\n");
    write("empty.data", b"");
    write("cut.data", &recording()[..CUT_AT]);
    write("head.data", &recording()[..100]);
    fs::create_dir(folder.path().join("folder")).unwrap();
    std::os::unix::fs::symlink("x.data", folder.path().join("link.data")).unwrap();
    flamel().args(["convert", "x.folded", "-o", "x.pb.gz"]).dir(folder.path()).finish().success();
    folder
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> =
        entries.map(|entry| format!("{:?} {}", entry.file_name(), entry.metadata().unwrap().len())).collect();
    names.sort();
    names
}

/// Runs it among the inputs: one sentence, which holds these words, and nothing is changed.
#[track_caller]
fn refused(folder: &Path, line: &str, words: &[&str]) {
    let before = listing(folder);
    let finished = flamel().args(line.split(' ')).dir(folder).finish().exits_with(2);
    assert_eq!(finished.stdout_text(), "", "{finished}");
    let sentences: Vec<&str> = finished.stderr.lines().collect();
    assert!(sentences.len() == 1 && sentences[0].starts_with("flamel: "), "{finished}");
    words.iter().for_each(|word| assert!(sentences[0].contains(word), "`{word}` is not in:\n{finished}"));
    assert_eq!(listing(folder), before, "{line}");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = inputs();
    let refused = |line: &str, words: &[&str]| refused(folder.path(), line, words);
    refused("convert x.folded -o y.data", &["y.data", "addresses", "x.folded"]);
    refused("convert x.pb.gz -o y.data", &["y.data", "addresses", "x.pb.gz"]);
    refused("convert x.data -o x.data", &["x.data", "what is being read"]);
    refused("convert link.data -o x.data", &["x.data", "what is being read"]);
    refused("convert x.data -o link.data", &["link.data", "what is being read"]);
    refused("convert x.data -o - --format perf.data", &["standard output"]);
    refused("convert x.data -o -", &["--format"]);
    refused("convert x.data -o y.data -e cycles", &["y.data", "all its events"]);
    refused("convert x.data -o y.folded -z", &["-z", ".data"]);
    refused("convert x.data -o y.data -o z/y.data", &["mkdir"]);
    refused("fold x.data", &["several events", "-e"]);
    refused("graph x.data -o y.data", &["y.data", "flamel convert"]);
    refused("fold x.data -o y.svg", &["y.svg", "folded", "flamel convert"]);
    refused("record -z -o y.svg -- true", &["-z", ".data"]);
    refused("record -o y.data -o z.data -- true", &["z.data"]);
}

#[test]
fn what_cannot_be_read_is_refused() {
    let folder = inputs();
    let refused = |line: &str, words: &[&str]| refused(folder.path(), line, words);
    refused("script x.folded", &["x.folded", "flamel fold"]);
    refused("report --header x.folded", &["x.folded", "no recording"]);
    for verb in ["script", "fold", "report", "report --header"] {
        refused(&format!("{verb} folder"), &["folder"]);
        refused(&format!("{verb} empty.data"), &["empty.data", "empty"]);
        refused(&format!("{verb} head.data"), &["head.data", "damaged at byte"]);
        refused(&format!("{verb} nowhere.data"), &["nowhere.data", "No such file"]);
    }
    refused("script x.data -F comm,weight", &["weight", "period"]);
    for verb in ["script", "fold", "report"] {
        refused(&format!("{verb} x.data -e faults"), &["faults", "there are: cycles, instructions"]);
        refused(&format!("{verb} x.data --symfs nowhere"), &["--symfs", "nowhere", "no such folder"]);
        refused(&format!("{verb} x.data --symfs x.folded"), &["--symfs", "x.folded", "no such folder"]);
        refused(&format!("{verb} x.data --debug-dir nowhere"), &["--debug-dir", "nowhere", "no such folder"]);
        refused(&format!("{verb} x.data --kallsyms nowhere"), &["nowhere", "No such file"]);
        refused(&format!("{verb} x.data --kallsyms x.folded"), &["x.folded", "no kernel symbols"]);
    }
}

#[test]
fn a_cut_recording_is_used_up_to_where_it_is_cut() {
    let folder = inputs();
    let run = |line: &str| flamel().args(line.split(' ')).dir(folder.path()).finish().success();
    let whole = run("script x.data -F time --ns").stdout_text();
    let cut = run("script cut.data -F time --ns");
    assert!(cut.stderr.contains("`cut.data` is damaged at byte ") && cut.stderr.lines().count() == 1, "{cut}");
    let words: Vec<&str> = cut.stderr.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "byte").unwrap();
    let offset: usize = words[at + 1].trim_end_matches(':').parse().unwrap();
    assert!(offset <= CUT_AT && offset + 4096 > CUT_AT, "{cut}");
    let cut = cut.stdout_text();
    assert!(!cut.is_empty() && cut.len() < whole.len());
    // What is there is what was first in the file; by time, others may have come between.
    let known: std::collections::HashSet<&str> = whole.lines().collect();
    assert!(cut.lines().all(|line| known.contains(line)));
    for verb in ["fold -e cycles", "report", "report --header"] {
        assert!(run(&format!("{verb} cut.data")).stderr.contains("damaged at byte"));
    }
}

#[test]
fn root_a_recording_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    if !requires::root() {
        return;
    }
    let folder = inputs();
    let everyone = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    everyone(folder.path(), 0o755);
    everyone(&folder.path().join("x.data"), 0o600);
    // The binary may lie where others may not go.
    let copy = folder.path().join("flamel");
    testkit::build::copy_program(Path::new(env!("CARGO_BIN_EXE_flamel")), &copy);
    let finished =
        Run::new(copy).args(["fold", "x.data"]).dir(folder.path()).user(65_534, 65_534).finish().exits_with(2);
    assert!(finished.stderr.contains("x.data") && finished.stderr.contains("Permission denied"), "{finished}");
}

#[test]
fn the_help_tells_what_each_verb_writes_and_reads() {
    for (verb, recordings) in [("record", true), ("convert", true), ("graph", false)] {
        let help = flamel().args([verb, "--help"]).finish().success().stdout_text();
        assert_eq!(help.contains(".data. May be given"), recordings, "{help}");
        assert_eq!(help.contains("- perf.data:"), recordings, "{help}");
    }
    for verb in ["graph", "report", "fold", "convert", "script"] {
        let help = flamel().args([verb, "--help"]).finish().success().stdout_text();
        ["perf.data", "folded", "pprof"].iter().for_each(|word| assert!(help.contains(word), "`{word}`: {help}"));
    }
}
