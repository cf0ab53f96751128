//! Programs from which symbols were taken away, and what is left to name them by.

use crate::inlines::{build, chain_of_mark};
use crate::{Workshop, names, shown};
use model::NameMissing;

#[test]
fn without_debug_information_the_symbol_table_names() {
    let shop = build(&[]);
    let mark = shop.nm("program", "mark");
    assert_eq!(shown(&shop.look_up("program", &[mark])[0]).unwrap(), ["outermost ?:0"]);
}

#[test]
fn without_symbols_there_is_a_reason() {
    let shop = build(&["-s"]);
    let found = shop.look_up("program", &[0, 0x1000, 0x1100, u64::MAX]);
    assert!(found.iter().all(|found| *found == Err(NameMissing::Stripped)), "{found:?}");
}

#[test]
fn exported_functions_keep_their_names() {
    let shop = build(&["-rdynamic", "-g"]);
    let (mark, main) = (shop.nm("program", "mark"), shop.nm("program", "main"));
    let start = shop.nm("program", "_start");
    shop.run("strip", &["program"]);
    let found = shop.look_up("program", &[mark, main, start + 3]);
    assert_eq!(names(&found[0]).unwrap(), ["outermost"]);
    assert_eq!(names(&found[1]).unwrap(), ["main"]);
    assert_eq!(names(&found[2]).unwrap(), ["_start"]);
}

#[test]
fn debug_information_without_a_symbol_table() {
    let shop = build(&["-g"]);
    let mark = shop.nm("program", "mark");
    shop.run("objcopy", &["--remove-section=.symtab", "--remove-section=.strtab", "program"]);
    assert_eq!(shown(&shop.look_up("program", &[mark])[0]), Ok(chain_of_mark()));
    let options = symbols::Options { inlines: false, ..shop.options() };
    assert_eq!(shown(&crate::look_up(&shop.path("program"), options, &[mark])[0]).unwrap(), ["outermost ?:0"]);
}

/// As Fedora ships its programs: the symbols that the loader does not need, compressed.
#[test]
fn compressed_symbols_of_a_stripped_program() {
    let shop = build(&[]);
    let (mark, i) = (shop.nm("program", "mark"), shop.nm("program", "i"));
    shop.run("objcopy", &["--strip-debug", "--remove-section=.comment", "program", "mini"]);
    shop.run("xz", &["mini"]);
    shop.run("strip", &["program"]);
    shop.run("objcopy", &["--add-section", ".gnu_debugdata=mini.xz", "program"]);
    let found = shop.look_up("program", &[mark, i + 1]);
    assert_eq!(names(&found[0]).unwrap(), ["outermost"]);
    assert_eq!(names(&found[1]).unwrap(), ["i"]);
    // The stubs through which imported functions are called belong to none of the symbols.
    let first_stub = elf::Image::open(&std::fs::File::open(shop.path("program")).unwrap())
        .unwrap()
        .section(".plt")
        .map(|section| section.address);
    if let Some(stub) = first_stub {
        assert_eq!(shop.look_up("program", &[stub])[0], Err(NameMissing::Stripped));
    }
}

#[test]
fn labels_without_an_extent() {
    let source = "
.globl sized, label, after
.type sized, @function
sized: nop
nop
.size sized, 2
nop
label: nop
nop
.type after, @function
after: ret
.size after, 1
.section .other, \"ax\"
nop
";
    let shop = Workshop::new("a.s", source);
    shop.run("gcc", &["-nostdlib", "-static", "-Wl,-e,sized", "a.s", "-o", "program"]);
    let sized = shop.nm("program", "sized");
    let found = shop.look_up("program", &[sized + 1, sized + 2, sized + 3, sized + 4, sized + 5, sized + 6]);
    assert_eq!(names(&found[0]).unwrap(), ["sized"]);
    // Behind a function's end there is no function.
    assert_eq!(found[1], Err(NameMissing::Stripped));
    assert_eq!(names(&found[2]).unwrap(), ["label"]);
    assert_eq!(names(&found[3]).unwrap(), ["label"]);
    assert_eq!(found[3].as_ref().unwrap()[0].offset, Some(1));
    assert_eq!(names(&found[4]).unwrap(), ["after"]);
    // Another section.
    assert_eq!(found[5], Err(NameMissing::Stripped));
}

#[test]
fn one_of_several_names() {
    let source = "
.globl __write, write_more, zz
.weak write
.type __write, @function
.type write, @function
.type write_more, @function
.type local, @function
__write: write: write_more: local: ret
.size __write, 1
.size write, 1
.size write_more, 1
.size local, 1
";
    let shop = Workshop::new("a.s", source);
    shop.run("gcc", &["-nostdlib", "-static", "-Wl,-e,write", "a.s", "-o", "program"]);
    assert_eq!(names(&shop.look_up("program", &[shop.nm("program", "local")])[0]).unwrap(), ["write_more"]);
}

#[test]
fn versions_of_a_library_are_no_part_of_its_names() {
    let shop = Workshop::new(
        "lib.c",
        "int old(void) { return 1; } int new(void) { return 2; }
__asm__(\".symver old, call@V1\"); __asm__(\".symver new, call@@V2\");",
    );
    std::fs::write(shop.path("map"), "V1 { global: call; local: *; }; V2 {} V1;").unwrap();
    shop.run("gcc", &["-shared", "-fPIC", "-Wl,--version-script=map", "lib.c", "-o", "lib.so"]);
    let text = shop.run("nm", &["lib.so"]);
    let address = |version: &str| {
        let line = text.lines().find(|line| line.ends_with(version)).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    };
    let found = shop.look_up("lib.so", &[address("call@@V2"), address("call@V1")]);
    assert!(found.iter().all(|found| names(found).unwrap() != ["call@@V2"]), "{found:?}");
}

#[test]
fn the_vdso() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let Some(line) = maps.lines().find(|line| line.ends_with("[vdso]")) else { return };
    let (start, rest) = line.split_once('-').unwrap();
    let number = |text| u64::from_str_radix(text, 16).unwrap();
    let (start, end) = (number(start), number(rest.split(' ').next().unwrap()));
    let mut bytes = vec![0; (end - start) as usize];
    let memory = std::fs::File::open("/proc/self/mem").unwrap();
    std::os::unix::fs::FileExt::read_exact_at(&memory, &mut bytes, start).unwrap();
    let shop = Workshop::new("vdso", "");
    std::fs::write(shop.path("vdso"), bytes).unwrap();
    let text = shop.run("nm", &["-D", "vdso"]);
    let line = text.lines().find(|line| line.contains(" __vdso_clock_gettime")).unwrap();
    let address = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
    assert_eq!(names(&shop.look_up("vdso", &[address + 1])[0]).unwrap(), ["__vdso_clock_gettime"]);
}

/// glibc keeps `cfree` for programs of long ago at the address of `free`; perf shows the longest.
#[test]
fn a_name_that_nobody_can_link_to_any_more_is_not_shown() {
    let source = "
int release(int x) { return x * 3 + 1; }
int old_name(int) __attribute__((alias(\"release\")));
__asm__(\".symver old_name, old_release@OLD\");
";
    let shop = Workshop::new("versions.c", source);
    std::fs::write(shop.path("versions.map"), "OLD { };\nNEW { global: release; local: *; } OLD;\n").unwrap();
    let flags = ["-O1", "-shared", "-fPIC", "-nostdlib", "-Wl,--version-script=versions.map", "versions.c", "-o"];
    shop.run("gcc", &[&flags[..], &["versions.so"]].concat());
    let release = shop.nm("versions.so", "release");
    for strip in [false, true] {
        if strip {
            shop.run("strip", &["versions.so"]);
        }
        assert_eq!(names(&shop.look_up("versions.so", &[release])[0]).unwrap(), ["release"], "stripped: {strip}");
    }
}

/// perf names them too: short functions called often, and hot in programs that do little else.
#[test]
fn stubs_are_named_after_the_function_that_they_call() {
    let source = "
extern int strcmp(const char *, const char *);
int main(int argc, char **argv) { return strcmp(argv[0], argv[argc - 1]); }
";
    let shop = Workshop::new("stub.c", source);
    shop.run("gcc", &["-O1", "-fno-builtin", "-Wl,-z,lazy", "stub.c", "-o", "program"]);
    let text = shop.run("objdump", &["-d", "program"]);
    let stub = text.lines().find_map(|line| line.strip_suffix(" <strcmp@plt>:")).unwrap();
    let stub = u64::from_str_radix(stub, 16).unwrap();
    for strip in [false, true] {
        if strip {
            shop.run("strip", &["program"]);
        }
        let found = shop.look_up("program", &[stub, stub + 6, stub + 15]);
        assert!(found.iter().all(|found| names(found) == Ok(vec!["strcmp@plt"])), "{found:?}");
    }
}

/// Every way to a name knows where the function starts.
#[test]
fn offsets_count_from_the_functions_start() {
    let whole_table = ["--remove-section=.symtab", "--remove-section=.strtab"];
    let kinds: [(&str, &[&str], &[&str]); 3] = [
        ("symbol table", &["-g"], &[]),
        ("DWARF", &["-g"], &whole_table),
        ("dynamic symbols", &["-rdynamic"], &whole_table),
    ];
    for (left, flags, removed) in kinds {
        let shop = build(flags);
        let (mark, outermost) = (shop.nm("program", "mark"), shop.nm("program", "outermost"));
        shop.run("objcopy", &[removed, &["program"]].concat());
        let found = shop.look_up("program", &[outermost, mark]);
        let offsets = |at: usize| found[at].as_ref().unwrap().iter().map(|frame| frame.offset).collect::<Vec<_>>();
        assert_eq!(offsets(0).last(), Some(&Some(0)), "{left}");
        let mut inlined = offsets(1);
        assert_eq!(inlined.pop(), Some(Some(mark - outermost)), "{left}");
        assert!(inlined.iter().all(Option::is_none), "{left}");
    }
    let shop = Workshop::new("a.c", "int main(void) { return getpid(); }");
    shop.run("gcc", &["-w", "-fcf-protection=none", "-Wl,-z,lazy", "a.c", "-o", "program"]);
    let file = std::fs::File::open(shop.path("program")).unwrap();
    let stubs = elf::Image::open(&file).unwrap().stubs().unwrap();
    let stub = stubs.iter().find(|stub| stub.name == b"getpid").unwrap().addresses.start;
    let found = shop.look_up("program", &[stub + 6]);
    let frame = &found[0].as_ref().unwrap()[0];
    assert_eq!((frame.name.as_str(), frame.offset), ("getpid@plt", Some(6)));
}
