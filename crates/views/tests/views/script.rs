//! The script's types, by the TypeScript compiler.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// Says that a tool is missing; where everything should be present, that is a failure.
pub(crate) fn skipped(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what}");
    // Not `eprintln!`: the harness swallows that for a test that passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

#[test]
fn the_script_is_well_typed() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let Ok(output) = Command::new("tsc").args(["--checkJs", "--noEmit", "--strict", "-p"]).arg(project).output() else {
        return skipped("tsc is not installed (package node-typescript)");
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Style and script lie in CDATA sections, and in pages that are parsed as HTML.
#[test]
fn the_assets_cannot_end_their_own_element() {
    for text in [include_str!("../../assets/flamegraph.js"), include_str!("../../assets/flamegraph.css")] {
        assert!(!text.contains("]]>") && !text.contains("</") && !text.contains("<!--"));
    }
}
