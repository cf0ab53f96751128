//! The benchmark: what flamel costs, beside what its peer costs in the same run. Prints a
//! Markdown table to standard output and what it is doing to standard error; writes nothing else.
//!
//! All sides of a measurement run in turn within each round, in an order that rotates, so that
//! whatever the machine does meanwhile meets them alike. A ratio is taken round by round; the
//! table gives its median and its extremes.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod overhead;
mod picture;
mod recording;
mod series;
mod side;
mod startup;
mod table;

use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use testkit::{lock, requires};

/// Measures flamel beside perf, in turn, and prints a Markdown table.
#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    /// Rounds of each measurement; start-up takes four times as many.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of work under each profiler.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Measure these only (may be given more than once).
    #[arg(long, value_enum)]
    only: Vec<Measurement>,
    /// The flamel to measure; the one beside this program by default.
    #[arg(long)]
    flamel: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Measurement {
    /// Work done by a CPU-bound program under each profiler.
    Overhead,
    /// How much longer a command that does nothing takes.
    Startup,
    /// The time from the end of a command to the picture.
    Picture,
    /// Reading and writing perf.data.
    Recording,
}

/// What all measurements need.
struct Setting {
    rounds: usize,
    seconds: f64,
    flamel: PathBuf,
    /// Where recordings and pictures go; removed at the end.
    folder: tempfile::TempDir,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let beside = || std::env::current_exe().map(|path| path.with_file_name("flamel")).unwrap_or_default();
    let flamel = arguments.flamel.unwrap_or_else(beside);
    if !flamel.is_file() {
        eprintln!("bench: no `{}`: build it with `cargo build --release`, or name it with --flamel", flamel.display());
        return ExitCode::from(2);
    }
    if requires::find("perf").is_none() {
        eprintln!("bench: no `perf` in PATH to compare with: apt-get install linux-perf");
        return ExitCode::from(2);
    }
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("bench: creating a temporary folder: {error}");
            return ExitCode::from(2);
        }
    };
    let setting = Setting { rounds: arguments.rounds as usize, seconds: arguments.seconds, flamel, folder };
    let wanted = |one: Measurement| arguments.only.is_empty() || arguments.only.contains(&one);
    let _alone = lock::exclusive();
    print!("{}", table::head());
    if wanted(Measurement::Overhead) {
        overhead::measure(&setting).iter().for_each(|row| print!("{row}"));
    }
    if wanted(Measurement::Startup) {
        print!("{}", startup::measure(&setting));
    }
    if wanted(Measurement::Picture) {
        print!("{}", picture::measure(&setting));
    }
    if wanted(Measurement::Recording) {
        recording::measure(&setting).iter().for_each(|row| print!("{row}"));
    }
    print!("\n{}", table::machine());
    ExitCode::SUCCESS
}
