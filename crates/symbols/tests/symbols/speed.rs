//! How long look-ups take, for a person to read; nothing here fails for being slow. The shortest
//! of several rounds is told, since others may use the machine.
//! `cargo test --release -p symbols --test symbols -- --ignored --nocapture speed`

use std::fs::File;
use std::time::{Duration, Instant};
use symbols::{Binary, KernelSymbols, Options, Symbolizer};

const ROUNDS: usize = 20;

/// The shortest time that `work` took, and what it gave.
fn best<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        let result = work();
        (start.elapsed(), result)
    });
    rounds.min_by_key(|(time, _)| *time).unwrap()
}

#[test]
#[ignore = "a measurement: see the top of the file"]
fn speed_of_a_binary() {
    // Any program with debug information: this test's own, unless another is named.
    let path = std::env::var_os("SPEED_OF").map_or_else(|| std::env::current_exe().unwrap(), Into::into);
    let file = File::open(&path).unwrap();
    let image = elf::Image::open(&file).unwrap();
    let size: u64 = image.sections().iter().filter(|s| s.name.starts_with(b".debug")).map(|s| s.size).sum();
    let text = image.unwind_sections().unwrap().text.unwrap();
    let binary = Binary { file: &file, image: &image, path: &path };
    for count in [20, 200, 2000] {
        let step = (text.end - text.start) / count;
        let addresses: Vec<u64> = (0..count).map(|index| text.start + index * step).collect();
        for inlines in [true, false] {
            let options = Options { inlines, ..Options::default() };
            let (time, found) = best(|| Symbolizer::new(options.clone()).binary(&binary, &addresses));
            let frames: usize = found.iter().flatten().map(Vec::len).sum();
            let named = found.iter().filter(|found| found.is_ok()).count();
            println!(
                "{} KB of debug information, inlines {inlines}: {time:?}, {named} of {count} named, {frames} frames",
                size / 1024
            );
        }
    }
}

#[test]
#[ignore = "a measurement: see the top of the file"]
fn speed_of_the_kernel() {
    let (read, text) = best(|| std::fs::read("/proc/kallsyms").unwrap());
    let (parsed, _) = best(|| KernelSymbols::parse(text.clone()).unwrap());
    println!("{} KB, read {read:?}, parsed {parsed:?}", text.len() / 1024);
    let (both, symbols) = best(|| KernelSymbols::read().unwrap());
    let (searched, _) = best(|| symbols.address_of(b"_etext"));
    println!("both {both:?}, a name searched in {searched:?}");
}
