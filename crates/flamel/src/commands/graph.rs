//! `flamel graph`: stacks in a file to a picture.

use super::{draw, input, summary};
use crate::args::GraphArgs;
use crate::failure::Failure;
use crate::output::Output;
use std::process::ExitCode;

/// Reads, draws.
pub fn run(args: &GraphArgs) -> Result<ExitCode, Failure> {
    let outputs = Output::all(&args.output, args.format.as_deref())?;
    let (profile, events) = input::read(&args.input)?;
    for output in outputs {
        let files = output.write(&profile, &events, &|format, profile, event, out| {
            draw::write(format, profile, event, &args.picture, out)
        })?;
        summary::files(&files);
    }
    Ok(ExitCode::SUCCESS)
}
