//! The inputs under tests/cases. What must hold of each stands in its NOTE.md.

use crate::folded::{decoded, sums};
use formats::{Error, ErrorKind};
use model::EventId;
use model::id::Id;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn input(case: &str) -> Vec<u8> {
    std::fs::read(folder().join(case).join("input.folded")).unwrap()
}

fn failure(case: &str) -> (ErrorKind, String) {
    let error: Error = formats::decode(&input(case)).unwrap_err();
    (error.kind(), error.to_string())
}

fn total(case: &str) -> (u128, u8) {
    let profile = decoded(&input(case)).profile;
    (profile.totals(EventId::from_index(0)).weight, profile.weight_scale)
}

/// A case without a test would look as if it held.
#[test]
fn every_case_has_a_test() {
    let here = include_str!("cases.rs");
    for case in std::fs::read_dir(folder()).unwrap() {
        let name = case.unwrap().file_name().into_string().unwrap();
        assert!(here.contains(&format!("fn {name}()")), "{name}");
    }
}

#[test]
fn control_bytes() {
    let lines = sums(&decoded(&input("control_bytes")).profile);
    assert_eq!(
        lines,
        [("main;</title><script>x</script>", "5"), ("main;cls\0/srv", "100"), ("main;foo\x1bbar", "100")]
            .map(|(stack, sum)| (stack.to_string(), sum.to_string()))
    );
    assert_eq!(total("control_bytes"), (205, 0));
}

#[test]
fn crlf_bom() {
    let lines = sums(&decoded(&input("crlf_bom")).profile);
    assert_eq!(lines, [("main;a".into(), "100".into()), ("main;b".into(), "50".into())]);
    assert_eq!(total("crlf_bom"), (150, 0));
}

#[test]
fn deep() {
    let profile = decoded(&input("deep")).profile;
    let stack = profile.samples.iter().next().unwrap().stack;
    assert_eq!(profile.stacks.leaf_first(stack).count(), 3_000);
}

#[test]
fn digits_in_leaf() {
    let lines = sums(&decoded(&input("digits_in_leaf")).profile);
    assert_eq!(lines, [("main;Worker 7".into(), "100".into()), ("main;other".into(), "50".into())]);
}

#[test]
fn empty() {
    assert_eq!(failure("empty"), (ErrorKind::Empty, "the input is empty".into()));
}

#[test]
fn huge_counts() {
    assert_eq!(total("huge_counts"), (36_893_488_147_419_103_229, 0));
}

#[test]
fn odd_counts() {
    let decoded = decoded(&input("odd_counts"));
    assert_eq!(total("odd_counts"), (10_000_104, 1));
    assert_eq!(decoded.notes, ["line 6 does not end in a count: `a;none`", "line 7 has a negative count: `a;neg -50`"]);
    assert_eq!(decoded.profile.losses.count(model::SampleLoss::Rejected), 2);
    assert_eq!(
        sums(&decoded.profile),
        [("a;exp", "1000000"), ("a;frac", "0.4"), ("a;lead", "7"), ("a;tab", "3")]
            .map(|(stack, sum)| (stack.to_string(), sum.to_string()))
    );
}

/// The reader of this text comes later; until then it is not taken for broken folded text.
#[test]
fn perf_text_given() {
    let (kind, sentence) = failure("perf_text_given");
    assert_eq!(kind, ErrorKind::Unreadable);
    assert_eq!(
        sentence,
        "the input is the text of `perf script`, which this version cannot read yet; \
         fold it first, for instance with `stackcollapse-perf.pl`"
    );
}

#[test]
fn rust_semicolon() {
    let profile = decoded(&input("rust_semicolon")).profile;
    let stack = profile.samples.iter().next().unwrap().stack;
    assert_eq!(profile.stacks.leaf_first(stack).count(), 2);
}

/// The picture's part of it is tested where pictures are drawn.
#[test]
fn title_escaped() {
    assert_eq!(total("title_escaped"), (1, 0));
}
