//! Inputs that other tools stumble over, drawn: what tests/cases of the formats says must hold
//! of the picture.

use crate::samples::event;
use crate::svg::{assert_well_formed, draw};
use model::Profile;
use std::path::PathBuf;
use views::{FlameGraphOptions, Measure, quality};

fn profile(case: &str) -> Profile {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/cases").join(case).join("input.folded");
    formats::decode(&std::fs::read(path).unwrap()).unwrap().profile
}

fn total(profile: &Profile) -> String {
    Measure::of(profile, event()).text(profile.totals(event()).weight)
}

#[test]
fn totals_stand_on_the_root() {
    for (case, total) in [
        ("control_bytes", "205 samples"),
        ("crlf_bom", "150 samples"),
        ("digits_in_leaf", "150 samples"),
        ("huge_counts", "36,893,488,147,419,103,229 samples"),
        ("odd_counts", "1,000,010.4 samples"),
        ("rust_semicolon", "5 samples"),
        ("title_escaped", "1 sample"),
        ("deep", "1 sample"),
    ] {
        let profile = profile(case);
        assert_eq!(self::total(&profile), total, "{case}");
        let svg = draw(&profile, &FlameGraphOptions::default());
        assert_well_formed(&svg);
        assert!(svg.contains(&format!("<title>all ({total}; 100.00 %)</title>")), "{case}");
        assert!(quality::sentences(&profile, event())[0].starts_with(total), "{case}");
    }
}

#[test]
fn rejected_lines_are_told() {
    assert_eq!(
        quality::sentences(&profile("odd_counts"), event()),
        ["1,000,010.4 samples", "2 entries of the input rejected"]
    );
}

#[test]
fn control_bytes_are_escapes_and_markup_is_text() {
    let svg = draw(&profile("control_bytes"), &FlameGraphOptions::default());
    for name in ["foo\\x1bbar (", "cls\\x00/srv (", "&lt;/title&gt;&lt;script&gt;x&lt;/script&gt; ("] {
        assert!(svg.contains(&format!("<title>{name}")), "{name}");
    }
    assert!(!svg.contains("<script>x"));
}

#[test]
fn title_and_notes_are_escaped_like_names() {
    let options = FlameGraphOptions { title: "A&B<i>".into(), notes: "--><b>".into(), ..FlameGraphOptions::default() };
    let svg = draw(&profile("title_escaped"), &options);
    assert_well_formed(&svg);
    assert!(svg.contains("<title>A&amp;B&lt;i&gt;</title>"));
    assert!(svg.contains("<desc>--&gt;&lt;b&gt;</desc>"));
}

#[test]
fn a_semicolon_in_a_name_splits_no_box() {
    let svg = draw(&profile("rust_semicolon"), &FlameGraphOptions::default());
    assert!(svg.contains("<title>&lt;impl for [T; 4]&gt;::f (5 samples; 100.00 %)</title>"));
    assert_eq!(svg.matches("data-at=").count(), 3);
}
