//! What `go tool pprof`, the format's own tool, makes of what is written.

use crate::places;
use model::EventId;
use model::id::Id as _;
use std::process::Command;
use testkit::requires;

/// A row of its table: what is spent in a function itself, and in what it calls too.
#[derive(PartialEq, Eq, Debug)]
struct Row {
    own: String,
    total: String,
    name: String,
}

fn tool(arguments: &[&str]) -> Option<String> {
    if !requires::go() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.pb.gz");
    let mut bytes = Vec::new();
    formats::pprof::encode(&places::server(), EventId::from_index(0), &mut bytes).unwrap();
    std::fs::write(&file, bytes).unwrap();
    let mut command = Command::new("go");
    command.args(["tool", "pprof"]).args(arguments).arg(&file);
    // Everything that it might write, or read of its user.
    for variable in ["HOME", "GOCACHE", "GOPATH", "PPROF_TMPDIR"] {
        command.env(variable, folder.path());
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The rows behind `flat flat% sum% cum cum%`.
fn rows(text: &str) -> Vec<Row> {
    let rows = text.lines().skip_while(|line| !line.contains("flat%")).skip(1);
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        Row { own: fields[0].into(), total: fields[3].into(), name: fields[5..].join(" ") }
    };
    rows.map(row).collect()
}

fn row(own: &str, total: &str, name: &str) -> Row {
    Row { own: own.into(), total: total.into(), name: name.into() }
}

#[test]
fn the_same_totals_and_names() {
    let Some(text) = tool(&["-top", "-nodefraction=0"]) else { return };
    // The weight is what is shown if nothing else is asked for.
    assert!(text.contains("Type: cpu") && text.contains("Total samples = 100ms"), "{text}");
    assert!(text.contains("Duration: 10s"), "{text}");
    let rows = rows(&text);
    for expected in [
        row("40ms", "65ms", "parse (inline)"),
        row("0", "65ms", "handle"),
        row("0", "90ms", "main"),
        row("20ms", "25ms", "do_syscall_64"),
        row("5ms", "5ms", "[nf_tables]"),
        row("15ms", "15ms", "JS:render"),
        row("10ms", "10ms", "[libvendor.so.3]"),
        row("7ms", "7ms", "by_name_only"),
    ] {
        assert!(rows.contains(&expected), "{expected:?} is not in:\n{text}");
    }
}

#[test]
fn the_number_of_samples_is_the_other_value() {
    let Some(text) = tool(&["-top", "-nodefraction=0", "-sample_index=samples"]) else { return };
    let rows = rows(&text);
    assert!(rows.contains(&row("40", "65", "parse (inline)")), "{text}");
    assert!(rows.contains(&row("0", "90", "main")), "{text}");
}

#[test]
fn threads_and_comments_are_seen() {
    let Some(text) = tool(&["-tags"]) else { return };
    for word in ["thread:", "worker", "process:", "pid:", "tid:"] {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
    let Some(text) = tool(&["-comments"]) else { return };
    assert!(text.contains("target: ./server\n") && text.contains("3 samples lost: the ring buffer was full"), "{text}");
}

#[test]
fn files_have_their_build_ids() {
    let Some(text) = tool(&["-raw"]) else { return };
    assert!(text.contains("0x0/0x13000/0x0 /usr/bin/server ab010f"), "{text}");
    assert!(text.contains("0xffffffff81001000/0xffffffff81002000/0x0 [kernel]"), "{text}");
    assert!(text.contains("app.c:11"), "{text}");
}
