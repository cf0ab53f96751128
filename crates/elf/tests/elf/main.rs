//! ELF files as gcc and binutils make them, built into temporary folders, and the same files
//! cut and damaged.

mod damage;
mod programs;
mod unwinding;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with a small C program, `main.c`.
struct Workshop {
    dir: tempfile::TempDir,
}

const PROGRAM: &str = r#"
#include <stdio.h>
__attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
__attribute__((noinline)) int branch(int x) { return leaf(x) + leaf(x + 1); }
int main(int argc, char **argv) { (void)argv; printf("%d\n", branch(argc)); return 0; }
"#;

/// A program without a C library, which gcc can build for 32 bits everywhere.
const FREESTANDING: &str = r#"
__attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
void _start(void) { for (volatile int i = 0;; i++) leaf(i); }
"#;

impl Workshop {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("main.c"), PROGRAM).unwrap();
        std::fs::write(dir.path().join("free.c"), FREESTANDING).unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, tool: &str, args: &[&str]) {
        let output = Command::new(tool).args(args).current_dir(self.dir.path()).output().unwrap();
        assert!(output.status.success(), "{tool} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Compiles `source` with `flags` to a file `program`.
    fn gcc(&self, source: &str, flags: &[&str]) -> PathBuf {
        self.run("gcc", &[&["-O1", source, "-o", "program", "-Wl,--build-id=sha1"], flags].concat());
        self.path("program")
    }

    /// The address of a symbol, as `nm` tells it.
    fn nm(&self, file: &str, symbol: &str) -> u64 {
        let output = Command::new("nm").arg(file).current_dir(self.dir.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.ends_with(&format!(" {symbol}"))).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    }
}

fn open(path: &Path) -> elf::Image {
    elf::Image::open(&File::open(path).unwrap()).unwrap()
}

/// The image of `bytes` without section headers, as `strip --strip-section-headers` leaves it
/// (64-bit little-endian files only).
fn without_section_headers(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[0x28..0x30].fill(0);
    bytes[0x3c..0x40].fill(0);
    bytes
}
