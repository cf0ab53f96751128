//! A chain of inlined C functions, through every way in which a program can be linked and its
//! debug information stored.

use crate::{Workshop, line_of, look_up, names, shown};
use symbols::Options;

pub(crate) const CHAIN: &str = r#"
static inline __attribute__((always_inline)) int innermost(int x) {
    __asm__ volatile("mark: nop"); // innermost
    return x * 3;
}
static inline __attribute__((always_inline)) int middle(int x) {
    return innermost(x) + 1; // middle
}
__attribute__((noinline)) int outermost(int x) {
    return middle(x) - 2; // outermost
}
__attribute__((noinline)) int a(int x) { __asm__ volatile(""); return x ^ 1; }
__attribute__((noinline)) int i(int x) { __asm__ volatile(""); return a(x) ^ 2; }
int main(int argc, char **argv) { (void)argv; return outermost(argc) + i(argc); }
"#;

pub(crate) fn chain_of_mark() -> Vec<String> {
    ["innermost", "middle", "outermost"]
        .map(|name| {
            let inlined = if name == "outermost" { "" } else { " (inlined)" };
            format!("{name}{inlined} chain.c:{}", line_of(CHAIN, &format!("// {name}")))
        })
        .to_vec()
}

pub(crate) fn build(flags: &[&str]) -> Workshop {
    let shop = Workshop::new("chain.c", CHAIN);
    shop.run("gcc", &[&["-O2", "chain.c", "-o", "program", "-Wl,--build-id=sha1"], flags].concat());
    shop
}

#[test]
fn however_the_program_is_linked() {
    for flags in [
        &["-g", "-pie"][..],
        &["-g", "-no-pie"],
        &["-g", "-static"],
        &["-g", "-static-pie"],
        &["-g", "-gdwarf-4"],
        &["-g", "-gz=zlib"],
        &["-g", "-Wl,--gc-sections", "-ffunction-sections"],
        &["-g", "-flto"],
        &["-g", "-Wl,--build-id=none"],
    ] {
        let shop = build(flags);
        let (mark, a, i) = (shop.nm("program", "mark"), shop.nm("program", "a"), shop.nm("program", "i"));
        // In no order, and one twice.
        let found = shop.look_up("program", &[i, mark, a, mark]);
        assert_eq!(shown(&found[1]), Ok(chain_of_mark()), "{flags:?}");
        assert_eq!(found[3], found[1]);
        assert_eq!(names(&found[0]), Ok(vec!["i"]));
        assert_eq!(names(&found[2]), Ok(vec!["a"]));
        let file = found[1].as_ref().unwrap()[0].file.clone().unwrap();
        assert_eq!(file, shop.path("chain.c").canonicalize().unwrap().to_string_lossy());
    }
}

#[test]
fn compressed_debug_information() {
    let shop = build(&["-g"]);
    let mark = shop.nm("program", "mark");
    for format in ["zlib", "zstd"] {
        shop.run("objcopy", &[&format!("--compress-debug-sections={format}"), "program", "packed"]);
        assert_eq!(shown(&shop.look_up("packed", &[mark])[0]), Ok(chain_of_mark()), "{format}");
    }
}

/// So many addresses are shared out among threads.
#[test]
fn many_addresses_give_the_same_as_few() {
    let path = std::env::current_exe().unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let text = elf::Image::open(&file).unwrap().unwind_sections().unwrap().text.unwrap();
    let step = (text.end - text.start) / 1500;
    let addresses: Vec<u64> = (0..1500).rev().map(|index| text.start + index * step).collect();
    let whole = look_up(&path, Options::default(), &addresses);
    let parts: Vec<_> = addresses.chunks(200).flat_map(|part| look_up(&path, Options::default(), part)).collect();
    assert!(whole == parts);
    assert!(whole.iter().flatten().filter(|frames| frames.len() > 1).count() > 100);
    // The function is the same with and without what was inlined into it.
    let names_only = look_up(&path, Options { inlines: false, ..Options::default() }, &addresses);
    for (found, name) in whole.iter().zip(&names_only) {
        let outer = found.as_ref().map(|frames| &frames.last().unwrap().name);
        assert_eq!(outer, name.as_ref().map(|frames| &frames[0].name));
    }
}

#[test]
fn without_inlines_the_function_keeps_its_name() {
    let shop = build(&["-g"]);
    let options = Options { inlines: false, ..shop.options() };
    let found = look_up(&shop.path("program"), options, &[shop.nm("program", "mark")]);
    assert_eq!(shown(&found[0]).unwrap(), ["outermost ?:0"]);
}

#[test]
fn the_open_file_counts_and_not_its_path() {
    let (first, second) =
        (build(&["-g"]), Workshop::new("b.c", "int other(int x) { return x; } int main() { return other(1); }"));
    second.run("gcc", &["-g", "-O0", "b.c", "-o", "program"]);
    let mark = first.nm("program", "mark");
    let file = std::fs::File::open(first.path("program")).unwrap();
    let image = elf::Image::open(&file).unwrap();
    // Another program under the path: the open one is looked up.
    std::fs::rename(second.path("program"), first.path("program")).unwrap();
    let path = first.path("program");
    let mut symbolizer = symbols::Symbolizer::new(first.options());
    let found = symbolizer.binary(&symbols::Binary { file: &file, image: &image, path: &path }, &[mark]);
    assert_eq!(shown(&found[0]), Ok(chain_of_mark()));
    // Another program under the same descriptor, in the same session.
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    drop(file);
    let file = std::fs::File::open(&path).unwrap();
    assert_eq!(std::os::fd::AsRawFd::as_raw_fd(&file), number);
    let image = elf::Image::open(&file).unwrap();
    let other = first.nm("program", "other");
    let found = symbolizer.binary(&symbols::Binary { file: &file, image: &image, path: &path }, &[other + 4]);
    assert_eq!(shown(&found[0]).unwrap(), ["other b.c:1"]);
}

#[test]
fn a_program_in_memory() {
    let shop = build(&["-g"]);
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let mut file = std::fs::File::from(rustix::fs::memfd_create("program", flags).unwrap());
    std::io::Write::write_all(&mut file, &std::fs::read(shop.path("program")).unwrap()).unwrap();
    let image = elf::Image::open(&file).unwrap();
    let binary = symbols::Binary { file: &file, image: &image, path: "[memory]".as_ref() };
    let found = symbols::Symbolizer::new(shop.options()).binary(&binary, &[shop.nm("program", "mark")]);
    assert_eq!(shown(&found[0]), Ok(chain_of_mark()));
}

#[test]
fn thirty_two_bits() {
    let shop = Workshop::new(
        "chain.c",
        &CHAIN.replace("int main(int argc, char **argv)", "int _start(int argc, char **argv)"),
    );
    shop.run("gcc", &["-m32", "-g", "-O2", "-nostdlib", "-static", "-fno-pie", "-no-pie", "chain.c", "-o", "program"]);
    let found = shop.look_up("program", &[shop.nm("program", "mark")]);
    assert_eq!(shown(&found[0]), Ok(chain_of_mark()));
}
