//! `flamel record`.

use super::output::{CompressArgs, format_parser, output_help};
use super::{PictureArgs, parse_duration};
use crate::output_format::OutputFormat;
use capture::{AUTO_STACK_BYTES, DWARF_STACK_BYTES, MAX_STACK_BYTES};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The options that say which processes are meant, and so leave nothing to say of CPUs.
const OF_PROCESSES: [&str; 4] = ["pid", "tid", "uid", "comm"];

/// How to sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The best that this machine allows
    Auto,
    /// The rings of perf_event_open(2)
    Perf,
}

/// How to take user stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGraphArg {
    /// Copied stacks, with frame pointers where those fail
    Auto(u16),
    /// Frame pointers
    FramePointer,
    /// Copied stacks
    Dwarf(u16),
    /// None
    None,
}

/// Sample a command, processes or the whole system, and draw a flame graph
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    flamel record -- ./server --port 80            a command and all that it starts, to flame.svg\n  \
    flamel record -p 1234 -d 10 -o x.svg           a running process, for ten seconds\n  \
    flamel record -a -d 5 -o x.svg -o x.folded     the whole system; a picture and folded stacks\n  \
    flamel record -a -d 5 --exclude-self           the same without flamel's own work\n  \
    flamel record --cgroup system.slice/ssh.service -d 10    a service\n  \
    flamel record --uid www-data -d 10             all that runs as a user\n  \
    flamel record --comm postgres -d 10            all processes of a name\n  \
    flamel record -F 9970 --call-graph fp -- CMD   faster, by frame pointers\n  \
    flamel record -z -o x.data -- CMD              a recording, for later or for perf\n  \
    flamel record --call-graph dwarf,65528 -- CMD  deep stacks without frame pointers\n  \
    flamel record -e page-faults -c 1 -- CMD       where memory is touched first\n  \
    flamel record -e sched:sched_switch -a -d 1    a tracepoint (needs tracefs)")]
pub struct RecordArgs {
    /// The command to profile, after `--`
    #[arg(value_name = "CMD", last = true)]
    pub command: Vec<OsString>,

    /// Profile these processes, all their threads and what they start
    #[arg(short, long, value_name = "PID", value_delimiter = ',', group = "whose", help_heading = "Target")]
    pub pid: Vec<u32>,
    /// Profile these threads and what they start
    #[arg(short, long, value_name = "TID", value_delimiter = ',', group = "whose", help_heading = "Target")]
    pub tid: Vec<u32>,
    /// Profile all processes of these users that run now, and what they start: names of
    /// /etc/passwd, or numbers
    #[arg(long, value_name = "USER", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), group = "whose", help_heading = "Target")]
    pub uid: Vec<String>,
    /// Profile all processes of this name that run now, and what they start; may be given more
    /// than once
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), group = "whose", help_heading = "Target")]
    pub comm: Vec<String>,
    /// Profile what runs in these cgroups and below them: paths such as
    /// `system.slice/ssh.service`, or of their folders
    #[arg(long, value_name = "CGROUP", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), group = "whose", help_heading = "Target")]
    pub cgroup: Vec<String>,
    /// Profile everything that runs on this machine
    #[arg(short, long, group = "whose", help_heading = "Target")]
    pub all_cpus: bool,
    /// Profile everything on these CPUs only, or with `--cgroup` what runs on them: `0,2-3`
    #[arg(short = 'C', long, value_name = "CPUS", conflicts_with_all = OF_PROCESSES, help_heading = "Target")]
    pub cpu: Option<String>,
    /// Leave out what the observed threads start
    #[arg(long, conflicts_with = "cgroup", help_heading = "Target")]
    pub no_inherit: bool,
    /// Leave out samples of flamel itself; with `-a`, `-C` or `--cgroup`
    #[arg(long, alias = "exclude-perf", conflicts_with_all = OF_PROCESSES, help_heading = "Target")]
    pub exclude_self: bool,

    /// Samples a second of CPU time [default: 997]
    #[arg(short = 'F', long, value_name = "HZ", conflicts_with = "count", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Sampling")]
    pub freq: Option<u64>,
    /// One sample every N of the event's unit
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64), help_heading = "Sampling")]
    pub count: Option<u64>,
    /// Event to sample, as perf names it; may be given more than once, or several with commas
    #[arg(short, long, value_name = "EVENT", help_heading = "Sampling")]
    pub event: Vec<String>,
    /// How user stacks are taken: auto, fp, dwarf, each of auto and dwarf with `,BYTES`; or none
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = parse_call_graph, help_heading = "Sampling")]
    pub call_graph: CallGraphArg,
    /// Stop after this time: `10`, `500ms`, `2m`
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, help_heading = "Sampling")]
    pub duration: Option<Duration>,
    /// Wait this long before sampling begins
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "0", hide_default_value = true, help_heading = "Sampling")]
    pub delay: Duration,
    /// Keep samples of idle CPUs
    #[arg(long, help_heading = "Sampling")]
    pub idle: bool,
    /// The most frames of a stack's user part
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Sampling")]
    pub max_frames: u32,
    /// Bytes of each CPU's ring buffer: `512K`, `16M` [default: by rate and budget]
    #[arg(short = 'm', long, value_name = "BYTES", value_parser = parse_bytes, help_heading = "Sampling")]
    pub ring_size: Option<u64>,
    /// How to sample
    #[arg(long, value_enum, default_value_t = Backend::Auto, help_heading = "Sampling")]
    pub backend: Backend,

    /// Where to write
    #[arg(short, long, value_name = "OUT", help_heading = "Output", help = output_help(OutputFormat::all()) + " [default: flame.svg]")]
    pub output: Vec<PathBuf>,
    /// The format of `-o -`, and of files whose name does not say it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(OutputFormat::all()), help_heading = "Output")]
    pub format: Option<String>,
    /// How a recording is written
    #[command(flatten)]
    pub recording: CompressArgs,
    /// Open the first output in the desktop's viewer
    #[arg(long, help_heading = "Output")]
    pub open: bool,
    /// Do not show inlined functions
    #[arg(long, help_heading = "Output")]
    pub no_inline: bool,
    /// Keep names as the linker knows them, mangled
    #[arg(long, help_heading = "Output")]
    pub raw_names: bool,
    /// Show nothing on standard error but warnings
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// How the picture looks
    #[command(flatten)]
    pub picture: PictureArgs,
}

fn parse_call_graph(text: &str) -> Result<CallGraphArg, String> {
    let (how, bytes) = text.split_once(',').map_or((text, None), |(how, bytes)| (how, Some(bytes)));
    let stack_bytes = |usual| bytes.map_or(Ok(usual), parse_stack_bytes);
    match how {
        "auto" => stack_bytes(AUTO_STACK_BYTES).map(CallGraphArg::Auto),
        "dwarf" => stack_bytes(DWARF_STACK_BYTES).map(CallGraphArg::Dwarf),
        "fp" if bytes.is_none() => Ok(CallGraphArg::FramePointer),
        "none" | "no" if bytes.is_none() => Ok(CallGraphArg::None),
        "lbr" => Err("branch stacks are not supported yet; there are auto, fp, dwarf, none".into()),
        _ => Err("there are auto[,BYTES], fp, dwarf[,BYTES], none".into()),
    }
}

/// The kernel wants a multiple of eight below 64 KiB.
fn parse_stack_bytes(text: &str) -> Result<u16, String> {
    let bytes: u16 =
        text.parse().map_err(|_| format!("`{text}` must be a number of bytes from 8 to {MAX_STACK_BYTES}"))?;
    match bytes {
        1..=MAX_STACK_BYTES => Ok(bytes.next_multiple_of(8)),
        _ => Err(format!("the stack's bytes must be from 8 to {MAX_STACK_BYTES}")),
    }
}

/// Reads `4096`, `512K`, `16M`, `1G`.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        unit => return Err(format!("`{unit}` is no unit of size; there are K, M, G")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("`{digits}` is no number"))?;
    let bytes = number.checked_mul(1 << shift).filter(|bytes| (1..=1 << 40).contains(bytes));
    bytes.ok_or_else(|| "must be from 1 byte to 1024G".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_graphs_and_their_bytes() {
        assert_eq!(parse_call_graph("auto"), Ok(CallGraphArg::Auto(32_768)));
        assert_eq!(parse_call_graph("dwarf,65528"), Ok(CallGraphArg::Dwarf(65528)));
        assert_eq!(parse_call_graph("dwarf,1001"), Ok(CallGraphArg::Dwarf(1008)));
        assert_eq!(parse_call_graph("fp"), Ok(CallGraphArg::FramePointer));
        for bad in ["fp,8", "dwarf,0", "dwarf,65529", "dwarf,-1", "dwarf,99999999999", "", "lbr", "x"] {
            assert!(parse_call_graph(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("512k"), Ok(512 << 10));
        assert_eq!(parse_bytes("16M"), Ok(16 << 20));
        for bad in ["", "M", "1T", "99999999999999999999", "18446744073709551615G", "0"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
