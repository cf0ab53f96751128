//! What can go wrong with a view: there is nothing to draw, an option makes no sense, or the
//! writer fails.

use std::io;

/// What kind of failure it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The profile holds nothing to draw.
    Empty,
    /// An option is outside its range.
    BadOption,
    /// The writer failed.
    Write,
}

/// A view that could not be made.
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
