//! Recordings that are cut or changed: everything before the damage is given out, nothing hangs, and
//! memory stays bounded.

use crate::corpus::{names, unpacked};
use crate::memory::most_held;
use model::{Body, Event};
use perfdata::{Error, Input, Outcome, Reader};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Cursor;
use std::sync::Arc;

/// What an event tells, in one number: the lists of some hundred cut files are compared.
fn digest(event: &Event<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Body::Sample(sample) = event.body else { return 0 };
    (event.time.map(model::Time::as_ns), event.task.pid.0, event.task.tid.0).hash(&mut hasher);
    (sample.period, sample.callchain.words(), sample.branches.words()).hash(&mut hasher);
    // Without the sections behind the data, it may not be known how registers are numbered.
    sample.user.map_or(0, |user| user.stack.len()).hash(&mut hasher);
    hasher.finish().max(1)
}

/// The digests of all samples.
fn samples(input: Input) -> Result<(Vec<u64>, Outcome), Error> {
    let mut reader = Reader::open(input)?;
    let mut samples = Vec::new();
    let outcome = reader.read(|event| {
        if matches!(event.body, Body::Sample(_)) {
            samples.push(digest(event));
        }
    })?;
    Ok((samples, outcome))
}

/// Bytes that many readers share.
#[derive(Clone)]
struct Shared(Arc<[u8]>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The first bytes of a recording as an input, without a copy where it is a pipe's.
fn cut(bytes: &Shared, len: usize) -> Input {
    let is_pipe = bytes.0[8..16] == 16u64.to_le_bytes();
    if is_pipe {
        let mut cursor = Cursor::new(bytes.clone());
        cursor.set_position(0);
        Input::stream(std::io::Read::take(cursor, len as u64))
    } else {
        Input::Bytes(bytes.0[..len].to_vec())
    }
}

/// What reading may hold; the corpus is not larger than a megabyte.
fn allowed(len: usize) -> usize {
    20 * len + (64 << 20)
}

/// Whether `some` is what is left of `all` when elements are taken out.
fn is_thinned(some: &[u64], all: &[u64]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|other| one == other))
}

#[test]
fn what_is_cut_gives_the_samples_before_the_cut() {
    let mut compared = 0;
    for name in names() {
        let bytes = Shared(unpacked(&name).unwrap().into());
        let (whole, _) = samples(cut(&bytes, bytes.0.len())).unwrap();
        let mut before = 0;
        let walked = samples_before(&bytes.0, bytes.0.len()) == Some(whole.len());
        compared += usize::from(walked);
        for len in (0..bytes.0.len()).step_by(512) {
            let (read, most) = most_held(|| samples(cut(&bytes, len)));
            assert!(most <= allowed(len), "{name} cut at {len}: {most} bytes");
            let (found, outcome) = match read {
                Ok(read) => read,
                // A cut in what nothing can be read without.
                Err(Error::NotPerfData | Error::Damaged { .. }) => continue,
                Err(error) => panic!("{name} cut at {len}: {error}"),
            };
            assert!(is_thinned(&found, &whole), "{name} cut at {len}: other samples than in the whole");
            assert!(found.len() >= before, "{name} cut at {len}: fewer samples than before it");
            before = found.len();
            if let (true, Some(wanted)) = (walked, samples_before(&bytes.0, len)) {
                assert_eq!(found.len(), wanted, "{name} cut at {len}");
            }
            if let Some(damage) = outcome.damage {
                assert!(damage.offset <= len as u64, "{name} cut at {len}: {damage:?}");
            }
        }
    }
    assert_eq!(compared, 23);
}

/// How many samples a recording holds whole before it is cut at `len`, by walking its records. `None`
/// where they are compressed.
fn samples_before(bytes: &[u8], len: usize) -> Option<usize> {
    const AUXTRACE: u32 = 71;
    const COMPRESSED: [u32; 2] = [81, 83];
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let is_pipe = number(8) == 16;
    let (mut at, end) = if is_pipe { (16, bytes.len()) } else { (number(40), number(40) + number(48)) };
    let mut count = 0;
    while at + 8 <= end.min(len) {
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let size = usize::from(u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap()));
        if size == 0 || COMPRESSED.contains(&kind) {
            return None;
        }
        count += usize::from(kind == 9 && at + size <= end.min(len));
        at += size + if kind == AUXTRACE { number(at + 8) } else { 0 };
    }
    Some(count)
}

/// A small generator whose numbers are the same in every run (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

#[test]
fn what_has_a_changed_byte_is_read_as_far_as_it_can_be() {
    const CHANGES: usize = 10_000;
    /// Where header and attributes end, roughly.
    const FRONT: usize = 4096;
    let names = names();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut refused = 0;
    for name in &names {
        let mut bytes = unpacked(name).unwrap();
        for change in 0..CHANGES.div_ceil(names.len()) {
            // Half of them where lengths and offsets stand.
            let at = random.below(if change % 2 == 0 { bytes.len() } else { bytes.len().min(FRONT) });
            let before = bytes[at];
            bytes[at] ^= 1 + random.below(255) as u8;
            let copy = bytes.clone();
            let (read, most) = most_held(|| samples(Input::Bytes(copy)));
            bytes[at] = before;
            assert!(most <= allowed(bytes.len()), "{name} changed at {at}: {most} bytes");
            let Ok((found, outcome)) = read else {
                refused += 1;
                assert!(at < FRONT, "{name} changed at {at}: refused");
                continue;
            };
            if let Some(damage) = outcome.damage {
                assert!(damage.offset <= bytes.len() as u64 || at < FRONT, "{name} changed at {at}: {damage:?}");
            }
            // In the front stands what all records are read by; behind it a byte changes one record, or
            // where the next one begins.
            if at >= FRONT {
                let found: HashSet<u64> = found.into_iter().collect();
                let (before, _) = samples(Input::Bytes(bytes[..at].to_vec())).unwrap();
                let missing = before.iter().filter(|sample| !found.contains(sample)).count();
                assert_eq!(missing, 0, "{name} changed at {at}: of {} samples before it", before.len());
            }
        }
    }
    assert!(refused < CHANGES / 20, "{refused} of {CHANGES} could not be read at all");
}
