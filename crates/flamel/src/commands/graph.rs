//! `flamel graph`: stacks in a file to a picture.

use super::{draw, input, summary};
use crate::args::GraphArgs;
use crate::failure::Failure;
use crate::output::Output;
use anyhow::anyhow;
use std::process::ExitCode;

/// Reads, draws.
pub fn run(args: &GraphArgs) -> Result<ExitCode, Failure> {
    let outputs = Output::all(&args.output, args.format.as_deref())?;
    if let Some(recording) = outputs.iter().find(|output| output.is_recording()) {
        let shown = recording.path().display();
        return Err(Failure::usage(anyhow!("write `{shown}`: a recording is no picture; `flamel convert` writes one")));
    }
    let (profile, events) = input::read(&args.input)?;
    events.iter().for_each(|&event| summary::missing(&profile, event));
    summary::files(&draw::write_all(&outputs, &profile, &events, &args.picture)?);
    Ok(ExitCode::SUCCESS)
}
