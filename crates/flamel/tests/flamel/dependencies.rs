//! What the binary is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

fn tree(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).arg("tree").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn no_async_runtime_and_no_heavy_engine_is_linked() {
    let crates = tree(&["-p", "flamel", "-e", "normal", "--prefix", "none", "--offline"]);
    let names: BTreeSet<&str> = crates.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains("perf"), "{names:?}");
    for heavy in ["tokio", "async-std", "smol", "futures-executor", "arrow", "datafusion", "hyper", "inferno"] {
        assert!(!names.contains(heavy), "{heavy} is in the tree of the binary");
    }
}

/// Which crate may use which, as ARCHITECTURE.md has it.
#[test]
fn arrows_point_down_only() {
    let allowed: BTreeMap<&str, &[&str]> = [
        ("model", &[][..]),
        ("elf", &["model"]),
        ("perf", &["model"]),
        ("unwind", &["elf", "model"]),
        ("symbols", &["elf", "model"]),
        ("resolve", &["elf", "model", "symbols", "unwind"]),
        ("capture", &["model", "perf"]),
        ("views", &["model"]),
        ("formats", &["model"]),
    ]
    .into();
    for (name, allowed) in &allowed {
        let direct = tree(&["-p", name, "-e", "normal", "--depth", "1", "--prefix", "none", "--offline"]);
        let ours = ["model", "elf", "perf", "unwind", "symbols", "resolve", "capture", "views", "formats", "flamel"];
        let used: BTreeSet<&str> = direct
            .lines()
            .skip(1)
            .filter_map(|line| line.split(' ').next())
            .filter(|used| ours.contains(used))
            .collect();
        let extra: Vec<_> = used.iter().filter(|used| !allowed.contains(used)).collect();
        assert!(extra.is_empty(), "{name} uses {extra:?}");
    }
}
