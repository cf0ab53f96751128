//! The pictures as text: well-formed, unchanged, and refused where there is nothing to draw.

use crate::golden;
use crate::samples::{Build, event, server};
use crate::script::skipped;
use model::{Profile, StackEnd};
use std::io::Write;
use std::process::{Command, Stdio};
use views::{
    CallTree, CallTreeOptions, ErrorKind, FlameGraphOptions, Palette, RootSide, flame_graph_svg, palette::PALETTES,
    quality,
};

pub(crate) fn draw(profile: &Profile, options: &FlameGraphOptions) -> String {
    let tree = CallTree::new(profile, event(), CallTreeOptions::default());
    let mut out = Vec::new();
    flame_graph_svg(&tree, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn failure(profile: &Profile, options: &FlameGraphOptions) -> (ErrorKind, String) {
    let tree = CallTree::new(profile, event(), CallTreeOptions::default());
    let mut out = Vec::new();
    let error = flame_graph_svg(&tree, options, &mut out).unwrap_err();
    assert!(out.is_empty());
    (error.kind(), error.to_string())
}

pub(crate) fn server_options(profile: &Profile) -> FlameGraphOptions {
    FlameGraphOptions {
        title: "shopd --port 8080".into(),
        subtitle: vec![quality::subtitle(profile, event())],
        ..FlameGraphOptions::default()
    }
}

/// The picture without style and script, which have tests of their own.
fn without_assets(svg: &str) -> String {
    let mut rest = svg;
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once("<![CDATA[") {
        text.push_str(before);
        rest = after.split_once("]]>").unwrap().1;
    }
    text + rest
}

pub(crate) fn assert_well_formed(svg: &str) {
    let child =
        Command::new("xmllint").args(["--noout", "--huge", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return skipped("xmllint is not installed (package libxml2-utils)") };
    child.stdin.take().unwrap().write_all(svg.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn pictures_stay_as_they_are() {
    let profile = server();
    let options = server_options(&profile);
    golden::compare("server.svg", &without_assets(&draw(&profile, &options)));
    let options = FlameGraphOptions {
        root: RootSide::Top,
        width: 800,
        min_width: 5.0,
        palette: *Palette::find("colorblind").unwrap(),
        notes: "made by hand".into(),
        ..options
    };
    golden::compare("server_icicle.svg", &without_assets(&draw(&profile, &options)));
}

#[test]
fn hostile_names_are_text() {
    let names = [
        "</title><script>document.title='broken'</script>",
        "]]><script>1</script>",
        "a\x1b[31mb\0c\r\n\t",
        "\u{fffe}\u{ffff}\u{202e}",
        "<!-- & \"quoted\" 'too' -->",
        "&lt;&#x41;",
        "",
    ];
    let mut build = Build::plain();
    for name in names {
        let locations = [build.location("main"), build.location(name)];
        let task = build.task(name, 1);
        build.push(Some(task), StackEnd::Bottom, &locations, 100, 100);
    }
    let hostile = names.concat();
    let options = FlameGraphOptions {
        title: hostile.clone(),
        subtitle: vec![hostile.clone()],
        notes: hostile + "--><b>",
        ..FlameGraphOptions::default()
    };
    let svg = draw(&build.profile, &options);
    assert_well_formed(&svg);
    assert_eq!(svg.matches("<script>").count(), 1);
    assert!(svg.contains("a\\x1b[31mb\\x00c\\x0d\\x0a\\x09 (thread; 100 samples; 14.29 %)"));
    assert!(svg.contains("<desc>&lt;/title&gt;&lt;script&gt;"));
}

#[test]
fn every_palette_draws() {
    let profile = server();
    for palette in PALETTES {
        let svg = draw(&profile, &FlameGraphOptions { palette: *palette, ..FlameGraphOptions::default() });
        assert_well_formed(&svg);
    }
}

#[test]
fn an_empty_profile_is_an_error() {
    let options = FlameGraphOptions::default();
    assert_eq!(failure(&Build::plain().profile, &options), (ErrorKind::Empty, "there are no samples to draw".into()));
    let mut build = Build::plain();
    build.line("main", 0, 3);
    assert_eq!(failure(&build.profile, &options).0, ErrorKind::Empty);
}

#[test]
fn options_out_of_range_are_refused() {
    let profile = server();
    for width in [0, 319, 65_537] {
        assert_eq!(
            failure(&profile, &FlameGraphOptions { width, ..FlameGraphOptions::default() }).0,
            ErrorKind::BadOption
        );
    }
    for min_width in [-1.0, f64::NAN, f64::INFINITY] {
        let options = FlameGraphOptions { min_width, ..FlameGraphOptions::default() };
        assert_eq!(failure(&profile, &options).0, ErrorKind::BadOption);
    }
    let svg = draw(&profile, &FlameGraphOptions { min_width: 1e9, ..FlameGraphOptions::default() });
    assert_eq!(svg.matches("data-at=").count(), 1);
}

#[test]
fn a_writer_that_fails_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let tree = CallTree::new(&server(), event(), CallTreeOptions::default());
    let error = flame_graph_svg(&tree, &FlameGraphOptions::default(), &mut Full).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Write, "could not write the flame graph"));
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn the_legend_names_what_is_there() {
    let legend = |stacks: &[&str]| {
        let mut build = Build::plain();
        stacks.iter().for_each(|stack| _ = build.line(stack, 1, 1));
        let svg = draw(&build.profile, &FlameGraphOptions::default());
        let labels = svg.split(r#"<text class="legend""#).skip(1);
        labels.map(|label| label.split(['>', '<']).nth(1).unwrap().to_string()).collect::<Vec<_>>()
    };
    assert!(legend(&["main;a"]).is_empty());
    assert_eq!(legend(&["main;a", "main;b_[k]"]), ["user code", "kernel"]);
    assert_eq!(legend(&["@t;main;a_[i]", "b_[j]"]), ["thread", "user code", "inlined", "generated (JIT) code"]);
}

#[test]
fn hovering_tells_time_samples_and_share() {
    let mut build = Build::cpu_clock();
    build.line("main;read_[k]", 3_003_003, 3).line("main", 1_001_001, 1);
    let svg = draw(&build.profile, &FlameGraphOptions::default());
    assert!(svg.contains("<title>main (4.004 ms; 4 samples; 100.00 %)</title>"));
    assert!(svg.contains("<title>read (kernel; 3.003 ms; 3 samples; 75.00 %)</title>"));
}

#[test]
fn a_stack_of_3_000_frames_and_a_row_of_100_000_boxes_are_drawn() {
    let mut build = Build::plain();
    let frames: Vec<_> = (0..3_000).map(|n| build.location(&format!("f{n}"))).collect();
    build.push(None, StackEnd::Bottom, &frames, 1, 1);
    let svg = draw(&build.profile, &FlameGraphOptions::default());
    assert_eq!(svg.matches("data-at=").count(), 3_001);
    assert_well_formed(&svg);

    let mut build = Build::plain();
    (0..100_000).for_each(|n| _ = build.line(&format!("main;leaf{n}"), 1, 1));
    let svg = draw(&build.profile, &FlameGraphOptions::default());
    assert_eq!(svg.matches("data-at=").count(), 2);
    assert!(svg.contains(r#"data-pruned="100000""#));
    let svg = draw(&build.profile, &FlameGraphOptions { min_width: 0.0, ..FlameGraphOptions::default() });
    assert_eq!(svg.matches("data-at=").count(), 100_002);
}
