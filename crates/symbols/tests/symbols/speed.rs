//! How long look-ups take, for a person to read; nothing here fails for being slow.
//! `cargo test --release -p symbols --test symbols -- --ignored --nocapture speed`

use std::fs::File;
use std::time::Instant;
use symbols::{Binary, KernelSymbols, Options, Symbolizer};

#[test]
#[ignore = "a measurement: see the top of the file"]
fn speed_of_a_binary() {
    // Any program with debug information: this test's own, unless another is named.
    let path = std::env::var_os("SPEED_OF").map_or_else(|| std::env::current_exe().unwrap(), Into::into);
    let file = File::open(&path).unwrap();
    let image = elf::Image::open(&file).unwrap();
    let size: u64 = image.sections().iter().filter(|s| s.name.starts_with(b".debug")).map(|s| s.size).sum();
    let text = image.unwind_sections().unwrap().text.unwrap();
    let step = (text.end - text.start) / 2000;
    let addresses: Vec<u64> = (0..2000).map(|index| text.start + index * step).collect();
    let binary = Binary { file: &file, image: &image, path: &path };
    for inlines in [true, false] {
        for round in 0..3 {
            let options = Options { inlines, ..Options::default() };
            let start = Instant::now();
            let found = Symbolizer::new(options).binary(&binary, &addresses);
            let frames: usize = found.iter().flatten().map(Vec::len).sum();
            let named = found.iter().filter(|found| found.is_ok()).count();
            println!(
                "{} KB of debug information, inlines {inlines}, round {round}: {:?}, {named} named, {frames} frames",
                size / 1024,
                start.elapsed()
            );
        }
    }
}

#[test]
#[ignore = "a measurement: see the top of the file"]
fn speed_of_the_kernel() {
    for _ in 0..3 {
        let start = Instant::now();
        let text = std::fs::read("/proc/kallsyms").unwrap();
        let read = start.elapsed();
        let symbols = KernelSymbols::parse(text).unwrap();
        println!("read {read:?}, parsed {:?}", start.elapsed() - read);
        drop(symbols);
    }
}
