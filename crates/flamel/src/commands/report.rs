//! `flamel report`: tables of what is in a file.

use super::input::{self, Input};
use super::{header_text, summary};
use crate::args::ReportArgs;
use crate::failure::Failure;
use anyhow::{Context as _, anyhow};
use std::io::{BufWriter, Write as _, stdout};
use std::process::ExitCode;

/// Reads, prints.
pub fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    if args.header {
        return header(args);
    }
    let (profile, events) = input::read(&args.input)?;
    let mut out = BufWriter::new(stdout().lock());
    for event in events {
        summary::table(&profile, event, args.top, &mut out)
            .context("write to standard output")
            .map_err(Failure::stdout)?;
    }
    out.flush().context("write to standard output").map_err(Failure::stdout)?;
    Ok(ExitCode::SUCCESS)
}

fn header(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let Input::Recording(mut recording) = input::open(&args.input.source.input)? else {
        return Err(Failure::usage(anyhow!(
            "show the header of {}: it is no recording; only perf.data has one",
            input::name(&args.input.source.input)
        )));
    };
    // A pipe tells its files, and late names of events, between the samples.
    recording.read(|_| {})?;
    let text = header_text::of(&recording);
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).context("write to standard output").map_err(Failure::stdout)?;
    Ok(ExitCode::SUCCESS)
}
