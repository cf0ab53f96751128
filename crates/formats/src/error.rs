//! What can go wrong between a profile and its bytes.

use std::io;

/// What kind of failure it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input holds nothing.
    Empty,
    /// The input is in a format that is recognised but that this version cannot read.
    Unreadable,
    /// The input is in no known format.
    Unrecognised,
    /// The input is cut or breaks its format's rules, so that nothing in it can be relied on.
    Damaged,
    /// A number or size beyond what the format or this reader holds.
    OutOfRange,
    /// Not one entry of the input follows the format's rules.
    NoValidEntry,
    /// The format is only read, not written.
    NotWritten,
    /// The writer failed.
    Write,
}

/// A profile that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{context}")]
pub struct Error {
    kind: ErrorKind,
    context: String,
    source: Option<io::Error>,
}

impl Error {
    /// What kind of failure it was.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn new(kind: ErrorKind, context: impl Into<String>) -> Self {
        Self { kind, context: context.into(), source: None }
    }

    pub(crate) fn write(what: &str) -> impl FnOnce(io::Error) -> Self {
        let context = format!("could not write {what}");
        move |source| Self { kind: ErrorKind::Write, context, source: Some(source) }
    }
}
