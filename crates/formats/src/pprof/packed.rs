//! The bytes of a profile out of their gzip file, which the format asks for and which some leave
//! away.

use crate::{Error, ErrorKind};
use flate2::bufread::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read as _;

/// The most bytes that are unpacked: gzip makes a thousand of one, so that a small file could ask
/// for any amount of memory.
const MOST_BYTES: u64 = 1 << 30;

/// Whether the bytes are a gzip file (RFC 1952).
fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x1f\x8b")
}

/// All bytes, unpacked.
pub(super) fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    unpacked_to(bytes, MOST_BYTES)
}

fn unpacked_to(bytes: &[u8], most: u64) -> Result<Cow<'_, [u8]>, Error> {
    if !is_gzip(bytes) {
        return Ok(bytes.into());
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(most + 1).read_to_end(&mut unpacked);
    if unpacked.len() as u64 > most {
        let context = format!("the profile is larger than {} MiB when unpacked", most >> 20);
        return Err(Error::new(ErrorKind::OutOfRange, context));
    }
    match read {
        Ok(_) => Ok(unpacked.into()),
        Err(error) => {
            Err(Error::new(ErrorKind::Damaged, format!("the profile's gzip stream is cut or damaged: {error}")))
        }
    }
}

/// The first bytes, at most `most`, unpacked as far as they can be; and whether these are all.
pub(super) fn beginning(bytes: &[u8], most: usize) -> (Cow<'_, [u8]>, bool) {
    if !is_gzip(bytes) {
        return (bytes[..bytes.len().min(most)].into(), bytes.len() <= most);
    }
    let mut head = Vec::new();
    // A damaged stream is still judged by what it begins with; reading it will say what is wrong.
    let read = MultiGzDecoder::new(bytes).take(most as u64).read_to_end(&mut head);
    let whole = read.is_ok() && head.len() < most;
    (head.into(), whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn what_is_too_large_or_damaged_is_refused() {
        let packed = gzip(&[7; 5_000]);
        assert_eq!(unpacked_to(&packed, 5_000).unwrap(), &[7; 5_000][..]);
        assert_eq!(unpacked_to(&packed, 4_999).unwrap_err().kind(), ErrorKind::OutOfRange);
        assert_eq!(unpacked(&packed[..packed.len() - 9]).unwrap_err().kind(), ErrorKind::Damaged);
        assert_eq!(unpacked(b"\x1f\x8b").unwrap_err().kind(), ErrorKind::Damaged);
        assert_eq!(unpacked(b"plain").unwrap(), &b"plain"[..]);
    }

    #[test]
    fn a_file_of_several_streams_is_one() {
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(unpacked(&two).unwrap(), &b"one two"[..]);
    }

    #[test]
    fn a_beginning_is_had_of_a_damaged_file_too() {
        let packed = gzip(&(0..200_000u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
        let (head, whole) = beginning(&packed[..packed.len() / 2], 16);
        assert_eq!((&head[..8], head.len(), whole), (&[0, 0, 0, 0, 1, 0, 0, 0][..], 16, false));
        assert_eq!(beginning(&gzip(b"abc"), 16), (b"abc"[..].into(), true));
        assert_eq!(beginning(b"abc", 2), (b"ab"[..].into(), false));
    }
}
