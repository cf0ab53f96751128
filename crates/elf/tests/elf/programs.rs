//! What is known of whole programs.

use crate::{Workshop, open, without_section_headers};
use elf::{Image, Machine};
use model::FileOffset;
use std::process::Command;

#[test]
fn position_independent_and_not_and_static() {
    let shop = Workshop::new();
    for (flags, independent) in
        [(&["-pie"][..], true), (&["-no-pie"], false), (&["-static", "-no-pie"], false), (&["-static-pie"], true)]
    {
        let image = open(&shop.gcc("main.c", flags));
        assert_eq!(image.is_position_independent(), independent, "{flags:?}");
        assert_eq!(image.base_address() == 0, independent, "{flags:?}");
        assert!(image.is_64bit());
        assert!(image.has_symbols() && !image.has_debug_info());
        assert!(image.debug_link().is_none() && image.damage().is_none());
        assert_eq!(image.build_id().unwrap().as_bytes().len(), 20);
        // The entry is the start of `_start`, and lies in an executable segment.
        let entry = image.entry().unwrap();
        assert_eq!(entry, shop.nm("program", "_start"), "{flags:?}");
        let code = image.segments().iter().find(|segment| segment.addresses().contains(&entry)).unwrap();
        assert!(code.executable);
        let offset = FileOffset(entry - code.address + code.file_offset);
        assert_eq!(image.address_of(offset), Some(entry));
        assert_eq!(image.address_of(FileOffset(image.file_len())), None);
    }
}

#[test]
fn the_build_id_is_the_one_that_readelf_tells() {
    let shop = Workshop::new();
    let program = shop.gcc("main.c", &[]);
    let output = Command::new("readelf").arg("-n").arg(&program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = text.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap();
    assert_eq!(open(&program).build_id().unwrap().to_string(), told);
    // By the program headers alone, too.
    let bare = Image::from_bytes(without_section_headers(std::fs::read(&program).unwrap())).unwrap();
    assert_eq!(bare.build_id().unwrap().to_string(), told);
    assert!(bare.sections().is_empty() && !bare.has_symbols() && bare.damage().is_none());
    // And in a file that holds only the debug information.
    shop.run("objcopy", &["--only-keep-debug", "program", "program.debug"]);
    assert_eq!(open(&shop.path("program.debug")).build_id().unwrap().to_string(), told);
}

#[test]
fn symbols_have_the_names_that_nm_tells() {
    let shop = Workshop::new();
    let long = "x".repeat(70_000);
    let asm = format!(".globl {long}\n.type {long},@function\n{long}: ret\n.size {long},1\nlocal: ret\n");
    std::fs::write(shop.path("long.s"), asm).unwrap();
    let image = open(&shop.gcc("main.c", &["long.s", "-rdynamic"]));
    for table in [image.symbols().unwrap(), image.dynamic_symbols().unwrap()] {
        let mut named = Vec::new();
        table.for_each(|symbol| named.push((table.name(&symbol).unwrap(), symbol))).unwrap();
        let find = |name: &str| named.iter().find(|(found, _)| found == name.as_bytes()).unwrap().1;
        let leaf = find("leaf");
        assert_eq!(leaf.address, shop.nm("program", "leaf"));
        assert!(leaf.size > 0 && leaf.is_function && leaf.binding == elf::Binding::Global);
        // 64 KiB of a name are enough, labels of the assembler and undefined symbols are none.
        assert_eq!(named.iter().filter(|(name, _)| name.len() == 64 << 10).count(), 1);
        assert!(named.iter().all(|(name, _)| name != b"local" && name != b"printf"));
    }
}

#[test]
fn no_build_id_is_none() {
    let shop = Workshop::new();
    assert_eq!(open(&shop.gcc("main.c", &["-Wl,--build-id=none"])).build_id(), None);
}

#[test]
fn debug_information_and_links_to_it() {
    let shop = Workshop::new();
    let whole = open(&shop.gcc("main.c", &["-g"]));
    assert!(whole.has_debug_info());
    shop.run("objcopy", &["--only-keep-debug", "program", "a b.debug"]);
    shop.run("objcopy", &["--strip-all", "--add-gnu-debuglink=a b.debug", "program"]);
    let stripped = open(&shop.path("program"));
    assert!(!stripped.has_debug_info());
    let link = stripped.debug_link().unwrap();
    assert_eq!(link.name, "a b.debug");
    let output = Command::new("readelf").arg("--debug-dump=links").arg(shop.path("program")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("CRC value: {:#x}", link.crc32)), "{text}");
    // The bytes of the code are not in the debug file, though it names the section.
    let debug = open(&shop.path("a b.debug"));
    assert!(debug.has_debug_info());
    assert!(debug.section(".text").is_none());
}

#[test]
fn thirty_two_bits() {
    let shop = Workshop::new();
    let image = open(&shop.gcc("free.c", &["-m32", "-nostdlib", "-static", "-fno-pie", "-no-pie"]));
    assert_eq!(image.machine(), Machine::Other(3));
    assert!(!image.is_64bit() && image.has_symbols());
    assert!(image.build_id().is_some());
    assert_eq!(image.entry(), Some(shop.nm("program", "_start")));
    let leaf = shop.nm("program", "leaf");
    let extent = image.function_containing(leaf + 1).unwrap();
    assert_eq!(extent.start, leaf);
    assert!(extent.end < image.entry().unwrap().max(leaf + 64));
}

/// A header, one `PT_NOTE` and one `PT_LOAD`, written by hand: no tool here makes them.
#[test]
fn big_endian() {
    let mut bytes = vec![0; 64];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x02\x01");
    bytes[16..18].copy_from_slice(&3u16.to_be_bytes());
    bytes[18..20].copy_from_slice(&22u16.to_be_bytes());
    bytes[24..32].copy_from_slice(&0x1010u64.to_be_bytes());
    bytes[32..40].copy_from_slice(&64u64.to_be_bytes());
    bytes[54..56].copy_from_slice(&56u16.to_be_bytes());
    bytes[56..58].copy_from_slice(&2u16.to_be_bytes());
    for (kind, flags, offset, address, size) in [(1u32, 5u32, 0u64, 0x1000u64, 200u64), (4, 4, 176, 0x10b0, 24)] {
        bytes.extend(kind.to_be_bytes());
        bytes.extend(flags.to_be_bytes());
        for field in [offset, address, address, size, size, 4] {
            bytes.extend(field.to_be_bytes());
        }
    }
    for field in [4u32, 8, 3] {
        bytes.extend(field.to_be_bytes());
    }
    bytes.extend(b"GNU\0\x01\x02\x03\x04\x05\x06\x07\x08");
    let image = Image::from_bytes(bytes).unwrap();
    assert_eq!(image.machine(), Machine::Other(22));
    assert_eq!(image.build_id().unwrap().to_string(), "0102030405060708");
    assert_eq!(image.entry(), Some(0x1010));
    assert_eq!(image.base_address(), 0x1000);
    assert_eq!(image.address_of(FileOffset(0x10)), Some(0x1010));
}

#[test]
fn an_image_outlives_the_path_and_the_descriptor() {
    let shop = Workshop::new();
    let program = shop.gcc("main.c", &[]);
    let image = open(&program);
    std::fs::remove_file(&program).unwrap();
    assert!(image.function_containing(image.entry().unwrap()).is_some());
    fn is_shared_between_threads<T: Send + Sync>(_: &T) {}
    is_shared_between_threads(&image);
}

/// Each kind of table that gcc and binutils make: lazy, eager (`.plt.got`), with `endbr64`.
#[test]
fn stubs_are_those_that_objdump_names() {
    let shop = Workshop::new();
    for flags in
        [&["-Wl,-z,lazy"][..], &["-Wl,-z,now", "-fno-plt"], &["-fcf-protection", "-Wl,-z,ibtplt"], &["-static"]]
    {
        let image = open(&shop.gcc("main.c", flags));
        let stubs = image.stubs().unwrap();
        let output = Command::new("objdump").args(["-d", "program"]).current_dir(shop.path("")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // `0000000000001030 <printf@plt>:`, the header of the table being an offset to one.
        let told = text.lines().filter_map(|line| line.strip_suffix("@plt>:")?.split_once(" <"));
        let told: Vec<(u64, &str)> =
            told.map(|(address, name)| (u64::from_str_radix(address, 16).unwrap(), name)).collect();
        let found = stubs.iter().map(|stub| (stub.addresses.start, std::str::from_utf8(&stub.name).unwrap()));
        let found: Vec<(u64, &str)> = found.collect();
        // In a table of two halves, what is called is the second, and objdump names that alone.
        assert_eq!(found, told, "{flags:?}");
        assert!(stubs.windows(2).all(|pair| pair[0].addresses.end <= pair[1].addresses.start), "{stubs:?}");
        assert_eq!(
            found.iter().any(|(_, name)| *name == "printf"),
            !flags.contains(&"-static") && !flags.contains(&"-fno-plt"),
            "{text}"
        );
    }
}
