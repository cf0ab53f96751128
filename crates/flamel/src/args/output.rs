//! What the help says of places to write to and of formats; shared by the verbs that write.

use crate::output_format::OutputFormat;
use clap::builder::{PossibleValue, PossibleValuesParser};

/// The help of `-o`.
pub fn output_help() -> String {
    let extensions = OutputFormat::usual_extensions();
    format!("Where to write; the name decides the format: {extensions}. May be given more than once")
}

/// Takes a format's name or one of its extensions.
pub fn format_parser() -> PossibleValuesParser {
    let values = OutputFormat::all().map(|format| {
        let others = format.extensions().iter().copied().filter(move |other| *other != format.name());
        PossibleValue::new(format.name()).help(format.summary()).aliases(others)
    });
    PossibleValuesParser::new(values)
}
