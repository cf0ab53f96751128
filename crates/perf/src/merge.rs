//! Brings the records of all rings into the order of their times. Each ring is in order by
//! itself; between rings only a whole pass over all of them says how far everything is known.
//!
//! What is copied out of the rings stands one record after the other in one arena; sorting
//! moves small entries, not records. After each release, what is left (the records of the last
//! moments) is moved to the front, so that the arena never outgrows the rings by much.

use crate::record::Header;
use model::Time;

/// Where the time of every record stands, given the fields that this crate always asks for.
#[derive(Clone, Copy, Debug)]
pub struct TimePosition {
    /// Words from the start of a sample.
    pub in_samples: usize,
    /// Words from the end of any other record.
    pub from_end: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    start: u32,
    words: u32,
}

/// Collects records and gives them out in order.
#[derive(Debug)]
pub struct Merger {
    arena: Vec<u64>,
    spare: Vec<u64>,
    entries: Vec<Entry>,
    position: TimePosition,
    released: Time,
    /// Records that came after later ones had been given out.
    pub late: u64,
    /// Bytes that could not be taken for records.
    pub damaged: u64,
}

impl Merger {
    /// An empty merger of records whose times stand at `position`.
    pub fn new(position: TimePosition) -> Self {
        Self {
            arena: Vec::new(),
            spare: Vec::new(),
            entries: Vec::new(),
            position,
            released: Time::default(),
            late: 0,
            damaged: 0,
        }
    }

    /// Takes the records that `fill` appends to the given buffer.
    pub fn add(&mut self, fill: impl FnOnce(&mut Vec<u64>)) {
        let mut start = self.arena.len();
        fill(&mut self.arena);
        while start < self.arena.len() {
            let header = Header::of(self.arena[start]);
            let Some(record) = self.arena.get(start..start + header.words.max(1)).filter(|_| header.words > 0) else {
                // No size to go on by: nothing behind it can be trusted.
                self.damaged += 1;
                self.arena.truncate(start);
                return;
            };
            let at = if header.is_sample() {
                Some(self.position.in_samples)
            } else {
                record.len().checked_sub(self.position.from_end)
            };
            let time = at.and_then(|at| record.get(at)).map_or(self.released, |&ns| Time::from_ns(ns));
            if time < self.released {
                self.late += 1;
            }
            self.entries.push(Entry { time, start: start as u32, words: header.words as u32 });
            start += header.words;
        }
    }

    /// Gives out, in order, all records before `until`. The caller says by it that no ring still
    /// holds an earlier one.
    pub fn release(&mut self, until: Time, mut sink: impl FnMut(&[u64])) {
        // The rings stand in the arena one after the other, each in order: runs that a stable
        // sort takes as they are.
        self.entries.sort_by_key(|entry| entry.time);
        let ready = self.entries.partition_point(|entry| entry.time < until);
        for entry in &self.entries[..ready] {
            sink(self.arena_range(entry));
        }
        if let Some(last) = self.entries[..ready].last() {
            self.released = self.released.max(last.time);
        }
        let mut spare = std::mem::take(&mut self.spare);
        for index in ready..self.entries.len() {
            let start = spare.len() as u32;
            spare.extend_from_slice(self.arena_range(&self.entries[index]));
            self.entries[index].start = start;
        }
        self.entries.drain(..ready);
        self.arena.clear();
        self.spare = std::mem::replace(&mut self.arena, spare);
    }

    /// How many bytes are held back.
    pub fn held_bytes(&self) -> usize {
        self.arena.len() * size_of::<u64>()
    }

    fn arena_range(&self, entry: &Entry) -> &[u64] {
        &self.arena[entry.start as usize..][..entry.words as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITION: TimePosition = TimePosition { in_samples: 1, from_end: 1 };
    const COMM: u64 = 3;

    fn record(kind: u64, time: u64, payload: u64) -> [u64; 3] {
        let size = 3 * 8;
        let first = kind | size << 48;
        if kind == 9 { [first, time, payload] } else { [first, payload, time] }
    }

    fn payloads(merger: &mut Merger, until: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        merger.release(Time::from_ns(until), |record| {
            seen.push(if Header::of(record[0]).is_sample() { record[2] } else { record[1] });
        });
        seen
    }

    #[test]
    fn rings_are_merged_by_time_and_the_latest_wait() {
        let mut merger = Merger::new(POSITION);
        merger.add(|arena| [record(9, 10, 1), record(9, 30, 3)].iter().for_each(|r| arena.extend(r)));
        merger.add(|arena| [record(COMM, 20, 2), record(9, 40, 4)].iter().for_each(|r| arena.extend(r)));
        assert_eq!(payloads(&mut merger, 35), [1, 2, 3]);
        assert_eq!(merger.held_bytes(), 24);
        merger.add(|arena| arena.extend(record(9, 36, 35)));
        assert_eq!(payloads(&mut merger, u64::MAX), [35, 4]);
        assert_eq!((merger.late, merger.damaged, merger.held_bytes()), (0, 0, 0));
    }

    #[test]
    fn a_record_later_than_its_successors_is_counted_and_given_out() {
        let mut merger = Merger::new(POSITION);
        merger.add(|arena| arena.extend(record(9, 50, 1)));
        assert_eq!(payloads(&mut merger, 60), [1]);
        merger.add(|arena| arena.extend(record(9, 40, 2)));
        assert_eq!(payloads(&mut merger, 60), [2]);
        assert_eq!(merger.late, 1);
    }

    #[test]
    fn a_size_of_nothing_or_too_much_ends_the_batch() {
        for bad in [0u64, 9 | 800 << 48] {
            let mut merger = Merger::new(POSITION);
            merger.add(|arena| {
                arena.extend(record(9, 10, 1));
                arena.extend([bad, 0, 0]);
            });
            assert_eq!(payloads(&mut merger, u64::MAX), [1]);
            assert_eq!(merger.damaged, 1);
        }
    }
}
