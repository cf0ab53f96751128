//! What the verbs that read a file have in common.

use clap::Args;
use std::path::PathBuf;

/// What is read
#[derive(Clone, Debug, Args)]
pub struct InputArgs {
    /// The file to read
    #[arg(value_name = "IN", help = input_help())]
    pub input: PathBuf,
    /// Only this event, where there are several
    #[arg(short, long, value_name = "EVENT", help_heading = "Recordings")]
    pub event: Option<String>,
    /// How names are found
    #[command(flatten)]
    pub names: NameArgs,
}

/// What becomes of what is read
#[derive(Clone, Debug, Args)]
pub struct ProfileArgs {
    /// What is read
    #[command(flatten)]
    pub source: InputArgs,
    /// Keep samples of idle CPUs
    #[arg(long, help_heading = "Recordings")]
    pub idle: bool,
}

/// Names all formats that are read.
fn input_help() -> String {
    let readable = formats::FORMATS.iter().filter(|format| matches!(format.decode, formats::Decode::With(_)));
    let names: Vec<_> = readable.map(|format| format.name).collect();
    format!("The file to read: a recording (perf.data), {}; `-` is standard input", names.join(", "))
}

/// How names are found
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Names")]
pub struct NameArgs {
    /// The root folder of the recorded machine's files, or of a copy of them
    #[arg(long, value_name = "DIR")]
    pub symfs: Option<PathBuf>,
    /// A folder of separate debug files (`.build-id/ab/cdef….debug`); may be given more than once
    /// [default: /usr/lib/debug]
    #[arg(long, value_name = "DIR")]
    pub debug_dir: Vec<PathBuf>,
    /// The kernel's symbols: a copy of the recorded machine's /proc/kallsyms
    #[arg(long, value_name = "FILE")]
    pub kallsyms: Option<PathBuf>,
    /// Do not show inlined functions
    #[arg(long)]
    pub no_inline: bool,
    /// Keep names as the linker knows them, mangled
    #[arg(long)]
    pub raw_names: bool,
}
