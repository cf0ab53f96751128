//! Names of programs that are built here by gcc, g++ and rustc, compared with what their
//! sources say.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod cpp;
mod damage;
mod debug_files;
mod inlines;
mod kernel;
mod perf_maps;
mod rust;
mod speed;
mod stripped;

use model::NameMissing;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use symbols::{Binary, Found, Options, Symbolizer};

/// A folder in which programs are built.
struct Workshop {
    dir: tempfile::TempDir,
}

impl Workshop {
    /// A folder with one source file.
    fn new(name: &str, source: &str) -> Self {
        let shop = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::write(shop.path(name), source).unwrap();
        shop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, tool: &str, args: &[&str]) -> String {
        let output = Command::new(tool).args(args).current_dir(self.dir.path()).output().unwrap();
        assert!(output.status.success(), "{tool} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The address of a symbol, as `nm` tells it.
    fn nm(&self, file: &str, symbol: &str) -> u64 {
        let text = self.run("nm", &[file]);
        let line = text.lines().find(|line| line.split(' ').nth(2) == Some(symbol));
        let line = line.unwrap_or_else(|| panic!("no symbol {symbol} in {file}"));
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    }

    fn options(&self) -> Options {
        Options { debug_dirs: vec![self.path("debug")], ..Options::default() }
    }

    fn look_up(&self, name: &str, addresses: &[u64]) -> Vec<Found> {
        look_up(&self.path(name), self.options(), addresses)
    }
}

/// Names of addresses in the file at `path`, which is opened for it.
fn look_up(path: &Path, options: Options, addresses: &[u64]) -> Vec<Found> {
    let file = File::open(path).unwrap();
    let image = elf::Image::open(&file).unwrap();
    Symbolizer::new(options).binary(&Binary { file: &file, image: &image, path }, addresses)
}

/// One frame in short: `name (inlined) file:line`.
fn shown(found: &Found) -> Result<Vec<String>, NameMissing> {
    let frames = found.as_ref().map_err(|reason| *reason)?;
    Ok(frames
        .iter()
        .map(|frame| {
            let file = frame.file.as_deref().map_or("?", |file| file.rsplit('/').next().unwrap());
            let inlined = if frame.inlined { " (inlined)" } else { "" };
            format!("{}{inlined} {file}:{}", frame.name, frame.line)
        })
        .collect())
}

/// The names alone.
fn names(found: &Found) -> Result<Vec<&str>, NameMissing> {
    Ok(found.as_ref().map_err(|reason| *reason)?.iter().map(|frame| frame.name.as_str()).collect())
}

/// The line of a source that holds a mark.
fn line_of(source: &str, mark: &str) -> usize {
    1 + source.lines().position(|line| line.contains(mark)).unwrap()
}
