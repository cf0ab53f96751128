//! `flamel report`: tables of stacks in a file.

use super::{input, summary};
use crate::args::ReportArgs;
use crate::failure::Failure;
use anyhow::{Context as _, anyhow};
use std::io::{BufWriter, Write as _, stdout};
use std::process::ExitCode;

/// Reads, prints.
pub fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let profile = input::read(&args.input)?;
    let events = profile.events_with_samples();
    if events.is_empty() {
        return Err(Failure::usage(anyhow!("report `{}`: it holds no samples", args.input.display())));
    }
    let mut out = BufWriter::new(stdout().lock());
    for event in events {
        summary::table(&profile, event, args.top, &mut out)
            .context("write to standard output")
            .map_err(Failure::stdout)?;
    }
    out.flush().context("write to standard output").map_err(Failure::stdout)?;
    Ok(ExitCode::SUCCESS)
}
