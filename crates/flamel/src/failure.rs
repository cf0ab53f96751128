//! An error and the exit code that it leads to.

use std::io;

/// Why a verb could not do its work.
#[derive(Debug)]
pub struct Failure {
    /// 1 where the run failed, 2 where usage or input is at fault.
    pub code: u8,
    /// What happened, outermost context first.
    pub error: anyhow::Error,
}

impl Failure {
    /// Usage or input is at fault.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { code: 2, error: error.into() }
    }

    /// The run failed.
    pub fn run(error: impl Into<anyhow::Error>) -> Self {
        Self { code: 1, error: error.into() }
    }

    /// Whether a reader of our output went away.
    pub fn is_broken_pipe(&self) -> bool {
        self.error
            .chain()
            .filter_map(|cause| cause.downcast_ref::<io::Error>())
            .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    }
}
