//! The running kernel's symbols, and those of files.

use crate::Workshop;
use model::Address;
use std::fs::File;
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
    let symbols = match KernelSymbols::read() {
        Ok(symbols) => symbols,
        Err(reason) => return assert_eq!((reason, address), (model::NameMissing::KernelHidden, 0)),
    };
    for offset in [0, 1] {
        let at = Address(address + offset);
        let symbol = symbols.find(at).unwrap();
        assert_eq!((symbol.start, symbol.module), (Address(address), None));
        let frame = Symbolizer::default().kernel(&symbol, at);
        assert_eq!((frame.name.as_str(), frame.offset), ("vfs_read", Some(offset)));
    }
    assert_eq!(symbols.find(Address(0x1000)), None);
    assert_eq!(symbols.address_of(b"vfs_read"), Some(Address(address)));
}

/// A program that is linked where a kernel lies stands for its `vmlinux`.
#[test]
fn a_vmlinux() {
    let source = "int data = 1; void first(void) {} static void second(void) {} void (*keep)(void) = second;";
    let shop = Workshop::new("kernel.c", source);
    let link = ["-nostdlib", "-static", "-Wl,-Ttext=0xffffffff81000000", "-Wl,--defsym=_text=0xffffffff80000000"];
    shop.run(
        "gcc",
        &[&["-O1", "-mcmodel=kernel", "-fno-pie", "-no-pie", "-g", "kernel.c", "-o", "vmlinux"], &link[..]].concat(),
    );
    shop.run("objcopy", &["--only-keep-debug", "vmlinux", "vmlinux.debug"]);
    for file in ["vmlinux", "vmlinux.debug"] {
        let symbols = KernelSymbols::from_file(File::open(shop.path(file)).unwrap()).unwrap();
        let name =
            |address| symbols.find(Address(address)).map(|symbol| String::from_utf8_lossy(symbol.name).into_owned());
        for function in ["first", "second"] {
            assert_eq!(name(shop.nm("vmlinux", function)).as_deref(), Some(function), "{file}");
        }
        assert_eq!(name(shop.nm("vmlinux", "data")), None, "{file}");
        assert_eq!(name(0xffff_ffff_8100_1000), None, "{file}: behind the section's end");
        assert_eq!(symbols.address_of(b"_text"), Some(Address(0xffff_ffff_8000_0000)), "{file}");
    }
    shop.run("strip", &["vmlinux"]);
    let stripped = KernelSymbols::from_file(File::open(shop.path("vmlinux")).unwrap());
    assert_eq!(stripped.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
}

#[test]
fn a_copy_of_kallsyms() {
    let shop = Workshop::new("kallsyms", "ffffffff81000000 T _text\nffffffff81000010 t inner\n");
    let symbols = KernelSymbols::from_file(File::open(shop.path("kallsyms")).unwrap()).unwrap();
    assert_eq!(symbols.find(Address(0xffff_ffff_8100_0014)).unwrap().name, b"inner");
    let shop = Workshop::new("kallsyms", "0000000000000000 T _text\n");
    let hidden = KernelSymbols::from_file(File::open(shop.path("kallsyms")).unwrap());
    assert_eq!(hidden.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
}
