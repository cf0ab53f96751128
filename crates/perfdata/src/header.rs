//! The first bytes of a recording: which byte order, file or pipe, and where a file's parts lie.

use crate::error::Error;
use crate::input::{Input, Section};
use records::ByteOrder;

/// "PERFILE2" in little-endian order, and what perf wrote before Linux 3.2.
const MAGIC: u64 = u64::from_le_bytes(*b"PERFILE2");
const OLD_MAGIC: u64 = u64::from_le_bytes(*b"PERFFILE");

/// Bytes that tell what it is.
pub(crate) const HEAD: usize = 16;
/// Bits that say which features a file has.
const FEATURE_BITS: usize = 256;

/// What a recording begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Header {
    /// Records from here to the end.
    Pipe { order: ByteOrder },
    /// A file with parts.
    File(FileHeader),
}

/// `struct perf_file_header`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileHeader {
    pub(crate) order: ByteOrder,
    /// Bytes of an attribute and of the section of its ids behind it.
    pub(crate) attribute_size: u64,
    pub(crate) attributes: Section,
    pub(crate) data: Section,
    pub(crate) features: [u64; FEATURE_BITS / 64],
}

impl FileHeader {
    /// The features that the file has, in the order in which their sections stand.
    pub(crate) fn features(&self) -> impl Iterator<Item = usize> + '_ {
        (0..FEATURE_BITS).filter(|bit| self.features[bit / 64] >> (bit % 64) & 1 != 0)
    }
}

/// The byte order of what begins so; `None` where it is no recording.
pub(crate) fn order_of(head: &[u8]) -> Option<ByteOrder> {
    let magic = u64::from_ne_bytes(head.get(..8)?.try_into().ok()?);
    let size = u64::from_ne_bytes(head.get(8..16)?.try_into().ok()?);
    match magic {
        MAGIC => Some(ByteOrder::Native),
        _ if magic == MAGIC.swap_bytes() => Some(ByteOrder::Swapped),
        // The old mark is the same in both orders, but the header's size is a small number.
        OLD_MAGIC if size < 1 << 16 => Some(ByteOrder::Native),
        OLD_MAGIC => Some(ByteOrder::Swapped),
        _ => None,
    }
}

/// Reads the header. A pipe that holds a file is read into memory.
pub(crate) fn read(mut input: Input) -> Result<(Header, Input), Error> {
    let mut head = [0; HEAD];
    if input.fill_at(0, &mut head)? < HEAD {
        return Err(Error::NotPerfData);
    }
    let order = order_of(&head).ok_or(Error::NotPerfData)?;
    let size = order.u64_at(&head, 8).unwrap_or(0);
    if size == HEAD as u64 {
        return Ok((Header::Pipe { order }, input));
    }
    let mut input = input.into_seekable(&head)?;
    let bytes = input.section(Section { offset: 0, size: size.min(104) })?;
    let u64_at = |at| order.u64_at(&bytes, at);
    let section = |at| Some(Section { offset: u64_at(at)?, size: u64_at(at + 8)? });
    let parse = || {
        Some(FileHeader {
            order,
            attribute_size: u64_at(16)?,
            attributes: section(24)?,
            data: section(40)?,
            // Before Linux 2.6.34 the header ended before its features.
            features: std::array::from_fn(|word| u64_at(72 + 8 * word).unwrap_or(0)),
        })
    };
    let mut header = parse().ok_or(Error::Damaged { what: "the file's header is cut", offset: bytes.len() as u64 })?;
    if order == ByteOrder::Swapped && header.features[0] & HAS_HOST_NAME == 0 {
        // Machines with 32-bit words wrote the bits in halves.
        let halved = header.features.map(|word| word.rotate_left(32));
        if halved[0] & HAS_HOST_NAME != 0 {
            header.features = halved;
        }
    }
    Ok((Header::File(header), input))
}

/// perf has written the host's name into every file with features.
const HAS_HOST_NAME: u64 = 1 << 3;
