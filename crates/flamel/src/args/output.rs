//! What the help says of places to write to and of formats; shared by the verbs that write.

use crate::output_format::OutputFormat;
use clap::Args;
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

/// How a recording is written
#[derive(Clone, Copy, Debug, Args)]
pub struct CompressArgs {
    /// Compress a recording (.data), with zstd's level, 1 to 22 [default: 3]
    #[arg(
        short = 'z',
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "3",
        value_parser = clap::value_parser!(i32).range(1..=22),
        help_heading = "Output"
    )]
    pub compress: Option<i32>,
}
