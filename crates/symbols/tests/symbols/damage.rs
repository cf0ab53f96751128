//! Files that were cut or damaged give fewer names, with a reason, and never a panic.

use crate::Workshop;
use crate::cpp::LOCAL;
use crate::inlines::build;
use model::NameMissing;
use std::fs::File;
use std::io::Write as _;
use symbols::{Binary, Found, Options, Symbolizer};

/// Looks addresses up in bytes; `None` where they are no ELF file at all.
fn look_up(bytes: &[u8], addresses: &[u64]) -> Option<Vec<Found>> {
    let mut file = File::from(rustix::fs::memfd_create("damaged", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
    file.write_all(bytes).unwrap();
    let image = elf::Image::open(&file).ok()?;
    let options = Options { debug_dirs: Vec::new(), ..Options::default() };
    let binary = Binary { file: &file, image: &image, path: "/damaged".as_ref() };
    Some(Symbolizer::new(options).binary(&binary, addresses))
}

fn assert_sound(found: &[Found]) {
    for found in found {
        match found {
            Ok(frames) => assert!(!frames.is_empty() && frames.iter().all(|frame| !frame.name.is_empty())),
            Err(reason) => assert!(matches!(reason, NameMissing::Stripped | NameMissing::Unreadable)),
        }
    }
}

#[test]
fn cut_files() {
    for flags in [&["-g"][..], &["-g", "-gz=zlib", "-no-pie"], &["-rdynamic"]] {
        let shop = build(flags);
        let bytes = std::fs::read(shop.path("program")).unwrap();
        let addresses = [shop.nm("program", "mark"), shop.nm("program", "i"), shop.nm("program", "_start") + 1, 0];
        for len in (0..bytes.len()).step_by(47) {
            if let Some(found) = look_up(&bytes[..len], &addresses) {
                assert_sound(&found);
                // The section headers stand last: what is cut has none.
                assert!(found.iter().all(|found| *found == Err(NameMissing::Unreadable)), "{len}");
            }
        }
        assert!(look_up(&bytes, &addresses).unwrap()[0].is_ok());
    }
}

#[test]
fn damaged_files() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as usize
    };
    let cpp = Workshop::new("local.cpp", LOCAL);
    cpp.run("g++", &["-O2", "-g", "local.cpp", "-o", "program"]);
    let marks = ["mark", "mark", "mark_nested"];
    for (shop, mark) in [build(&["-g"]), build(&["-g", "-gz=zlib"]), cpp].into_iter().zip(marks) {
        let program = std::fs::read(shop.path("program")).unwrap();
        let addresses = [shop.nm("program", mark), shop.nm("program", "main"), shop.nm("program", "_start") + 1, 0];
        // Where debug information and symbols lie: behind the data, before the section headers.
        let from = program.len() / 2;
        for _ in 0..1000 {
            let mut bytes = program.clone();
            for _ in 0..1 + random() % 6 {
                let at = from + random() % (bytes.len() - from);
                bytes[at] = if random() % 2 == 0 { random() as u8 } else { [0, 0xff, 0x7f, 0x80][random() % 4] };
            }
            if let Some(found) = look_up(&bytes, &addresses) {
                assert_sound(&found);
            }
        }
    }
}
