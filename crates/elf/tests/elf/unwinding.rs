//! Unwind sections and the extents of functions, with and without section headers.

use crate::{Workshop, open, without_section_headers};
use elf::Image;

#[test]
fn sections_are_found_by_name() {
    let shop = Workshop::new();
    let path = shop.gcc("main.c", &[]);
    let image = open(&path);
    let found = image.unwind_sections().unwrap();
    let file = std::fs::read(&path).unwrap();
    for (name, data) in [(".eh_frame", found.eh_frame.unwrap()), (".eh_frame_hdr", found.eh_frame_hdr.unwrap())] {
        let section = image.section(name).unwrap();
        assert_eq!(data.addresses, section.addresses());
        assert_eq!(*data.bytes, file[section.file_offset as usize..][..section.size as usize]);
    }
    let text = image.text().unwrap().unwrap();
    assert_eq!(found.text, Some(text.addresses.clone()));
    assert_eq!(text.bytes.len() as u64, text.addresses.end - text.addresses.start);
    assert!(text.addresses.contains(&shop.nm("program", "leaf")));
    assert!(found.got.is_some());
    assert!(found.debug_frame.is_none());
}

#[test]
fn sections_are_found_by_program_headers() {
    let shop = Workshop::new();
    for flags in [&["-pie"][..], &["-no-pie"]] {
        let path = shop.gcc("main.c", flags);
        let known = open(&path).unwind_sections().unwrap();
        let bare = Image::from_bytes(without_section_headers(std::fs::read(&path).unwrap())).unwrap();
        let found = bare.unwind_sections().unwrap();
        let (known_frames, frames) = (known.eh_frame.unwrap(), found.eh_frame.unwrap());
        assert_eq!(frames.addresses.start, known_frames.addresses.start);
        assert!(frames.bytes.starts_with(&known_frames.bytes));
        assert_eq!(found.eh_frame_hdr, known.eh_frame_hdr);
        let (text, known_text) = (found.text.unwrap(), known.text.unwrap());
        assert!(text.start <= known_text.start && text.end >= known_text.end);
        let leaf = shop.nm("program", "leaf");
        assert_eq!(bare.function_containing(leaf + 1).unwrap().start, leaf);
    }
}

#[test]
fn debug_frame_is_decompressed() {
    let shop = Workshop::new();
    let flags = ["-g", "-fno-asynchronous-unwind-tables", "-no-pie"];
    let plain = open(&shop.gcc("main.c", &flags)).unwind_sections().unwrap().debug_frame.unwrap();
    assert!(!plain.is_empty());
    // Binutils compresses only what gets smaller by it, which the debug frame of a small file
    // may not; the sections that do must come out the same.
    let known = open(&shop.path("program"));
    for format in ["zlib", "zlib-gnu", "zstd"] {
        shop.run("objcopy", &[&format!("--compress-debug-sections={format}"), "program", "packed"]);
        let packed = open(&shop.path("packed"));
        let mut smaller = 0;
        for section in known.sections().iter().filter(|section| section.name.starts_with(b".debug_")) {
            let name = std::str::from_utf8(&section.name).unwrap();
            let other = packed.section(name).or_else(|| packed.section(&name.replace(".debug", ".zdebug"))).unwrap();
            smaller += usize::from(other.size < section.size);
            assert_eq!(packed.section_len(other).unwrap(), section.size, "{format} {name}");
            assert_eq!(packed.section_data(other).unwrap(), known.section_data(section).unwrap(), "{format} {name}");
        }
        assert!(smaller > 0, "{format} compressed nothing");
        assert_eq!(packed.unwind_sections().unwrap().debug_frame.unwrap(), plain);
    }
}

#[test]
fn functions_end_where_the_compiler_ended_them() {
    let shop = Workshop::new();
    // By .eh_frame, and by the symbol table where there is none.
    for flags in [&[][..], &["-fno-asynchronous-unwind-tables"], &["-Wl,--no-eh-frame-hdr", "-static"]] {
        let image = open(&shop.gcc("main.c", flags));
        let (leaf, branch) = (shop.nm("program", "leaf"), shop.nm("program", "branch"));
        let extent = image.function_containing(leaf).unwrap();
        assert_eq!(extent.start, leaf, "{flags:?}");
        assert!(extent.end <= branch && extent.end > leaf, "{flags:?}");
        assert_eq!(image.function_containing(extent.end - 1), Some(extent));
        assert_eq!(image.function_containing(branch).unwrap().start, branch);
        assert_eq!(image.function_containing(0), None);
        let entry = image.entry().unwrap();
        assert_eq!(image.function_containing(entry + 4).unwrap().start, entry, "{flags:?}");
    }
}

/// musl's `_start` is a label without type, size and frame entry.
#[test]
fn a_label_reaches_to_the_next_symbol() {
    let shop = Workshop::new();
    let source =
        ".globl _start\n_start: nop\nnop\nhlt\n.globl after\n.type after,@function\nafter: ret\n.size after, 1\n";
    std::fs::write(shop.path("start.s"), source).unwrap();
    let image = open(&shop.gcc("start.s", &["-nostdlib", "-static", "-no-pie"]));
    let entry = image.entry().unwrap();
    assert_eq!(image.function_containing(entry + 2), Some(entry..entry + 3));
    assert_eq!(image.function_containing(entry + 3), Some(entry + 3..entry + 4));
}
