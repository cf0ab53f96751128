//! The line on the terminal that shows how far a recording is.

use capture::Progress;
use std::io::{IsTerminal as _, Write as _, stderr};

/// A line that is written over and over, on a terminal only.
pub struct LiveLine {
    shown: bool,
    enabled: bool,
}

impl LiveLine {
    /// Nothing is shown yet, and never will be if `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { shown: false, enabled: !quiet && stderr().is_terminal() }
    }

    /// Shows how far the recording is.
    pub fn show(&mut self, progress: Progress) {
        if !self.enabled {
            return;
        }
        let elapsed = match progress.elapsed {
            Some(elapsed) => format!("{:.0} s", elapsed.as_secs_f64()),
            None => "waiting".into(),
        };
        let _ = write!(stderr(), "\r\x1b[Kflamel: {elapsed}, {} samples, {} lost ", progress.samples, progress.lost);
        self.shown = true;
    }

    /// Takes the line away again.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
