//! `flamel convert`: what is in a file, in another format.

use super::{draw, input, summary};
use crate::args::ConvertArgs;
use crate::failure::Failure;
use crate::output::Output;
use std::process::ExitCode;

/// Reads, writes.
pub fn run(args: &ConvertArgs) -> Result<ExitCode, Failure> {
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
