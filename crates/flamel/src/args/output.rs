//! What the help says of places to write to and of formats; shared by the verbs that write.

use crate::output_format::OutputFormat;
use clap::builder::{PossibleValue, PossibleValuesParser};

/// The help of `-o` of a verb that writes these formats.
pub fn output_help(formats: impl Iterator<Item = OutputFormat>) -> String {
    let extensions = OutputFormat::usual_extensions(formats);
    format!("Where to write; the name decides the format: {extensions}. May be given more than once")
}

/// Takes the name of one of these formats, or one of its extensions.
pub fn format_parser(formats: impl Iterator<Item = OutputFormat>) -> PossibleValuesParser {
    let values = formats.map(|format| {
        let others = format.extensions().iter().copied().filter(move |other| *other != format.name());
        PossibleValue::new(format.name()).help(format.summary()).aliases(others)
    });
    PossibleValuesParser::new(values)
}
