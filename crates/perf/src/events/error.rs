//! What can be wrong with the text after `-e`.

use super::modifiers::ModifierError;
use std::path::PathBuf;

/// Why an event cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("event `{event}`{}: {kind}", place(*.position))]
pub struct EventError {
    /// The event, as it was written.
    pub event: String,
    /// At which character of the whole list it begins, counted from 1.
    pub position: usize,
    /// What is wrong.
    pub kind: EventErrorKind,
}

/// What is wrong with an event.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventErrorKind {
    /// Nothing stands between two commas, or at all.
    #[error("no name is given; `cycles` and `cpu-clock` are names, and commas part several")]
    Empty,
    /// A group in braces.
    #[error("groups in braces are counted together, and flamel samples events one by one: leave the braces out")]
    Group,
    /// The pmu's terms do not end.
    #[error("the `/` after the pmu's name has no second `/` to end its terms")]
    Unclosed,
    /// There is no such event.
    #[error("there is no such event on this machine{}", nearest_of(.nearest))]
    Unknown {
        /// The names most like it, the nearest first.
        nearest: Vec<String>,
    },
    /// The event exists and cannot be sampled.
    #[error("{0}")]
    NotSampled(String),
    /// Its modifiers are wrong.
    #[error(transparent)]
    Modifiers(#[from] ModifierError),
    /// The number of a raw event is too large.
    #[error("a raw event is `r` and up to 16 hexadecimal digits")]
    RawTooLong,
    /// There is no such pmu.
    #[error("there is no pmu `{pmu}` in `/sys/bus/event_source/devices`{}", nearest_of(.nearest))]
    UnknownPmu {
        /// Its name.
        pmu: String,
        /// The names most like it.
        nearest: Vec<String>,
    },
    /// The pmu has no such term and no such event.
    #[error("the pmu `{pmu}` has no term `{term}`; it has {}", all_of(.known))]
    UnknownTerm {
        /// The pmu.
        pmu: String,
        /// The term.
        term: String,
        /// The terms and events that it has.
        known: Vec<String>,
    },
    /// A term stands twice, or two events stand in one.
    #[error("{0}")]
    TermConflict(String),
    /// A term's value is missing or is not a number.
    #[error("the term `{term}` takes a number, decimal or hexadecimal after 0x, and `{value}` is none")]
    TermValue {
        /// The term.
        term: String,
        /// What was given.
        value: String,
    },
    /// A term's value does not fit into its bits.
    #[error("the value {value:#x} does not fit into the term `{term}`, which takes {:#x} at most", largest(*.bits))]
    TermTooLarge {
        /// The term.
        term: String,
        /// What was given.
        value: u64,
        /// How many bits it has.
        bits: u32,
    },
    /// A term that perf has and flamel has not.
    #[error("the term `{term}` {reason}")]
    TermRefused {
        /// The term.
        term: String,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// A named event leaves something open that is not given.
    #[error("the event `{event}` of the pmu needs a value for `{term}`: write `{event},{term}=…`")]
    TermNeeded {
        /// The named event.
        event: String,
        /// The term.
        term: String,
    },
    /// The address of a breakpoint is none.
    #[error("the address `{0}` is neither decimal nor hexadecimal after 0x, within 64 bits")]
    Address(String),
    /// The length of a breakpoint is none.
    #[error("a breakpoint watches 1, 2, 4 or 8 bytes, and not `{0}`")]
    Length(String),
    /// What follows a breakpoint's address is not understood.
    #[error("after the address may come `/LEN`, `:` with letters of r, w, x, and `:` with modifiers, not `{0}`")]
    BreakpointRest(String),
    /// Tracepoints are out of sight.
    #[error(
        "tracepoints are found in tracefs, which is not mounted: `sudo mount -t tracefs nodev /sys/kernel/tracing`"
    )]
    NoTracefs,
    /// A file or folder cannot be read.
    #[error("`{}` may not be read: run as root, or `{remedy}`", .path.display())]
    Forbidden {
        /// The path.
        path: PathBuf,
        /// A command that lets it be read.
        remedy: String,
    },
    /// A file of the kernel does not hold what it should.
    #[error("`{}` does not hold what flamel expects: {why}", .path.display())]
    Malformed {
        /// The path.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

fn place(position: usize) -> String {
    if position > 1 { format!(" (at character {position})") } else { String::new() }
}

fn nearest_of(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; similar names: {}", all_of(names)) }
}

fn all_of(names: &[String]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

const fn largest(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
