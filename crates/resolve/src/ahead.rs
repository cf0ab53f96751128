//! Names of files, looked up on a thread of their own while a recording is still being read: unpacking
//! and indexing debug information takes as long as reading some hundred thousand samples.

use crate::binary::{Binaries, BinaryId, Contents};
use crate::naming;
use model::{FileOffset, LocationId};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use symbols::{Found, Symbolizer};

/// A thread that looks names up.
pub(crate) struct Ahead {
    requests: SyncSender<Request>,
    thread: JoinHandle<Vec<(LocationId, Found)>>,
    /// What is wanted and was not asked for yet.
    pending: Vec<(BinaryId, LocationId, FileOffset)>,
    /// Samples that are still to be seen before it is asked for, and as many the next time.
    patience: u64,
    next_patience: u64,
}

/// Locations of one file.
struct Request {
    contents: Arc<Contents>,
    path: String,
    wanted: Vec<(LocationId, FileOffset)>,
}

/// The first request comes soon, so that files are read early. Each later one comes after so many
/// times more samples: there is ever less that is new, and a symbol table is walked for each.
const FIRST_REQUEST: u64 = 1 << 10;
const TIMES_MORE: u64 = 4;
/// Requests that may wait.
const QUEUE: usize = 1024;

impl Ahead {
    /// Starts the thread.
    pub(crate) fn new(options: symbols::Options) -> Self {
        let (requests, received) = sync_channel(QUEUE);
        let thread = std::thread::spawn(move || answer(&received, options));
        Self {
            requests,
            thread,
            pending: Vec::new(),
            patience: FIRST_REQUEST,
            next_patience: TIMES_MORE * FIRST_REQUEST,
        }
    }

    /// A location of a file is wanted that was not before.
    pub(crate) fn want(&mut self, binary: BinaryId, location: LocationId, offset: FileOffset) {
        self.pending.push((binary, location, offset));
    }

    /// One more sample has been seen.
    pub(crate) fn sampled(&mut self, binaries: &Binaries) {
        self.patience -= 1;
        if self.patience == 0 {
            self.patience = self.next_patience;
            self.next_patience = self.next_patience.saturating_mul(TIMES_MORE);
            self.ask(binaries);
        }
    }

    /// Waits for all names. What is not among them is looked up with the rest, and fails for its own reason.
    pub(crate) fn finish(mut self, binaries: &Binaries) -> Vec<(LocationId, Found)> {
        self.ask(binaries);
        drop(self.requests);
        // Should the thread have failed, everything is looked up with the rest.
        self.thread.join().unwrap_or_default()
    }

    fn ask(&mut self, binaries: &Binaries) {
        self.pending.sort_unstable_by_key(|(binary, ..)| *binary);
        for same in self.pending.chunk_by(|one, next| one.0 == next.0) {
            let binary = &binaries[same[0].0];
            let Ok(contents) = &binary.contents else { continue };
            let wanted = same.iter().map(|(_, location, offset)| (*location, *offset)).collect();
            let request = Request { contents: Arc::clone(contents), path: binary.path.clone(), wanted };
            // It ends only after its requests have.
            let _ = self.requests.send(request);
        }
        self.pending.clear();
    }
}

fn answer(requests: &Receiver<Request>, options: symbols::Options) -> Vec<(LocationId, Found)> {
    let mut symbolizer = Symbolizer::new(options);
    let mut named = Vec::new();
    for Request { contents, path, wanted } in requests {
        let found = naming::of_file(&mut symbolizer, &contents, &path, &wanted);
        named.extend(wanted.into_iter().map(|(location, _)| location).zip(found));
    }
    named
}
