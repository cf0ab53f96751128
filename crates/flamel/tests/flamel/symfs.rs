//! Names of a recording when its files are not what they were, or lie elsewhere: never those of
//! another file, and back as soon as the right one is shown.

use crate::flamel;
use crate::recordings::both;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::{Folded, Run, Variant, requires, workload};

/// Runs a verb on a recording, with a home folder in which no tool has kept files.
fn read(verb: &str, data: &Path, options: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let run = flamel().arg(verb).arg(data).args(options).env("HOME", home.path());
    run.finish().success().stdout_text()
}

fn fold(data: &Path, options: &[&str]) -> Folded {
    Folded::parse(&read("fold", data, options))
}

fn tool(name: &str, package: &str, arguments: &[&Path]) {
    if requires::program(name, package) {
        Run::new(requires::find(name).unwrap()).args(arguments).finish().success();
    }
}

#[test]
fn root_another_build_gives_no_names_and_the_right_one_gives_them_back() {
    if !requires::root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let recorded = workload::SHARES.build(Variant::without_frame_pointers());
    testkit::build::copy_program(&recorded, &program);
    let run = both(&["-e", "cpu-clock"], &[program.to_str().unwrap(), "0.7"]);
    run.assert_equal();
    let live = Folded::parse(&String::from_utf8(run.live.clone()).unwrap());

    // Another build takes its place: another build id.
    fs::remove_file(&program).unwrap();
    testkit::build::copy_program(&workload::SHARES.build(Variant::default()), &program);
    let nameless = fold(&run.data(), &[]);
    assert_eq!(nameless.total(), live.total());
    let without_name = nameless.share_where(|stack| stack.leaf().starts_with("[program"));
    assert!(without_name > 90.0, "{}", nameless.largest(5));
    for name in ["leaf_60", "level_01", "main", "_start"] {
        assert_eq!(nameless.share_of(name), 0.0, "{name}: {}", nameless.only(name).largest(3));
    }
    let report = read("report", &run.data(), &[]);
    assert!(report.contains("another build"), "{report}");
    let picture = folder.path().join("x.svg");
    let home = folder.path();
    let graphed = flamel().arg("graph").arg(run.data()).arg("-o").arg(&picture).env("HOME", home).finish().success();
    assert!(graphed.stderr.contains("another build"), "{graphed}");
    assert!(fs::read_to_string(picture).unwrap().contains("of the frames without a name"));

    // A copy of the recorded machine's files has the right one, at the same place below its root.
    let root = tempfile::tempdir().unwrap();
    let copy = root.path().join(program.strip_prefix("/").unwrap());
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    testkit::build::copy_program(&recorded, &copy);
    let symfs = ["--symfs", root.path().to_str().unwrap()];
    assert_eq!(fold(&run.data(), &symfs).only("main"), live.only("main"));
    assert!(!read("report", &run.data(), &symfs).contains("another build"));
}

#[test]
fn root_separate_debug_files_give_names_and_lines_back() {
    if !requires::root() || !requires::go() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let whole = workload::SHARES.build(Variant::without_frame_pointers());
    let program = folder.path().join("program");
    testkit::build::copy_program(&whole, &program);
    tool("strip", "binutils", &[&program]);
    let run = both(&["-e", "cpu-clock"], &[program.to_str().unwrap(), "0.7"]);
    run.assert_equal();
    assert_eq!(fold(&run.data(), &[]).share_of("leaf_60"), 0.0);
    assert!(read("report", &run.data(), &[]).contains("no symbols"));

    let debug = folder.path().join("debug");
    let file = debug_file(&debug, &read("report", &run.data(), &["--header"]));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    tool("objcopy", "binutils", &[Path::new("--only-keep-debug"), &whole, &file]);
    let debug_dir = ["--debug-dir", debug.to_str().unwrap()];
    let named = fold(&run.data(), &debug_dir);
    named.only("leaf_60").assert_every_stack_holds("main");
    // Inlined functions and lines are known of the debug information alone.
    named.only("leaf_60").assert_every_stack_holds("run_mixed");
    let pprof = folder.path().join("x.pb.gz");
    read("convert", &run.data(), &[&debug_dir[..], &["-o", pprof.to_str().unwrap()]].concat());
    let go = Run::new(requires::find("go").unwrap()).env("HOME", folder.path());
    let top = go.args(["tool", "pprof", "-top", "-lines"]).arg(&pprof).finish().success().stdout_text();
    assert!(top.lines().any(|line| line.contains("leaf_60 ") && line.contains("shares.c:")), "{top}");
}

/// Where the debug file of `program` belongs, by the build id that the header tells.
fn debug_file(debug_dir: &Path, header: &str) -> PathBuf {
    let line = header.lines().find(|line| line.starts_with("file") && line.ends_with("/program"));
    let build_id = line.unwrap_or_else(|| panic!("{header}")).split_whitespace().nth(1).unwrap();
    debug_dir.join(".build-id").join(&build_id[..2]).join(format!("{}.debug", &build_id[2..]))
}

#[test]
fn root_the_kernel_of_another_machine_is_named_by_its_own_symbols() {
    if !requires::root() {
        return;
    }
    let program = workload::SYSCALLS.build(Variant::default());
    let run = both(&["-e", "cpu-clock"], &[program.to_str().unwrap(), "0.7"]);
    run.assert_equal();
    let live = Folded::parse(&String::from_utf8(run.live.clone()).unwrap());
    assert!(live.share_of("do_syscall_64") > 10.0, "{}", live.largest(5));

    // The header holds the kernel's release as text.
    let mut bytes = fs::read(run.data()).unwrap();
    let release = rustix::system::uname().release().to_bytes().to_vec();
    let places: Vec<usize> = (0..bytes.len() - release.len()).filter(|at| bytes[*at..].starts_with(&release)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at] = b'0');
    // And its build id, in the stream and behind it.
    let id = resolve::running_build_id().unwrap();
    let places: Vec<usize> = (0..bytes.len() - 20).filter(|at| bytes[*at..].starts_with(id.as_bytes())).collect();
    assert_eq!(places.len(), 2);
    places.into_iter().for_each(|at| bytes[at] ^= 0xff);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("x.data");
    fs::write(&data, bytes).unwrap();

    let foreign = fold(&data, &[]);
    assert_eq!(foreign.total(), live.total());
    assert_eq!(foreign.share_of("do_syscall_64"), 0.0, "{}", foreign.largest(5));
    assert!(foreign.share_where(|stack| stack.leaf().starts_with("[kernel")) > 10.0, "{}", foreign.largest(5));
    let report = read("report", &data, &[]);
    assert!(report.contains("--kallsyms"), "{report}");

    let symbols = folder.path().join("kallsyms");
    fs::write(&symbols, fs::read("/proc/kallsyms").unwrap()).unwrap();
    let kallsyms = ["--kallsyms", symbols.to_str().unwrap()];
    let named = fold(&data, &kallsyms);
    assert_eq!(named.share_of("do_syscall_64"), live.share_of("do_syscall_64"), "{}", named.largest(5));
    assert_eq!(named.share_of("main"), live.share_of("main"));
}
