//! What was said on the command line. What it means here (paths, limits, events) is decided by
//! the verbs; the engine never sees these types.

mod duration;
mod input;
mod output;
mod picture;
mod record;
mod view;

pub use duration::parse_duration;
pub use input::{InputArgs, NameArgs, ProfileArgs};
pub use picture::PictureArgs;
pub use record::{Backend, CallGraphArg, RecordArgs};
pub use view::{ConvertArgs, FoldArgs, GraphArgs, ReportArgs, ScriptArgs};

use clap::{Parser, Subcommand};

/// flamel shows where the time goes, for any program on Linux
#[derive(Debug, Parser)]
#[command(
    name = "flamel",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  flamel record -- ./server --port 80     a command, to flame.svg\n  \
                  flamel record -p 1234 -d 10 -o x.svg    a running process, for ten seconds\n  \
                  flamel graph perf.data -o x.svg         a recording to a flame graph\n  \
                  flamel convert perf.data -o x.pb.gz     a recording to another format\n\n\
                  Every verb has a --help with more examples."
)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// One verb, one file in `commands/`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Sample a command, processes or the whole system, and draw a flame graph
    Record(Box<RecordArgs>),
    /// Draw a flame graph of what is in a file
    Graph(GraphArgs),
    /// Show the top functions of what is in a file
    Report(ReportArgs),
    /// Fold what is in a file: one line a stack
    Fold(FoldArgs),
    /// Print every sample of a recording, as `perf script` does
    Script(ScriptArgs),
    /// Write what is in a file in another format
    Convert(ConvertArgs),
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_verb_shows_examples() {
        for verb in Args::command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:"), "{}", verb.get_name());
        }
    }
}
