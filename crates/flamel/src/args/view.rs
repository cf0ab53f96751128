//! The verbs that read a file.

use super::output::{CompressArgs, format_parser, output_help};
use super::{InputArgs, PictureArgs, ProfileArgs};
use crate::output_format::OutputFormat;
use clap::Args;
use std::path::PathBuf;

/// Draw a flame graph of what is in a file
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flamel graph perf.data -o flame.svg\n  \
                        flamel graph perf.data -o flame.svg --symfs /srv/rootfs\n  \
                        flamel graph stacks.folded -o icicle.svg --icicle --title 'nightly'\n  \
                        perf record -o - -g -- make | flamel graph - -o flame.svg")]
pub struct GraphArgs {
    /// What is read
    #[command(flatten)]
    pub input: ProfileArgs,
    /// Where to write
    #[arg(short, long, value_name = "OUT", required = true, help_heading = "Output", help = output_help(OutputFormat::of_profiles()))]
    pub output: Vec<PathBuf>,
    /// The format of `-o -`, and of files whose name does not say it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(OutputFormat::of_profiles()), help_heading = "Output")]
    pub format: Option<String>,
    /// How the picture looks
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// Show the top functions of what is in a file
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flamel report perf.data\n  flamel report perf.data --header\n  \
                        flamel report stacks.folded --top 50")]
pub struct ReportArgs {
    /// What is read
    #[command(flatten)]
    pub input: ProfileArgs,
    /// How many functions to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30, help_heading = "Output")]
    pub top: usize,
    /// Show what the recording says of the machine, the run and its events, instead of functions
    #[arg(long, conflicts_with_all = ["event", "idle", "top"], help_heading = "Output")]
    pub header: bool,
}

/// Fold what is in a file: one line a stack, its frames joined by `;`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flamel fold perf.data > stacks.folded\n  \
                        flamel fold perf.data -e cycles -o stacks.folded\n  \
                        perf record -o - -g -- make | flamel fold -")]
pub struct FoldArgs {
    /// What is read
    #[command(flatten)]
    pub input: ProfileArgs,
    /// Where to write [default: standard output]
    #[arg(short, long, value_name = "OUT", default_value = "-", hide_default_value = true, help_heading = "Output")]
    pub output: PathBuf,
}

/// Write what is in a file in another format
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flamel convert perf.data -o profile.pb.gz\n  \
                        flamel convert perf.data -o small.data -z    copied stacks unwound, compressed\n  \
                        flamel convert stacks.folded -o flame.svg")]
pub struct ConvertArgs {
    /// What is read
    #[command(flatten)]
    pub input: ProfileArgs,
    /// Where to write
    #[arg(short, long, value_name = "OUT", required = true, help_heading = "Output", help = output_help(OutputFormat::all()))]
    pub output: Vec<PathBuf>,
    /// The format of `-o -`, and of files whose name does not say it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(OutputFormat::all()), help_heading = "Output")]
    pub format: Option<String>,
    /// How a recording is written
    #[command(flatten)]
    pub recording: CompressArgs,
    /// How a picture looks
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// Print every sample of a recording, as `perf script` does
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flamel script perf.data\n  \
                        flamel script perf.data -F comm,pid,tid,cpu,time,event,period,ip --ns\n  \
                        flamel script perf.data -F +symoff,-dso\n  \
                        flamel script perf.data | stackcollapse-perf.pl | flamegraph.pl > flame.svg")]
pub struct ScriptArgs {
    /// What is read
    #[command(flatten)]
    pub input: InputArgs,
    /// Which fields: comm, pid, tid, cpu, time, event, period, ip, sym, symoff, dso, addr, brstack; with
    /// `+` or `-` before it, one more or less than usual
    #[arg(short = 'F', long, value_name = "FIELDS", allow_hyphen_values = true, help_heading = "Output")]
    pub fields: Option<String>,
    /// Times in nanoseconds
    #[arg(long, help_heading = "Output")]
    pub ns: bool,
    /// The most frames of a callchain, as many as `perf script` shows; 0 for all
    #[arg(long, value_name = "N", default_value_t = 127, help_heading = "Output")]
    pub max_stack: usize,
}
