//! Whole records out of bytes that come in pieces. Bytes are read straight into chunks, where the
//! records stay until they have been given out; a record that is cut by a chunk's end is moved to the
//! beginning of the next, and one that does not begin at a whole word is moved back to where it
//! does. Chunks whose records are done with are used again.

use crate::user_record::FIRST;
use records::{ByteOrder, Header, to_native_header};

/// Words of a chunk: a quarter of a megabyte, which second-level caches hold. No record is longer
/// than 64 KiB.
const CHUNK_WORDS: usize = 32 << 10;
const WORD: usize = size_of::<u64>();

/// Where a record lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    chunk: u32,
    /// In words.
    start: u32,
    /// Header included.
    pub(crate) bytes: u32,
}

impl Place {
    fn words(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + (self.bytes as usize).div_ceil(WORD)
    }
}

struct Chunk {
    words: Vec<u64>,
    /// Records that wait to be given out.
    waiting: u32,
    /// Whether it is still being filled.
    open: bool,
}

/// All chunks.
#[derive(Default)]
pub(crate) struct Chunks {
    chunks: Vec<Chunk>,
    spare: Vec<u32>,
}

impl Chunks {
    fn open(&mut self) -> u32 {
        let index = self.spare.pop().unwrap_or_else(|| {
            self.chunks.push(Chunk { words: vec![0; CHUNK_WORDS], waiting: 0, open: true });
            self.chunks.len() as u32 - 1
        });
        self.chunks[index as usize].open = true;
        index
    }

    fn close(&mut self, index: u32) {
        self.chunks[index as usize].open = false;
        self.reuse(index);
    }

    fn reuse(&mut self, index: u32) {
        let chunk = &self.chunks[index as usize];
        if !chunk.open && chunk.waiting == 0 {
            self.spare.push(index);
        }
    }

    /// Bytes of the chunks that hold something.
    pub(crate) fn held(&self) -> usize {
        (self.chunks.len() - self.spare.len()) * CHUNK_WORDS * WORD
    }

    /// The record that lies there, in whole words.
    pub(crate) fn record(&self, place: Place) -> &[u64] {
        &self.chunks[place.chunk as usize].words[place.words()]
    }

    /// The same, as it is.
    pub(crate) fn bytes(&self, place: Place) -> &[u8] {
        &bytemuck::cast_slice(self.record(place))[..place.bytes as usize]
    }

    pub(crate) fn record_mut(&mut self, place: Place) -> &mut [u64] {
        &mut self.chunks[place.chunk as usize].words[place.words()]
    }

    /// The record will be asked for later.
    pub(crate) fn keep(&mut self, place: Place) {
        self.chunks[place.chunk as usize].waiting += 1;
    }

    /// The record will not be asked for again.
    pub(crate) fn done(&mut self, place: Place) {
        self.chunks[place.chunk as usize].waiting -= 1;
        self.reuse(place.chunk);
    }
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// A whole record.
    Record(Place),
    /// Nothing: more bytes are needed.
    More,
    /// A record is smaller than its header, or the kernel's and not made of whole words.
    Damaged,
}

/// Cuts one sequence of bytes into records.
pub(crate) struct Assembler {
    chunk: Option<u32>,
    /// Bytes of the chunk that were filled, and those of them that were given out.
    filled: usize,
    taken: usize,
    order: ByteOrder,
}

impl Assembler {
    pub(crate) fn new(order: ByteOrder) -> Self {
        Self { chunk: None, filled: 0, taken: 0, order }
    }

    /// Where the next bytes go; never empty. To be called once [`Self::next`] wants more.
    pub(crate) fn room<'a>(&mut self, chunks: &'a mut Chunks) -> &'a mut [u8] {
        if self.chunk.is_none() || self.filled == CHUNK_WORDS * WORD {
            self.go_on(chunks);
        }
        let chunk = self.chunk.map_or(&mut [][..], |index| &mut chunks.chunks[index as usize].words);
        &mut bytemuck::cast_slice_mut(chunk)[self.filled..]
    }

    /// So many bytes were put there.
    pub(crate) fn filled(&mut self, bytes: usize) {
        self.filled += bytes;
    }

    /// Bytes that were filled in and are no record yet.
    pub(crate) fn rest(&self) -> usize {
        self.filled - self.taken
    }

    /// Looks at the next record and takes it.
    pub(crate) fn next(&mut self, chunks: &mut Chunks) -> Next {
        let (Some(index), true) = (self.chunk, self.rest() >= WORD) else { return Next::More };
        let words = &mut chunks.chunks[index as usize].words;
        let start = self.taken / WORD;
        let beside = self.taken % WORD;
        let first = match beside {
            0 => words[start],
            _ => bytemuck::pod_read_unaligned(&bytemuck::cast_slice(words)[self.taken..self.taken + WORD]),
        };
        let first = if self.order == ByteOrder::Native { first } else { to_native_header(first) };
        let size = Header::size(first);
        // perf fills up what the kernel writes, but not all that it writes itself.
        if size < WORD || (!size.is_multiple_of(WORD) && Header::of(first).kind < FIRST) {
            return Next::Damaged;
        }
        if self.rest() < size {
            return Next::More;
        }
        if beside != 0 {
            // What lies before it, up to seven bytes, is the end of a record of perf's own, and those
            // are done with at once, or the gap that the move of the record before has left.
            bytemuck::cast_slice_mut::<u64, u8>(words).copy_within(self.taken..self.taken + size, start * WORD);
        }
        self.taken += size;
        Next::Record(Place { chunk: index, start: start as u32, bytes: size as u32 })
    }

    /// The bytes that were filled in and are no record yet.
    pub(crate) fn rest_bytes<'a>(&self, chunks: &'a Chunks) -> &'a [u8] {
        let words = self.chunk.map_or(&[][..], |index| &chunks.chunks[index as usize].words);
        &bytemuck::cast_slice(words)[self.taken..self.filled]
    }

    /// Passes over bytes that are no records; how many of them are yet to come.
    pub(crate) fn skip(&mut self, bytes: u64) -> u64 {
        let here = bytes.min(self.rest() as u64);
        self.taken += here as usize;
        bytes - here
    }

    /// Goes on in another chunk, to which the rest is moved.
    fn go_on(&mut self, chunks: &mut Chunks) {
        let next = chunks.open();
        let rest = self.rest();
        if let Some(old) = self.chunk {
            if let Ok([from, to]) = chunks.chunks.get_disjoint_mut([old as usize, next as usize]) {
                let rest_of: &[u8] = &bytemuck::cast_slice(&from.words)[self.taken..self.filled];
                bytemuck::cast_slice_mut(&mut to.words)[..rest].copy_from_slice(rest_of);
            }
            chunks.close(old);
        }
        self.chunk = Some(next);
        (self.filled, self.taken) = (rest, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(words: usize, value: u64) -> Vec<u64> {
        let mut record = vec![value; words];
        record[0] = 9 | (words as u64 * 8) << 48;
        record
    }

    /// Feeds `bytes` in pieces of `piece` and gives the second words of the records.
    fn assemble(bytes: &[u8], piece: usize) -> (Vec<u64>, Next, usize) {
        let (mut chunks, mut assembler) = (Chunks::default(), Assembler::new(ByteOrder::Native));
        let (mut seen, mut rest) = (Vec::new(), bytes);
        loop {
            match assembler.next(&mut chunks) {
                Next::Record(place) => {
                    chunks.keep(place);
                    seen.push(chunks.record(place)[1]);
                    chunks.done(place);
                }
                Next::More if !rest.is_empty() => {
                    let room = assembler.room(&mut chunks);
                    let count = room.len().min(rest.len()).min(piece);
                    room[..count].copy_from_slice(&rest[..count]);
                    assembler.filled(count);
                    rest = &rest[count..];
                }
                end => return (seen, end, chunks.chunks.len()),
            }
        }
    }

    #[test]
    fn records_are_whole_however_the_bytes_come() {
        let words: Vec<u64> = (0..3000u64).flat_map(|n| record(2 + n as usize % 300, n)).collect();
        let bytes = bytemuck::cast_slice(&words);
        for piece in [7, 4096, usize::MAX] {
            let (seen, end, chunks) = assemble(bytes, piece);
            assert_eq!(seen, (0..3000).collect::<Vec<_>>());
            assert_eq!(end, Next::More);
            assert!(chunks <= 2, "{chunks}");
        }
    }

    #[test]
    fn sizes_that_cannot_be_end_it() {
        for size in [0u64, 4, 7, 12] {
            let words = [record(2, 1), vec![9 | size << 48, 0]].concat();
            assert_eq!(assemble(bytemuck::cast_slice(&words), 64).1, Next::Damaged, "{size}");
        }
    }

    #[test]
    fn records_behind_odd_ones_are_whole() {
        let mut bytes = Vec::new();
        for n in 0..3000u64 {
            // Perf's own, of 16 to 23 bytes, then one of the kernel's.
            let odd = 16 + n as usize % 8;
            bytes.extend((81 | (odd as u64) << 48).to_ne_bytes());
            bytes.extend(n.to_ne_bytes());
            bytes.resize(bytes.len() + odd - 16, 0xff);
            bytes.extend_from_slice(bytemuck::cast_slice(&record(2 + n as usize % 300, n)));
        }
        for piece in [7, 4096, usize::MAX] {
            let (seen, end, chunks) = assemble(&bytes, piece);
            assert_eq!(seen, (0..3000).flat_map(|n| [n, n]).collect::<Vec<_>>());
            assert_eq!(end, Next::More);
            assert!(chunks <= 2, "{chunks}");
        }
    }

    #[test]
    fn what_is_no_record_is_passed_over() {
        let (mut chunks, mut assembler) = (Chunks::default(), Assembler::new(ByteOrder::Native));
        let words = record(2, 5);
        let bytes: Vec<u8> = [&[0xff; 13][..], bytemuck::cast_slice(&words)].concat();
        assembler.room(&mut chunks)[..bytes.len()].copy_from_slice(&bytes);
        assembler.filled(bytes.len());
        assert_eq!(assembler.skip(13), 0);
        let Next::Record(place) = assembler.next(&mut chunks) else { panic!() };
        assert_eq!(chunks.record(place), words);
        assert_eq!(assembler.skip(100), 100);
    }
}
