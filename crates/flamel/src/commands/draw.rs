//! One event of a profile, in the format that an output's name asks for. A view is a line in
//! [`VIEWS`] and a function; formats come from [`formats::FORMATS`].

use super::summary;
use crate::args::PictureArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::output_format::OutputFormat;
use anyhow::anyhow;
use model::{EventId, Profile};
use std::io::Write;
use std::path::PathBuf;
use views::{CallTree, CallTreeOptions, FlameGraphOptions, Palette, RootSide, flame_graph_svg};

/// A kind of picture.
#[derive(Debug)]
pub struct View {
    /// What the user calls it (`--format NAME`).
    pub name: &'static str,
    /// What it is, in a few words without a capital or a full stop.
    pub summary: &'static str,
    /// The extensions of its files, the usual one first, without the first dot.
    pub extensions: &'static [&'static str],
    draw: DrawFn,
}

type DrawFn = fn(&Profile, EventId, &PictureArgs, &mut dyn Write) -> anyhow::Result<()>;

/// Every view.
pub const VIEWS: &[View] =
    &[View { name: "svg", summary: "a flame graph, for any browser", extensions: &["svg"], draw: flame_graph }];

/// Writes every output even if one of them fails; the first failure is what is told. Gives the files.
pub fn write_all(
    outputs: &[Output],
    profile: &Profile,
    events: &[EventId],
    picture: &PictureArgs,
) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    let mut failed = None;
    for output in outputs {
        match output.write(profile, events, &|format, profile, event, out| write(format, profile, event, picture, out))
        {
            Ok(files) => written.extend(files),
            Err(failure) if failed.is_none() => failed = Some(failure),
            Err(failure) => summary::warn(&format!("{:#}", failure.error)),
        }
    }
    match failed {
        None => Ok(written),
        Some(failure) => {
            summary::files(&written);
            Err(failure)
        }
    }
}

/// Writes the event's samples.
fn write(
    format: OutputFormat,
    profile: &Profile,
    event: EventId,
    picture: &PictureArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    match format {
        OutputFormat::View(view) => (view.draw)(profile, event, picture, out),
        OutputFormat::Encoded(format) => Ok(format.encode(profile, event, out)?),
        OutputFormat::Recording => Err(anyhow!("a recording is written of events with addresses, not of a profile")),
    }
}

fn flame_graph(profile: &Profile, event: EventId, picture: &PictureArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let tree = CallTree::new(profile, event, CallTreeOptions::default());
    Ok(flame_graph_svg(&tree, &options(profile, event, picture), out)?)
}

fn options(profile: &Profile, event: EventId, picture: &PictureArgs) -> FlameGraphOptions {
    let target = &profile.recording.target;
    let title = picture.title.clone().unwrap_or_else(|| match target.as_str() {
        "" => "Flame graph".into(),
        target => format!("Flame graph: {target}"),
    });
    FlameGraphOptions {
        title,
        subtitle: summary::subtitle(profile, event),
        notes: picture.notes.clone().unwrap_or_default(),
        width: picture.width,
        min_width: picture.min_width,
        root: if picture.icicle { RootSide::Top } else { RootSide::Bottom },
        palette: Palette::find(&picture.colors).copied().unwrap_or_default(),
    }
}
