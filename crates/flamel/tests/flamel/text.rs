//! Folded text and pprof in, pictures, tables and both out.

use crate::flamel;
use testkit::Folded;

#[test]
fn folded_text_becomes_a_picture_a_table_and_itself_again() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.folded");
    std::fs::write(&input, "main;a;b 30\nmain;a 10\nmain;c_[k] 60\n").unwrap();
    let run = |arguments: &[&str]| flamel().args(arguments).dir(folder.path()).finish().success();
    run(&["graph", "in.folded", "-o", "x.svg", "-o", "x.folded", "--title", "A&B<i>", "--notes", "--><b>"]);
    let svg = std::fs::read_to_string(folder.path().join("x.svg")).unwrap();
    assert!(svg.contains("A&amp;B&lt;i&gt;"), "the title is not escaped");
    assert_eq!(Folded::read(folder.path().join("x.folded")).total(), 100);
    let table = run(&["report", "in.folded"]).stdout_text();
    assert!(table.contains("60") && table.contains('c'), "{table}");
    let to_stdout = run(&["graph", "in.folded", "-o", "-", "--format", "folded"]).stdout_text();
    assert_eq!(Folded::parse(&to_stdout).total(), 100);
}

#[test]
fn pprof_is_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.folded"), "main;a;b 30\nmain;a 10\n").unwrap();
    let run = |arguments: &[&str]| flamel().args(arguments).dir(folder.path()).finish().success();
    run(&["graph", "in.folded", "-o", "x.pb.gz"]);
    let folded = run(&["graph", "x.pb.gz", "-o", "-", "--format", "folded"]).stdout_text();
    assert_eq!(folded, "main;a 10\nmain;a;b 30\n");
    run(&["graph", "in.folded", "-o", "any name", "--format", "pprof"]);
    let table = run(&["report", "any name"]).stdout_text();
    assert!(table.contains("30"), "{table}");
}

#[test]
fn the_help_names_the_formats() {
    for verb in ["graph", "record"] {
        let help = flamel().args([verb, "--help"]).finish().success().stdout_text();
        for word in [".svg", ".folded", ".pb.gz", "- pprof:", "- svg:"] {
            assert!(help.contains(word), "`{word}` is not in:\n{help}");
        }
    }
}

#[test]
fn standard_input_and_a_reader_that_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.folded");
    let lines: String = (0..20_000).map(|n| format!("main;function_number_{n} {n}\n")).collect();
    std::fs::write(&input, &lines).unwrap();
    let file = std::fs::File::open(&input).unwrap();
    let graphed = flamel().args(["graph", "-", "-o", "-", "--format", "svg"]).stdin(file).finish().success();
    assert!(graphed.stdout_text().contains("</svg>"));
    let head = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{} report {} -n 20000 | head -n 1; exit ${{PIPESTATUS:-0}}",
            env!("CARGO_BIN_EXE_flamel"),
            input.display()
        ))
        .output()
        .unwrap();
    assert!(head.status.success());
    assert_eq!(String::from_utf8_lossy(&head.stderr), "");
}
