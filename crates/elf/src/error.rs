//! What goes wrong with an ELF file: it cannot be read, it is none, or it is damaged.

use std::fmt;
use std::io;

/// Why an ELF file, or a part of it, could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {context}: {kind}")]
pub struct Error {
    kind: ErrorKind,
    context: &'static str,
    source: Option<io::Error>,
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The operating system refused a read.
    Io,
    /// The file does not start as an ELF file does, or is of a class that no machine has.
    NotElf,
    /// The file ends before something that its headers promise.
    CutShort,
    /// Its headers contradict themselves.
    Damaged,
    /// A compression that is not known, or that was built to exhaust memory.
    Compression,
}

impl Error {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn new(kind: ErrorKind, context: &'static str) -> Self {
        Self { kind, context, source: None }
    }

    pub(crate) fn io(source: io::Error, context: &'static str) -> Self {
        // A file that shrank after its size was asked for is cut, as far as we can see.
        let kind = if source.kind() == io::ErrorKind::UnexpectedEof { ErrorKind::CutShort } else { ErrorKind::Io };
        Self { kind, context, source: Some(source) }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Io => "the read failed",
            Self::NotElf => "this is no ELF file",
            Self::CutShort => "the file ends before",
            Self::Damaged => "the file is damaged",
            Self::Compression => "its compression is not supported",
        })
    }
}
