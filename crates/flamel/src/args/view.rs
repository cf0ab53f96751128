//! The verbs that read a file.

use super::PictureArgs;
use super::output::{format_parser, output_help};
use clap::Args;
use std::path::PathBuf;

/// Draw a flame graph of stacks that are in a file
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flamel graph stacks.folded -o flame.svg\n  \
                        flamel graph stacks.folded -o icicle.svg --icicle --title 'nightly'\n  \
                        cat stacks.folded | flamel graph - -o flame.svg")]
pub struct GraphArgs {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Where to write
    #[arg(short, long, value_name = "OUT", required = true, help = output_help())]
    pub output: Vec<PathBuf>,
    /// The format of `-o -`, and of files whose name does not say it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub format: Option<String>,
    /// How the picture looks
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// Show the top functions of stacks that are in a file
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flamel report stacks.folded\n  flamel report stacks.folded --top 50")]
pub struct ReportArgs {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// How many functions to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30)]
    pub top: usize,
}
