//! Why a recording cannot be read or written.

use std::io;

/// A recording that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are no recording of perf.
    #[error("it does not begin as a perf.data file does")]
    NotPerfData,
    /// A part that nothing can be read without is damaged.
    #[error("damaged at byte {offset}: {what}")]
    Damaged {
        /// What is wrong, as the end of a sentence.
        what: &'static str,
        /// Where, in bytes from the beginning.
        offset: u64,
    },
    /// Sound, but of a kind that is not read.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The operating system refused to read.
    #[error("read it")]
    Read(#[source] io::Error),
    /// The operating system refused to write.
    #[error("write it")]
    Write(#[source] io::Error),
}
