//! `flamel fold`: stacks in a file to folded text.

use super::{input, summary};
use crate::args::FoldArgs;
use crate::failure::Failure;
use crate::output::Output;
use anyhow::anyhow;
use std::process::ExitCode;

/// Reads, folds.
pub fn run(args: &FoldArgs) -> Result<ExitCode, Failure> {
    let output = Output::new(&args.output, Some("folded"))?;
    if output.format_name() != "folded" {
        let (shown, format) = (args.output.display(), output.format_name());
        return Err(Failure::usage(anyhow!(
            "write `{shown}`: its name says {format}, and this verb writes folded text; `flamel convert` writes any format"
        )));
    }
    let (profile, events) = input::read(&args.input)?;
    let files =
        output.write(&profile, &events, &|_, profile, event, out| Ok(formats::folded::encode(profile, event, out)?))?;
    summary::files(&files);
    Ok(ExitCode::SUCCESS)
}
