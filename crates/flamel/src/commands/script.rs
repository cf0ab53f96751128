//! `flamel script`: every sample of a recording as text, in the layout of `perf script`.
//!
//! The recording is read twice: once to learn which names are wanted, so that each file's are looked
//! up together, and once to print.

mod fields;
mod line;

use super::input::{self, Input};
use super::recording::{Idle, Recording, symbol_options};
use super::summary;
use crate::args::ScriptArgs;
use crate::failure::Failure;
use anyhow::{Context as _, anyhow};
use fields::Fields;
use line::{Layout, Printer};
use model::{Body, Detail};
use std::io::{BufWriter, Write as _, stdout};
use std::process::ExitCode;

/// Reads, prints.
pub fn run(args: &ScriptArgs) -> Result<ExitCode, Failure> {
    let fields = Fields::parse(args.fields.as_deref()).map_err(Failure::usage)?;
    let mut recording = open(args)?;
    let mut resolver = recording.resolver(&args.input.names, Detail::Counts, Idle::Keep)?;
    let mut frames = Vec::new();
    // Events of a pipe may get their names at its end, so that these take two passes as well.
    recording.read(|event| {
        resolver.look(event, &mut frames);
    })?;
    fields.check(recording.events()).map_err(Failure::usage)?;
    if fields.want_names() {
        resolver.name(symbol_options(&args.input.names), &|| false);
    }
    resolver.rewind();
    let mut recording = recording.rewind()?;
    let layout = Layout::new(&recording, fields, args.ns, args.max_stack);
    let wanted = args.input.event.as_deref();
    input::check_event(&args.input, recording.events().iter().map(|event| event.description.name.as_str()))?;
    let mut printer = Printer::new(layout, BufWriter::with_capacity(1 << 18, stdout().lock()));
    let mut failed = None;
    let names = recording.events().iter().map(|event| event.description.name.clone()).collect::<Vec<_>>();
    recording.read_quietly(|event| {
        if failed.is_some() {
            return;
        }
        let task = resolver.look(event, &mut frames);
        let (Some(task), Body::Sample(sample)) = (task, &event.body) else { return };
        let is_wanted = wanted
            .is_none_or(|wanted| names.get(model::id::Id::index(sample.event)).is_some_and(|name| name == wanted));
        if is_wanted {
            failed = printer.sample(event, sample, task, &frames, resolver.profile()).err();
        }
    })?;
    let printed = failed.map_or_else(|| printer.out.flush(), Err);
    printed.context("write to standard output").map_err(Failure::stdout)?;
    if printer.cut > 0 {
        summary::warn(&format!(
            "{} callchains are longer than the {} frames shown; see them whole with `--max-stack 0`",
            printer.cut, args.max_stack
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn open(args: &ScriptArgs) -> Result<Recording, Failure> {
    match input::open_to_reread(&args.input.input)? {
        Input::Recording(recording) => Ok(*recording),
        Input::Profile(_) => Err(Failure::usage(anyhow!(
            "print the samples of {}: it holds stacks without addresses and times; `flamel fold` prints those",
            input::name(&args.input.input)
        ))),
    }
}
