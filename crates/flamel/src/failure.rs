//! An error and the exit code that it leads to.

use std::io;

/// Why a verb could not do its work.
#[derive(Debug)]
pub struct Failure {
    /// 1 where the run failed, 2 where usage or input is at fault.
    pub code: u8,
    /// What happened, outermost context first.
    pub error: anyhow::Error,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Other,
    Stdout,
    NoSamples,
}

impl Failure {
    /// Usage or input is at fault.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { code: 2, error: error.into(), kind: Kind::Other }
    }

    /// The run failed.
    pub fn run(error: impl Into<anyhow::Error>) -> Self {
        Self { code: 1, error: error.into(), kind: Kind::Other }
    }

    /// The run went well and found nothing.
    pub fn no_samples(error: impl Into<anyhow::Error>) -> Self {
        Self { code: 1, error: error.into(), kind: Kind::NoSamples }
    }

    /// Whether the run went well and found nothing.
    pub fn is_no_samples(&self) -> bool {
        self.kind == Kind::NoSamples
    }

    /// The data could not be written to standard output.
    pub fn stdout(error: impl Into<anyhow::Error>) -> Self {
        Self { code: 1, error: error.into(), kind: Kind::Stdout }
    }

    /// Whether the reader of our standard output went away; a pipe between us and others that
    /// breaks is a failure.
    pub fn is_broken_pipe(&self) -> bool {
        self.kind == Kind::Stdout
            && self
                .error
                .chain()
                .filter_map(|cause| cause.downcast_ref::<io::Error>())
                .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    }
}
