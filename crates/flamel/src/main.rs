//! The command line: arguments in, exit code out. Only this file decides the exit code.
//!
//! 0 done; 1 the run failed; 2 bad usage or input; a launched command's own code (or 128 + its
//! signal) where flamel did its work.

mod args;
mod commands;
mod failure;
mod output;
mod output_format;
mod streamed_file;

use args::{Args, Verb};
use clap::Parser as _;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Where it cannot be taken over, the signal ends us as it always did.
    let _ = capture::outlive_file_size_limit();
    let done = match Args::parse().verb {
        Verb::Record(args) => commands::record::run(*args),
        Verb::Graph(args) => commands::graph::run(&args),
        Verb::Report(args) => commands::report::run(&args),
        Verb::Fold(args) => commands::fold::run(&args),
        Verb::Script(args) => commands::script::run(&args),
        Verb::Convert(args) => commands::convert::run(&args),
    };
    match done {
        Ok(code) => code,
        // Whoever read our output has seen enough.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            // Where even standard error is gone there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "flamel: {:#}", failure.error);
            ExitCode::from(failure.code)
        }
    }
}
