//! `flamel convert`: what is in a file, in another format.

use super::input::{self, Input};
use super::recorder::{Recorder, write_options};
use super::recording::{Idle, Recording, symbol_options};
use super::{draw, summary};
use crate::args::ConvertArgs;
use crate::failure::Failure;
use crate::output::Output;
use anyhow::anyhow;
use model::{Detail, Losses, Profile};
use perfdata::WriteOptions;
use std::process::ExitCode;

/// Reads, writes.
pub fn run(args: &ConvertArgs) -> Result<ExitCode, Failure> {
    let outputs = Output::all(&args.output, args.format.as_deref())?;
    let (recordings, outputs): (Vec<Output>, Vec<Output>) = outputs.into_iter().partition(Output::is_recording);
    let options = write_options(args.recording.compress, &recordings)?;
    if let (Some(event), [recording, ..]) = (&args.input.source.event, &recordings[..]) {
        let shown = recording.path().display();
        return Err(Failure::usage(anyhow!(
            "write `{shown}`: `-e {event}`: a recording is written with all its events"
        )));
    }
    let name = input::name(&args.input.source.input);
    let profile = match input::open(&args.input.source.input)? {
        Input::Recording(recording) => convert(*recording, &recordings, options, args)?,
        Input::Profile(_) if !recordings.is_empty() => {
            return Err(Failure::usage(anyhow!(
                "write `{}`: a recording holds addresses, of which {name} has none; it can become a picture or another \
                 format of names",
                recordings[0].path().display()
            )));
        }
        Input::Profile(profile) => {
            input::check_profile_args(&args.input)?;
            *profile
        }
    };
    if outputs.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let events = input::wanted_events(&args.input, &profile)?;
    summary::files(&draw::write_all(&outputs, &profile, &events, &args.picture)?);
    Ok(ExitCode::SUCCESS)
}

/// Writes the recordings, stacks unwound, and gives the profile.
fn convert(
    mut recording: Recording,
    to: &[Output],
    options: WriteOptions,
    args: &ConvertArgs,
) -> Result<Profile, Failure> {
    if let Some(same) = to.iter().find(|output| input::is_same_file(output.path(), &args.input.source.input)) {
        let shown = same.path().display();
        return Err(Failure::usage(anyhow!("write `{shown}`: it is what is being read; give another name")));
    }
    let mut resolver = recording.resolver(&args.input.source.names, Detail::Counts, Idle::of(&args.input))?;
    let create =
        |output: &Output| Recorder::create(output.path(), recording.events(), recording.info().clone(), options);
    let mut recorders = to.iter().map(create).collect::<Result<Vec<_>, _>>()?;
    let outcome = recording.read(|event| {
        let told = resolver.event(event);
        recorders.iter_mut().for_each(|recorder| recorder.event(event, told));
    })?;
    for mut recorder in recorders {
        // A pipe tells its files' contents between the samples.
        recording.info().build_ids.iter().for_each(|id| recorder.build_id(id.clone()));
        let written = recorder.finish_or_remove(&Losses::default())?;
        summary::files(&[written]);
    }
    recording.complete(&mut resolver, &outcome);
    Ok(resolver.finish(symbol_options(&args.input.source.names), &|| false))
}
