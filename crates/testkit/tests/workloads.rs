//! Every workload compiles without a warning, in every variant that tests use, and its truth is
//! true as far as the workload itself can tell.

use testkit::build::{DebugInfo, FramePointers, Linkage, Mangling, Optimisation, SymbolTable};
use testkit::workload::{self, Kind, Language};
use testkit::{Finished, Run, Signal, Variant, Workload, generated, requires};

const UNOPTIMISED: Variant = Variant {
    frame_pointers: FramePointers::Kept,
    optimisation: Optimisation::None,
    debug_info: DebugInfo::Full,
    linkage: Linkage::Pie,
    symbols: SymbolTable::Kept,
    mangling: Mangling::Legacy,
};

/// Runs a workload that needs no more than a length.
fn run(workload: &Workload, variant: Variant, arguments: &[&str]) -> Finished {
    Run::new(workload.build(variant)).args(arguments).finish().success()
}

#[test]
fn every_workload_compiles_and_tells_its_truth() {
    for variant in [Variant::default(), Variant::without_frame_pointers(), UNOPTIMISED] {
        let plugins = [workload::PLUGIN_A, workload::PLUGIN_B].map(|plugin| plugin.build(variant));
        let plugins = plugins.each_ref().map(|path| path.to_str().expect("the path of a cache is UTF-8"));
        for workload in workload::ALL.iter().filter(|workload| workload.kind == Kind::Program) {
            let more: &[&str] = if workload.name == "dlopen" { &plugins } else { &[] };
            let truth = run(workload, variant, &[&["0.05"], more].concat()).truth();
            if workload.name == "jit" {
                std::fs::remove_file(truth.text("map")).unwrap();
            }
        }
    }
}

#[test]
fn every_way_of_linking_works() {
    for linkage in [Linkage::NoPie, Linkage::Static, Linkage::StaticPie] {
        let variant = Variant { linkage, ..Variant::default() };
        for workload in [workload::SHARES, workload::RECURSE, workload::NAMES_CPP, workload::NAMES_RUST] {
            run(&workload, variant, &["0.01"]).truth();
        }
    }
    let stripped = Variant { symbols: SymbolTable::Stripped, ..Variant::default() };
    for workload in workload::ALL {
        let path = workload.build(stripped);
        let symbols = Run::new("/usr/bin/nm").arg(&path).finish();
        assert!(symbols.stderr.contains("no symbols"), "{}: {symbols}", path.display());
    }
}

#[test]
fn shares_are_six_to_three_to_one() {
    let truth = run(&workload::SHARES, Variant::default(), &["0", "--units", "3000"]).truth();
    assert_eq!(truth.numbers::<u64>("units"), [1800, 900, 300]);
    assert_eq!(truth.percent("units"), [60.0, 30.0, 10.0]);
}

#[test]
fn each_party_tells_its_own_time() {
    let program = workload::SHARES.build(Variant::default());
    let program = program.to_str().expect("the path of a cache is UTF-8");
    for (kind, arguments) in
        [("threads", vec!["--threads"]), ("processes", vec!["--processes"]), ("exec", vec!["--exec", program])]
    {
        let truth = run(&workload::SHARES, Variant::default(), &[vec!["0.3"], arguments].concat()).truth();
        assert_eq!(truth.text("kind"), kind);
        assert!(truth.numbers::<u64>("cpu_ns").iter().all(|&ns| ns > 0), "{truth:?}");
    }
}

#[test]
fn workloads_end_as_they_are_told() {
    let ends = workload::ENDS.build(Variant::default());
    Run::new(&ends).args(["0", "--code", "42"]).finish().exits_with(42);
    let killed = Run::new(&ends).args(["0", "--signal", "15"]).finish();
    assert_eq!(killed.killed_by(), Some(Signal::TERM.as_raw()));
    Run::new(&ends).args(["0.01", "--vfork"]).finish().success();
    Run::new(&ends).finish().exits_with(2);
}

#[test]
fn the_second_library_lies_where_the_first_was() {
    let [a, b] = [workload::PLUGIN_A, workload::PLUGIN_B].map(|plugin| plugin.build(Variant::default()));
    let run = Run::new(workload::DLOPEN.build(Variant::default())).arg("0.1").arg(&a).arg(&b);
    assert_eq!(run.finish().success().truth().text("same_place"), "1");
    let loaded = Run::new(workload::MEMFD.build(Variant::default())).args(["0.05", "--load"]).arg(&a);
    assert_eq!(loaded.finish().success().truth().text("kind"), "library");
    assert_eq!(run_text(&workload::MEMFD, "kind"), "program");
}

#[test]
fn the_lines_of_inlined_calls_are_where_it_says() {
    let lines = run(&workload::INLINED, Variant::default(), &["0.01"]).truth().numbers::<usize>("lines");
    let source = std::fs::read_to_string(workload::INLINED.source()).unwrap();
    let text: Vec<&str> = lines.iter().map(|line| source.lines().nth(line - 1).unwrap().trim()).collect();
    assert!(text[0].starts_with("state ^= state << 13"), "{text:?}");
    assert_eq!(text[1..], ["state = innermost(state);", "return middle(state);"]);
}

#[test]
fn many_are_as_many_as_asked_for() {
    let threads = run(&workload::THREADS, Variant::default(), &["0.2", "--threads", "50", "--odd-name"]).truth();
    assert_eq!(threads.number::<u64>("threads"), 50);
    let storm = run(&workload::STORM, Variant::default(), &["0.2", "--processes", "40", "--spin-us", "100"]).truth();
    assert_eq!(storm.number::<u64>("processes"), 40);
}

#[test]
fn sources_are_told_apart_by_language() {
    let names: Vec<_> = workload::ALL.iter().filter(|workload| workload.name == "names").collect();
    assert_eq!(names.iter().map(|workload| workload.language).collect::<Vec<_>>(), [Language::Cpp, Language::Rust]);
}

/// What perf(1), an independent witness, sees of the workload that most tests rest on.
#[test]
#[ignore = "slow: run by `make truth`"]
fn truth_root_perf_sees_sixty_thirty_ten() {
    if !requires::root() || !requires::perf_events() || !requires::perf() {
        return;
    }
    let _alone = testkit::lock::exclusive();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("perf.data");
    for variant in [Variant::default(), Variant::without_frame_pointers(), UNOPTIMISED] {
        let record = Run::new("/usr/bin/perf").args(["record", "-q", "-e", "cpu-clock", "-F", "4999", "-o"]).arg(&data);
        let truth = record.arg(workload::SHARES.build(variant)).arg("20").finish().success().truth();
        let measured = truth.percent("cpu_ns");
        assert_eq!(truth.percent("units"), [60.0, 30.0, 10.0]);
        let report = ["report", "--stdio", "-F", "overhead,symbol", "-t", ";", "-i"];
        let report = Run::new("/usr/bin/perf").args(report).arg(&data).finish().success().stdout_text();
        for (leaf, expected) in [("leaf_60", 60.0), ("leaf_30", 30.0), ("leaf_10", 10.0)] {
            let line = report.lines().find(|line| line.ends_with(leaf)).unwrap_or_else(|| panic!("{leaf}: {report}"));
            let share: f64 = line.trim().split('%').next().and_then(|share| share.parse().ok()).unwrap();
            assert!(
                (share - expected).abs() < 1.0,
                "{variant:?}: perf sees {share} % in {leaf}; measured {measured:?}"
            );
        }
    }
}

#[test]
fn the_large_program_has_ten_megabytes_of_debug_information() {
    let path = generated::large_program();
    let truth = Run::new(&path).arg("0.2").finish().success().truth();
    assert_eq!(truth.number::<u64>("functions"), 3000);
    let sections = Run::new("/usr/bin/readelf").args(["-S", "-W"]).arg(&path).finish().success().stdout_text();
    // Columns behind the name: type, address, offset, size.
    let sizes = sections.lines().filter_map(|line| {
        let debug = line.split_once(" .debug_")?.1;
        u64::from_str_radix(debug.split_whitespace().nth(4)?, 16).ok()
    });
    let bytes: u64 = sizes.sum();
    assert!(bytes >= 10 << 20, "{bytes} bytes of debug information");
}

fn run_text(workload: &Workload, key: &str) -> String {
    run(workload, Variant::default(), &["0.05"]).truth().text(key).to_owned()
}
