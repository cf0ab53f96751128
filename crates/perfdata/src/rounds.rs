//! Brings records into the order of their times. perf copies the rings of all CPUs one after the
//! other, and says by `PERF_RECORD_FINISHED_ROUND` that it has been at each: whatever is earlier than
//! the latest record of the round before is complete then.

use crate::assembler::Place;
use crate::decoding::NO_MOMENT;

#[derive(Clone, Copy)]
struct Entry {
    time: u64,
    place: Place,
}

/// Records that wait for their turn.
#[derive(Default)]
pub(crate) struct Rounds {
    entries: Vec<Entry>,
    latest: u64,
    complete_until: u64,
    released: Option<u64>,
    /// Records that came after later ones had been given out.
    pub(crate) late: u64,
}

impl Rounds {
    /// Bytes that are held to sort by.
    pub(crate) fn held(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
    }

    /// One more record.
    pub(crate) fn add(&mut self, time: u64, place: Place) {
        // What has no moment goes to the end, and says nothing of how far the others are.
        if time < NO_MOMENT {
            self.latest = self.latest.max(time);
        }
        self.late += u64::from(self.released.is_some_and(|released| time < released));
        self.entries.push(Entry { time, place });
    }

    /// Gives out what is complete at the end of a round.
    pub(crate) fn finish_round(&mut self, sink: impl FnMut(Place)) {
        self.release(self.complete_until, sink);
        self.complete_until = self.latest;
    }

    /// Gives out everything.
    pub(crate) fn finish(&mut self, sink: impl FnMut(Place)) {
        self.release(u64::MAX, sink);
    }

    fn release(&mut self, until: u64, mut sink: impl FnMut(Place)) {
        // Each CPU's records stand in order already: runs that a stable sort merges.
        self.entries.sort_by_key(|entry| entry.time);
        let ready = self.entries.partition_point(|entry| entry.time <= until);
        for entry in self.entries.drain(..ready) {
            if entry.time < NO_MOMENT {
                self.released = Some(entry.time);
            }
            sink(entry.place);
        }
    }
}
