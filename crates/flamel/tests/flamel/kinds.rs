//! Kinds of code and of processes: each a program whose right picture is known.

use crate::record_command;
use testkit::{Variant, lock, requires, workload};

fn path_of(workload: &testkit::Workload, variant: Variant) -> String {
    workload.build(variant).to_str().unwrap().to_owned()
}

#[test]
fn root_a_stack_of_3000_frames() {
    if !requires::root() {
        return;
    }
    let program = path_of(&workload::RECURSE, Variant::default());
    // By copied bytes the stack is cut, and that is said; by frame pointers the kernel's limit
    // cuts it.
    let dwarf = record_command(&["--call-graph", "dwarf,65528", "--max-frames", "4000"], &[&program, "1"]);
    assert!(dwarf.folded.share_of("down") > 95.0, "{}", dwarf.folded.largest(3));
    let deepest = dwarf.folded.stacks.iter().map(|stack| stack.frames.len()).max();
    assert!(deepest > Some(1000), "{deepest:?} frames");
    let fp = record_command(&["--call-graph", "fp"], &[&program, "1"]);
    assert!(fp.finished.stderr.contains("limit"), "{}", fp.finished.stderr);
}

#[test]
fn root_libraries_that_come_and_go() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let variant = Variant::without_frame_pointers();
    let [program, a, b] =
        [&workload::DLOPEN, &workload::PLUGIN_A, &workload::PLUGIN_B].map(|workload| path_of(workload, variant));
    let recorded = record_command(&["-F", "4999"], &[&program, "3", &a, &b]);
    let truth = recorded.finished.truth();
    assert_eq!(truth.text("same_place"), "1");
    let shares = truth.percent("cpu_ns");
    recorded.folded.only("main").assert_share("hot_in_a", shares[0], 3.0);
    recorded.folded.only("main").assert_share("hot_in_b", shares[1], 3.0);
    recorded.folded.only("hot_in_b").assert_every_stack_holds("_start");
}

#[test]
fn root_a_program_that_lies_in_no_file() {
    if !requires::root() {
        return;
    }
    let variant = Variant::without_frame_pointers();
    let program = path_of(&workload::MEMFD, variant);
    let executed = record_command(&[], &[&program, "1"]);
    assert!(executed.folded.share_of("in_memfd_program") > 90.0, "{}", executed.folded.largest(5));
    let plugin = path_of(&workload::PLUGIN_A, variant);
    let loaded = record_command(&[], &[&program, "1", "--load", &plugin]);
    assert!(loaded.folded.share_of("hot_in_a") > 90.0, "{}", loaded.folded.largest(5));
}

#[test]
fn root_generated_code_is_named_by_its_perf_map() {
    if !requires::root() {
        return;
    }
    let program = path_of(&workload::JIT, Variant::default());
    let with_map = record_command(&["-F", "4999"], &[&program, "2"]);
    let map = with_map.finished.truth().text("map").to_owned();
    std::fs::remove_file(map).unwrap();
    let in_program = with_map.folded.only("main");
    in_program.assert_share("three_quarters", 75.0, 4.0);
    in_program.assert_share("one quarter (generated)", 25.0, 4.0);
    let without = record_command(&[], &[&program, "1", "--no-map"]);
    assert!(
        without.folded.share_where(|stack| stack.leaf().starts_with("[jit")) > 90.0,
        "{}",
        without.folded.largest(5)
    );
    assert!(without.finished.stderr.contains("perf map"), "{}", without.finished.stderr);
}

#[test]
fn root_the_vdso_and_signal_handlers() {
    if !requires::root() {
        return;
    }
    let variant = Variant::without_frame_pointers();
    let vdso = record_command(&[], &[&path_of(&workload::VDSO, variant), "1"]);
    assert!(vdso.folded.only("main").share_of("_start") > 99.0, "{}", vdso.folded.largest(5));
    assert!(vdso.folded.share_where(|stack| stack.leaf().contains("vdso")) > 10.0, "{}", vdso.folded.largest(5));
    let handler = record_command(&[], &[&path_of(&workload::SIGNAL, variant), "1"]);
    let inside = handler.folded.only("in_handler");
    for caller in ["on_signal", "raises_signal", "level_15", "main", "_start"] {
        inside.assert_every_stack_holds(caller);
    }
}

#[test]
fn root_a_leaf_without_a_table_has_its_caller() {
    if !requires::root() {
        return;
    }
    for variant in [Variant::default(), Variant::without_frame_pointers()] {
        let program = path_of(&workload::TABLELESS, variant);
        for call_graph in ["dwarf", "auto"] {
            let recorded = record_command(&["-F", "4999", "--call-graph", call_graph], &[&program, "1"]);
            let inside = recorded.folded.only("main");
            assert_eq!(inside.share_of("[unknown]"), 0.0, "{}", inside.only("[unknown]").largest(5));
            for leaf in ["no_frame", "own_frame", "little_frame"] {
                let stacks = inside.only(leaf);
                assert!(stacks.total() > 0, "{leaf}: {}", inside.largest(5));
                for caller in [&format!("calls_{leaf}"), "level_01", "level_03", "_start"] {
                    stacks.assert_every_stack_holds(caller);
                }
            }
        }
    }
}

#[test]
fn root_static_and_fixed_and_stripped_programs() {
    use testkit::build::{Linkage, SymbolTable};
    if !requires::root() {
        return;
    }
    let plain = Variant::without_frame_pointers();
    for linkage in [Linkage::NoPie, Linkage::Static, Linkage::StaticPie] {
        let program = path_of(&workload::SHARES, Variant { linkage, ..plain });
        let recorded = record_command(&[], &[&program, "1"]);
        let inside = recorded.folded.only("leaf_60");
        assert!(inside.total() > 0, "{linkage:?}: {}", recorded.folded.largest(5));
        inside.assert_every_stack_holds("main");
        inside.assert_every_stack_holds("_start");
    }
    let program = path_of(&workload::SHARES, Variant { symbols: SymbolTable::Stripped, ..plain });
    let recorded = record_command(&[], &[&program, "1"]);
    assert!(
        recorded.folded.share_where(|stack| stack.leaf().starts_with("[shares")) > 90.0,
        "{}",
        recorded.folded.largest(5)
    );
    assert!(recorded.finished.stderr.contains("no symbols"), "{}", recorded.finished.stderr);
}

#[test]
fn root_time_in_the_kernel() {
    if !requires::root() {
        return;
    }
    let _alone = lock::exclusive();
    let program = path_of(&workload::SYSCALLS, Variant::default());
    let recorded = record_command(&["-F", "4999"], &[&program, "3"]);
    let truth = recorded.finished.truth();
    let (kernel, user): (f64, f64) = (truth.number("kernel_ns"), truth.number("user_ns"));
    let share = 100.0 * kernel / (kernel + user);
    recorded.folded.only("main").assert_share("reads_zero", share, 3.0);
}

#[test]
fn root_names_of_rust_cpp_and_c() {
    if !requires::root() {
        return;
    }
    let cpp = record_command(&[], &[&path_of(&workload::NAMES_CPP, Variant::default()), "1"]);
    for name in
        ["geo::Point::rotate", "geo::Point::operator+=", "geo::Point::operator()", "(anonymous namespace)::hidden"]
    {
        assert!(cpp.folded.share_of(name) > 1.0, "{name}: {}", cpp.folded.largest(12));
    }
    let letters = record_command(&[], &[&path_of(&workload::LETTERS, Variant::default()), "1"]);
    for name in ["a", "b", "i"] {
        assert!(letters.folded.share_of(name) > 1.0, "{name}: {}", letters.folded.largest(12));
    }
    let inlined = path_of(&workload::INLINED, Variant::default());
    let shown = record_command(&[], &[&inlined, "1"]);
    let hidden = record_command(&["--no-inline"], &[&inlined, "1"]);
    for (name, inlined) in [("outer", false), ("middle", true), ("innermost", true)] {
        assert!(shown.folded.share_of(name) > 90.0, "{name}: {}", shown.folded.largest(3));
        assert_eq!(hidden.folded.share_of(name) > 90.0, !inlined, "{name}: {}", hidden.folded.largest(3));
    }
}
