//! Symbolised formats to and from a profile, one file each. A new one is a file with a
//! `FORMAT` and a line in [`FORMATS`].
//!
//! ```text
//!  bytes ─► detect (sniff) ─► decode ─► Decoded: profile + what the reader left out
//!                                          Profile ─► encode ─► writer
//! ```
#![forbid(unsafe_code)]

pub mod folded;
pub mod perf_script;
pub mod pprof;

mod decimal;
mod error;
mod folded_line;
mod format;

pub use error::{Error, ErrorKind};
pub use format::{Decode, Decoded, Format, longest_extension};

/// Every format, the one that is told most surely from its bytes first.
pub const FORMATS: &[Format] = &[pprof::FORMAT, perf_script::FORMAT, folded::FORMAT];

/// The format of these bytes, as far as their beginning tells.
pub fn detect(bytes: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.sniff)(bytes))
}

/// Reads a profile in whatever format it is.
///
/// # Errors
/// [`ErrorKind::Empty`] without bytes other than blanks, [`ErrorKind::Unreadable`] for a format that
/// is only recognised, [`ErrorKind::Unrecognised`] for none, and what the format's own reader says.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
    if folded_line::without_mark(bytes).iter().all(u8::is_ascii_whitespace) {
        return Err(Error::new(ErrorKind::Empty, "the input is empty"));
    }
    match detect(bytes) {
        Some(format) => format.decode(bytes),
        None if is_binary(bytes) => Err(Error::new(ErrorKind::Unrecognised, unrecognised())),
        // Text of no known form is most likely meant as folded, whose reader says which line
        // breaks which rule.
        None => folded::decode(bytes),
    }
}

fn unrecognised() -> String {
    let readable = FORMATS.iter().filter(|format| matches!(format.decode, Decode::With(_)));
    let names: Vec<_> = readable.map(|format| format.summary).collect();
    format!("the input is in no format that can be read ({})", names.join("; "))
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(4096)].contains(&0)
}
