//! The running kernel's symbols.

use symbols::{KernelSymbols, Symbolizer};

#[test]
fn the_running_kernel() {
    let Ok(text) = std::fs::read_to_string("/proc/kallsyms") else {
        eprintln!("SKIPPED the_running_kernel: /proc/kallsyms cannot be read");
        return;
    };
    let find = |name: &str| text.lines().find(|line| line.ends_with(&format!(" {name}"))).map(|line| &line[..16]);
    let Some(address) = find("vfs_read").map(|hex| u64::from_str_radix(hex, 16).unwrap()) else {
        eprintln!("SKIPPED the_running_kernel: it does not tell of vfs_read");
        return;
    };
    let found = Symbolizer::default().kernel(&[address + 1, address, 0x1000]);
    if address == 0 {
        assert!(found.iter().all(|found| *found == Err(model::NameMissing::KernelHidden)));
        return;
    }
    for found in &found[..2] {
        assert_eq!(found.as_ref().unwrap()[0].name, "vfs_read");
    }
    assert_eq!(found[2], Err(model::NameMissing::Stripped));
    let symbols = KernelSymbols::read().unwrap();
    assert_eq!(symbols.find(model::Address(address)).unwrap().module, None);
}
