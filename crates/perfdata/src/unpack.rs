//! Compressed records (`perf record -z`): one zstd stream, cut into records without regard to where
//! the records inside begin.

use crate::assembler::{Assembler, Chunks};
use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};

/// Unpacks the stream.
#[derive(Default)]
pub(crate) struct Unpacker {
    decoder: Option<Decoder<'static>>,
    packed: Vec<u8>,
    done: usize,
}

impl Unpacker {
    /// The next piece of the stream.
    pub(crate) fn begin(&mut self, packed: &[u8]) {
        self.packed.clear();
        self.packed.extend_from_slice(packed);
        self.done = 0;
    }

    /// Unpacks as much as there is room for; false when the piece is used up, an error where it is
    /// not what zstd writes.
    pub(crate) fn go_on(&mut self, assembler: &mut Assembler, chunks: &mut Chunks) -> Result<bool, Damaged> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            None => self.decoder.insert(Decoder::new().map_err(|_| Damaged)?),
        };
        let room = assembler.room(chunks);
        let len = room.len();
        let mut output = OutBuffer::around(room);
        let mut input = InBuffer::around(&self.packed[self.done..]);
        decoder.run(&mut input, &mut output).map_err(|_| Damaged)?;
        let (read, written) = (input.pos(), output.pos());
        self.done += read;
        assembler.filled(written);
        if read == 0 && written == 0 {
            return Ok(false);
        }
        // With room left, everything has come out.
        Ok(self.done < self.packed.len() || written == len)
    }
}

/// The bytes are not what zstd writes.
#[derive(Debug)]
pub(crate) struct Damaged;
