//! Records of a machine with the other byte order, turned in place so that they read as if this
//! machine had written them. Whole words are turned first; then pairs of 32-bit fields change
//! places, and what are bytes are turned back. Where that is depends on the kind of record.

use crate::fields::{Fields, SAMPLE_ID, halves, sample_id_words};
use crate::record::{Header, Layout, until_read};
use crate::{sample_raw, sample_read};
use perf_event_open_sys::bindings as sys;

/// Turns a whole record, header included. `layout_of` gives the layout of the event that an already
/// turned record belongs to. `None` where the record is shorter than its fields; it is unusable then.
pub fn to_native(record: &mut [u64], layout_of: impl FnOnce(&[u64]) -> Layout) -> Option<()> {
    let (first, body) = record.split_first_mut()?;
    *first = header(*first);
    let header = Header::of(*first);
    body.iter_mut().for_each(|word| *word = word.swap_bytes());
    let layout = layout_of(record);
    let body = &mut record[1..];
    if header.is_sample() {
        return sample(body, &layout);
    }
    let end = body.len().checked_sub(sample_id_words(&layout))?;
    let (body, trailer) = body.split_at_mut(end);
    turn_trailer(trailer, &layout);
    side_band(header, body)
}

/// A record's first word with its three fields turned: 32, 16 and 16 bits.
pub fn header(word: u64) -> u64 {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    u64::from_ne_bytes([d, c, b, a, f, e, h, g])
}

fn side_band(header: Header, body: &mut [u64]) -> Option<()> {
    let pairs = |body: &mut [u64], places: &[usize]| -> Option<()> {
        places.iter().try_for_each(|&at| body.get_mut(at).map(turn_pair))
    };
    let bytes_from = |body: &mut [u64], at: usize| body.iter_mut().skip(at).for_each(turn_bytes);
    match header.kind {
        sys::PERF_RECORD_MMAP => {
            pairs(body, &[0])?;
            bytes_from(body, 4);
        }
        sys::PERF_RECORD_MMAP2 => {
            pairs(body, &[0, 7])?;
            if u32::from(header.misc) & sys::PERF_RECORD_MISC_MMAP_BUILD_ID != 0 {
                body.get_mut(4..7)?.iter_mut().for_each(turn_bytes);
            } else {
                pairs(body, &[4])?;
            }
            bytes_from(body, 8);
        }
        sys::PERF_RECORD_COMM => {
            pairs(body, &[0])?;
            bytes_from(body, 1);
        }
        sys::PERF_RECORD_FORK | sys::PERF_RECORD_EXIT => pairs(body, &[0, 1])?,
        // The others that are read hold whole words.
        _ => {}
    }
    Some(())
}

fn sample(body: &mut [u64], layout: &Layout) -> Option<()> {
    let fields = [
        (sys::PERF_SAMPLE_IDENTIFIER, false),
        (sys::PERF_SAMPLE_IP, false),
        (sys::PERF_SAMPLE_TID, true),
        (sys::PERF_SAMPLE_TIME, false),
        (sys::PERF_SAMPLE_ADDR, false),
        (sys::PERF_SAMPLE_ID, false),
        (sys::PERF_SAMPLE_STREAM_ID, false),
        (sys::PERF_SAMPLE_CPU, true),
    ];
    for (at, (_, is_pair)) in fields.into_iter().filter(|(bit, _)| layout.has(*bit)).enumerate() {
        let word = body.get_mut(at)?;
        if is_pair {
            turn_pair(word);
        }
    }
    // How long what follows is, the turned words say.
    let mut rest = Fields { rest: body };
    until_read(&mut rest, layout)?;
    if layout.has(sys::PERF_SAMPLE_READ) {
        sample_read::skip(&mut rest, layout.read_format)?;
    }
    if layout.has(sys::PERF_SAMPLE_CALLCHAIN) {
        let count = rest.word()?;
        rest.words(count)?;
    }
    if layout.has(sys::PERF_SAMPLE_RAW) {
        let at = body.len() - rest.rest.len();
        turn_pair(body.get_mut(at)?);
        rest = Fields { rest: &body[at..] };
        sample_raw::take(&mut rest)?;
        let end = body.len() - rest.rest.len();
        // The size is a number before the bytes.
        let size = halves(body[at]).0;
        turn_pair(&mut body[at]);
        body[at..end].iter_mut().for_each(turn_bytes);
        let mut first = body[at].to_ne_bytes();
        first[..sample_raw::SIZE].copy_from_slice(&size.to_ne_bytes());
        body[at] = u64::from_ne_bytes(first);
        rest = Fields { rest: &body[end..] };
    }
    if layout.has(sys::PERF_SAMPLE_BRANCH_STACK) {
        let count = rest.word()?;
        if layout.branch_sample_type & u64::from(sys::PERF_SAMPLE_BRANCH_HW_INDEX) != 0 {
            rest.word()?;
        }
        let at = body.len() - rest.rest.len();
        rest.words(count.checked_mul(3)?)?;
        let end = body.len() - rest.rest.len();
        body[at..end].chunks_exact_mut(3).for_each(|entry| entry[2] = branch_flags(entry[2]));
        rest = Fields { rest: &body[end..] };
        if layout.branch_sample_type & u64::from(sys::PERF_SAMPLE_BRANCH_COUNTERS) != 0 {
            rest.words(count)?;
        }
    }
    if layout.has(sys::PERF_SAMPLE_REGS_USER) && rest.word()? != 0 {
        rest.words(layout.sample_regs_user.count_ones().into())?;
    }
    if layout.has(sys::PERF_SAMPLE_STACK_USER) {
        let size = rest.word()?;
        let at = body.len() - rest.rest.len();
        let end = at.checked_add(usize::try_from(size.div_ceil(8)).ok()?)?;
        body.get_mut(at..end)?.iter_mut().for_each(turn_bytes);
    }
    Some(())
}

fn turn_trailer(trailer: &mut [u64], layout: &Layout) {
    let present = SAMPLE_ID.iter().filter(|(bit, _)| layout.has(*bit));
    for (word, (_, is_pair)) in trailer.iter_mut().zip(present) {
        if *is_pair {
            turn_pair(word);
        }
    }
}

/// The turned flags of a branch, `struct perf_branch_entry`: big-endian compilers lay a bit field out
/// from the highest bit, each part of it in its own order.
fn branch_flags(turned: u64) -> u64 {
    // mispred, predicted, in_tx, abort, cycles, type, spec, new_type, priv
    const WIDTHS: [u32; 9] = [1, 1, 1, 1, 16, 4, 2, 4, 3];
    let mut at = 0;
    let mut flags = 0;
    for width in WIDTHS {
        flags |= (turned >> (u64::BITS - at - width) & ((1 << width) - 1)) << at;
        at += width;
    }
    flags
}

/// A turned word whose two halves are fields of their own.
fn turn_pair(word: &mut u64) {
    *word = word.rotate_left(32);
}

/// A turned word that holds bytes.
fn turn_bytes(word: &mut u64) {
    *word = word.swap_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Body, Event};

    #[test]
    fn parts_of_a_bit_field_keep_their_own_order() {
        // predicted, 0x1234 cycles, type 5, priv 3; from the lowest bit, and from the highest.
        let from_below = 1 << 1 | 0x1234 << 4 | 5 << 20 | 3 << 30;
        let from_above = 1 << 62 | 0x1234 << 44 | 5 << 40 | 3 << 31;
        assert_eq!(branch_flags(from_above), from_below);
    }

    #[test]
    fn raw_bytes_stay_bytes() {
        let layout = Layout { sample_type: u64::from(sys::PERF_SAMPLE_RAW), ..Layout::default() };
        let raw = [1u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let bytes = [&12u32.swap_bytes().to_ne_bytes()[..], &raw].concat();
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        let [a, b, c, d] = sys::PERF_RECORD_SAMPLE.to_ne_bytes();
        let [e, f] = 24u16.to_ne_bytes();
        let mut record = [header(u64::from_ne_bytes([a, b, c, d, 0, 0, e, f])), word(0), word(8)];
        to_native(&mut record, |_| layout).unwrap();
        let decoded = crate::decode(&record, &layout, |_| Some(model::id::Id::from_index(0)));
        let crate::Decoded::Event(Event { body: Body::Sample(sample), .. }) = decoded else { panic!("{decoded:?}") };
        assert_eq!(sample.raw, raw);
    }
}
