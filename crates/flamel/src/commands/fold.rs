//! `flamel fold`: stacks in a file to folded text.

use super::{input, summary};
use crate::args::FoldArgs;
use crate::failure::Failure;
use crate::output::Output;
use std::process::ExitCode;

/// Reads, folds.
pub fn run(args: &FoldArgs) -> Result<ExitCode, Failure> {
    let output = Output::new(&args.output, Some("folded"))?;
    let (profile, events) = input::read(&args.input)?;
    let files =
        output.write(&profile, &events, &|_, profile, event, out| Ok(formats::folded::encode(profile, event, out)?))?;
    summary::files(&files);
    Ok(ExitCode::SUCCESS)
}
