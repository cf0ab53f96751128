//! Files that were cut, damaged, or are no ELF files: an error or less knowledge, never a
//! panic, and never an allocation beyond the file's size.

use crate::Workshop;
use elf::{ErrorKind, Image};
use model::FileOffset;

/// Asks an image for everything, and whether it could be opened.
fn exercise(bytes: Vec<u8>) -> Result<(), ErrorKind> {
    let image = Image::from_bytes(bytes).map_err(|error| error.kind())?;
    for section in image.sections() {
        let _ = image.section_len(section);
        if let Ok(data) = image.section_data(section) {
            assert!((data.len() as u64) < 2000 * image.file_len());
        }
    }
    for table in [image.symbols(), image.dynamic_symbols()].into_iter().flatten() {
        let _ = table.for_each(|symbol| _ = table.name(&symbol));
    }
    let _ = image.unwind_sections();
    let _ = image.stubs();
    let _ = image.text();
    let entry = image.entry().unwrap_or(0);
    for address in [0, 1, entry, entry.wrapping_add(5), image.base_address(), u64::MAX] {
        image.function_containing(address);
        image.address_of(FileOffset(address));
    }
    let _ = (image.build_id(), image.debug_link(), image.has_symbols(), image.has_debug_info(), image.segments());
    Ok(())
}

fn programs() -> Vec<Vec<u8>> {
    let shop = Workshop::new();
    let wide = shop.gcc("main.c", &["-g", "-gz"]);
    let wide = std::fs::read(wide).unwrap();
    let narrow = shop.gcc("free.c", &["-m32", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-g"]);
    vec![wide, std::fs::read(narrow).unwrap()]
}

#[test]
fn cut_files() {
    for program in programs() {
        for len in (0..program.len()).filter(|len| *len < 1024 || len % 61 == 0) {
            let result = exercise(program[..len].to_vec());
            if len < 52 {
                assert!(matches!(result, Err(ErrorKind::NotElf | ErrorKind::CutShort)), "{len}: {result:?}");
            }
        }
        let cut = Image::from_bytes(program[..program.len() - 1].to_vec()).unwrap();
        assert_eq!(cut.damage().unwrap().kind(), ErrorKind::CutShort);
    }
}

#[test]
fn damaged_files() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as usize
    };
    for program in programs() {
        let section_headers = program.len() * 4 / 5;
        for round in 0..1200 {
            let mut bytes = program.clone();
            for _ in 0..1 + random() % 8 {
                // Most of the file is code and debug information: aim at the headers as well.
                let at = match round % 3 {
                    0 => random() % 0x400,
                    1 => section_headers + random() % (bytes.len() - section_headers),
                    _ => random() % bytes.len(),
                };
                bytes[at] = if random() % 2 == 0 { random() as u8 } else { [0, 0xff, 0x7f, 0x80][random() % 4] };
            }
            let _ = exercise(bytes);
        }
    }
}

#[test]
fn what_is_no_elf_file() {
    for bytes in [&b""[..], b"\x7f", b"#!/bin/sh\necho no ELF file\n", &[0; 4096], b"\x7fELF\x07\x01\x01"] {
        let error = Image::from_bytes(bytes.to_vec()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotElf);
        assert_eq!(error.to_string(), "cannot read the ELF header: this is no ELF file");
    }
    let folder = std::fs::File::open(std::env::temp_dir()).unwrap();
    assert_eq!(Image::open(&folder).unwrap_err().kind(), ErrorKind::Io);
}

/// A thousand section headers that each name the same megabyte.
#[test]
fn long_names_are_not_copied_often() {
    let headers = 1000u64;
    let mut bytes = vec![0; 64];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    bytes[40..48].copy_from_slice(&64u64.to_le_bytes());
    bytes[58..60].copy_from_slice(&64u16.to_le_bytes());
    bytes[60..62].copy_from_slice(&(headers as u16).to_le_bytes());
    for _ in 0..headers {
        let mut header = [0; 64];
        header[24..32].copy_from_slice(&(64 + 64 * headers).to_le_bytes());
        header[32..40].copy_from_slice(&(1u64 << 20).to_le_bytes());
        bytes.extend(header);
    }
    bytes.resize(bytes.len() + (1 << 20), b'x');
    let image = Image::from_bytes(bytes).unwrap();
    assert!(image.sections().iter().map(|section| section.name.len()).sum::<usize>() <= 256 * headers as usize);
}
