//! One event of a profile, in the format that an output's name asks for.

use super::summary;
use crate::args::PictureArgs;
use crate::output::Format;
use model::{EventId, Profile};
use std::io::Write;
use views::{CallTree, CallTreeOptions, FlameGraphOptions, Palette, RootSide, flame_graph_svg};

/// Writes the event's samples.
pub fn write(
    format: Format,
    profile: &Profile,
    event: EventId,
    picture: &PictureArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    match format {
        Format::Folded => Ok(formats::folded::encode(profile, event, out)?),
        Format::Svg => {
            let tree = CallTree::new(profile, event, CallTreeOptions::default());
            Ok(flame_graph_svg(&tree, &options(profile, event, picture), out)?)
        }
    }
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
