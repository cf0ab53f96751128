//! Brings the records of all rings into the order of their times. Each ring is in order by
//! itself; between rings only a whole pass over all of them says how far everything is known.
//!
//! Records stay where the kernel wrote them until they are given out: a sample with a copied
//! stack is 8 KiB, of which an unwinder looks at a few words. So a pass reads two words of each
//! record, sorts small entries, and gives records out by reference; their room goes back to the
//! kernel behind them. What is held back is bounded by the rings themselves.

use model::Time;
use records::Header;
use std::ops::Range;

/// A ring of records. Positions count bytes since the ring was made and never go back.
pub trait Records {
    /// What was written and not yet given back.
    fn unread(&self) -> Range<u64>;
    /// The word at a position of [`Self::unread`].
    fn word(&self, position: u64) -> u64;
    /// The `words` words from a position on; `scratch` is for those that wrap around the end.
    fn record<'a>(&'a self, position: u64, words: usize, scratch: &'a mut Vec<u64>) -> &'a [u64];
    /// Gives back what lies before a position.
    fn free_until(&mut self, position: u64);
}

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
    position: u64,
    ring: u32,
    words: u32,
}

/// Gives room back after so many records: often enough for a small ring, and seldom enough that
/// the word which both sides look at does not go to and fro.
const FREE_EVERY: usize = 32;

/// Sorts what is in the rings.
#[derive(Debug)]
pub struct Merger {
    entries: Vec<Entry>,
    /// How far each ring was looked at, and the time reached there.
    scanned: Vec<(u64, Time)>,
    scratch: Vec<u64>,
    /// How far each ring was given out in the present pass.
    done: Vec<Option<u64>>,
    position: TimePosition,
    released: Time,
    /// Records that came after later ones had been given out.
    pub late: u64,
    /// Places where a ring held no record.
    pub damaged: u64,
}

impl Merger {
    /// Nothing was looked at yet; the times of records stand at `position`.
    pub fn new(position: TimePosition) -> Self {
        Self {
            entries: Vec::new(),
            scanned: Vec::new(),
            scratch: Vec::new(),
            done: Vec::new(),
            position,
            released: Time::default(),
            late: 0,
            damaged: 0,
        }
    }

    /// Looks once at what is new in each ring.
    pub fn scan(&mut self, rings: &mut [impl Records]) {
        self.scanned.resize(rings.len(), (0, Time::default()));
        for (index, ring) in rings.iter_mut().enumerate() {
            let unread = ring.unread();
            let (mut at, mut reached) = self.scanned[index];
            while at < unread.end {
                let header = Header::of(ring.word(at));
                let end = at + (header.words * size_of::<u64>()) as u64;
                if header.words == 0 || end > unread.end {
                    // No size to go on by: nothing up to the end can be trusted.
                    self.damaged += 1;
                    at = unread.end;
                    if !self.entries.iter().any(|entry| entry.ring as usize == index) {
                        ring.free_until(at);
                    }
                    break;
                }
                let time = self.time_of(ring, at, header).unwrap_or(reached);
                self.late += u64::from(time < self.released);
                // A ring's own order is right: an interrupt between taking the time and taking
                // the room makes two records change places.
                reached = reached.max(time);
                self.entries.push(Entry {
                    time: reached,
                    position: at,
                    ring: index as u32,
                    words: header.words as u32,
                });
                at = end;
            }
            self.scanned[index] = (at, reached);
        }
    }

    fn time_of(&self, ring: &impl Records, start: u64, header: Header) -> Option<Time> {
        let word = if header.is_sample() {
            Some(self.position.in_samples)
        } else {
            header.words.checked_sub(self.position.from_end)
        };
        let word = word.filter(|word| *word < header.words)?;
        Some(Time::from_ns(ring.word(start + (word * size_of::<u64>()) as u64)))
    }

    /// Shows what was looked at and not given out yet.
    pub fn peek(&mut self, rings: &[impl Records], mut see: impl FnMut(&[u64])) {
        for entry in &self.entries {
            see(rings[entry.ring as usize].record(entry.position, entry.words as usize, &mut self.scratch));
        }
    }

    /// Gives out, in order, all records before `until`. The caller says by it that no ring will
    /// get an earlier one.
    pub fn release(&mut self, until: Time, rings: &mut [impl Records], mut sink: impl FnMut(&[u64])) {
        // The rings stand one after the other, each in order: runs that a stable sort merges.
        self.entries.sort_by_key(|entry| entry.time);
        let ready = self.entries.partition_point(|entry| entry.time < until);
        // Within a ring, entries are given out in the order of their positions: what lies before
        // the end of the latest is done with.
        self.done.clear();
        self.done.resize(rings.len(), None);
        for (given, entry) in self.entries.drain(..ready).enumerate() {
            let ring = &mut rings[entry.ring as usize];
            sink(ring.record(entry.position, entry.words as usize, &mut self.scratch));
            self.released = self.released.max(entry.time);
            let end = entry.position + u64::from(entry.words) * size_of::<u64>() as u64;
            self.done[entry.ring as usize] = Some(end);
            if given % FREE_EVERY == FREE_EVERY - 1 {
                ring.free_until(end);
            }
        }
        for (ring, done) in rings.iter_mut().zip(&self.done) {
            done.iter().for_each(|end| ring.free_until(*end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITION: TimePosition = TimePosition { in_samples: 1, from_end: 1 };
    const COMM: u64 = 3;
    const SAMPLE: u64 = 9;

    /// A ring that does not wrap.
    #[derive(Default)]
    struct Memory {
        words: Vec<u64>,
        freed: u64,
    }

    impl Records for Memory {
        fn unread(&self) -> Range<u64> {
            self.freed..self.words.len() as u64 * 8
        }
        fn word(&self, position: u64) -> u64 {
            assert!(position >= self.freed);
            self.words[position as usize / 8]
        }
        fn record<'a>(&'a self, position: u64, words: usize, _: &'a mut Vec<u64>) -> &'a [u64] {
            &self.words[position as usize / 8..][..words]
        }
        fn free_until(&mut self, position: u64) {
            assert!(position >= self.freed);
            self.freed = position;
        }
    }

    fn push(ring: &mut Memory, kind: u64, time: u64, payload: u64) {
        let first = kind | (3 * 8) << 48;
        ring.words.extend(if kind == SAMPLE { [first, time, payload] } else { [first, payload, time] });
    }

    fn payloads(merger: &mut Merger, rings: &mut [Memory], until: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        merger.scan(rings);
        merger.release(Time::from_ns(until), rings, |record| {
            seen.push(if Header::of(record[0]).is_sample() { record[2] } else { record[1] });
        });
        seen
    }

    #[test]
    fn rings_are_merged_by_time_and_the_latest_wait() {
        let mut merger = Merger::new(POSITION);
        let mut rings = [Memory::default(), Memory::default()];
        push(&mut rings[0], SAMPLE, 10, 1);
        push(&mut rings[0], SAMPLE, 30, 3);
        push(&mut rings[1], COMM, 20, 2);
        push(&mut rings[1], SAMPLE, 40, 5);
        assert_eq!(payloads(&mut merger, &mut rings, 35), [1, 2, 3]);
        assert_eq!(rings[0].freed, 48);
        push(&mut rings[0], SAMPLE, 36, 4);
        assert_eq!(payloads(&mut merger, &mut rings, u64::MAX), [4, 5]);
        assert_eq!((merger.late, merger.damaged), (0, 0));
        assert!(rings.iter().all(|ring| ring.unread().is_empty()));
    }

    #[test]
    fn a_record_later_than_its_successors_is_counted_and_given_out() {
        let mut merger = Merger::new(POSITION);
        let mut rings = [Memory::default(), Memory::default()];
        push(&mut rings[0], SAMPLE, 50, 1);
        assert_eq!(payloads(&mut merger, &mut rings, 60), [1]);
        push(&mut rings[1], SAMPLE, 40, 2);
        assert_eq!(payloads(&mut merger, &mut rings, 60), [2]);
        assert_eq!(merger.late, 1);
    }

    #[test]
    fn a_ring_keeps_its_own_order() {
        let mut merger = Merger::new(POSITION);
        let mut rings = [Memory::default()];
        push(&mut rings[0], SAMPLE, 11, 1);
        push(&mut rings[0], SAMPLE, 10, 2);
        push(&mut rings[0], SAMPLE, 12, 3);
        assert_eq!(payloads(&mut merger, &mut rings, 12), [1, 2]);
        assert_eq!(payloads(&mut merger, &mut rings, 13), [3]);
    }

    #[test]
    fn room_is_given_back_though_the_latest_record_waits() {
        let mut merger = Merger::new(POSITION);
        let mut rings = [Memory::default()];
        for pass in 0..4 {
            (0..10).for_each(|n| push(&mut rings[0], SAMPLE, pass * 10 + n, n));
            assert_eq!(payloads(&mut merger, &mut rings, pass * 10 + 9).len(), if pass == 0 { 9 } else { 10 });
            assert_eq!(rings[0].unread().count(), 24);
        }
    }

    #[test]
    fn a_size_of_nothing_or_too_much_ends_the_batch() {
        for bad in [0u64, SAMPLE | 800 << 48] {
            let mut merger = Merger::new(POSITION);
            let mut rings = [Memory::default()];
            push(&mut rings[0], SAMPLE, 10, 1);
            rings[0].words.extend([bad, 0, 0]);
            assert_eq!(payloads(&mut merger, &mut rings, u64::MAX), [1]);
            push(&mut rings[0], SAMPLE, 20, 2);
            assert_eq!(payloads(&mut merger, &mut rings, u64::MAX), [2]);
            assert_eq!(merger.damaged, 1);
        }
    }
}
