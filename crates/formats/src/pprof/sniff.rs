//! Tells a profile by its beginning. A message of protobuf has no magic number, so its first
//! fields are held against what profile.proto has.

use super::packed;
use super::wire::{Field, Fields, Value};

/// How much of an input is judged, unpacked.
const SNIFFED: usize = 4 << 10;
/// The highest number that a field of one of the inner messages may have; the format's own end
/// at 10, and more are bound to come.
const HIGHEST_FIELD: u32 = 20;

/// Whether the first fields are those of a profile: two at least, or all that there are.
pub(super) fn sniff(bytes: &[u8]) -> bool {
    let (head, whole) = packed::beginning(bytes, SNIFFED);
    let mut good = 0;
    let mut strings = 0;
    for field in Fields::new(&head) {
        match field {
            Ok(field) if is_of_profile(field, strings) => {
                good += 1;
                strings += u32::from(field.number == 6);
            }
            Err(error) if error.cut && !whole => break,
            _ => return false,
        }
    }
    good >= 2 || good == 1 && whole
}

/// Whether a profile may have this field, behind so many strings of its table.
fn is_of_profile(field: Field<'_>, strings: u32) -> bool {
    match (field.number, field.value) {
        (1..=5 | 11, Value::Bytes(message)) => {
            Fields::new(message).all(|inner| inner.is_ok_and(|inner| inner.number <= HIGHEST_FIELD))
        }
        // The first string is always the empty one.
        (6, Value::Bytes(text)) => strings > 0 || text.is_empty(),
        (13, Value::Bytes(_)) => true,
        (7..=10 | 12..=15, Value::Varint(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_told_from_all_else() {
        // The beginning of every profile that Go writes: two types of values and a sample.
        let plain = b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x06\x0a\x01\x01\x12\x01\x05";
        assert!(sniff(plain));
        // Cut, it is a damaged profile or something else: only a longer beginning would tell.
        assert!(!sniff(&plain[..15]));
        assert!(sniff(b"\x32\x00\x32\x03cpu"));
        let long = [&b"\x0a\x00\x32\x00\x32\x80\x40"[..], &[b'x'; 8_192]].concat();
        assert!(sniff(&long));
        for other in [
            &b""[..],
            b"\n\nmain;a 5\nmain;b 7\n",
            b"\nmain 5\n",
            b"\"main\" 5\n",
            b"2 main;a 5\n",
            b"*;main 5\n",
            b"PERFILE2\x68\0\0\0\0\0\0\0",
            b"{\"profiles\":[]}",
            b"\x7fELF\x02\x01\x01\0\0\0",
            b"\x1f\x8b\x08\0",
            b"\0\0\0\0",
        ] {
            assert!(!sniff(other), "{other:?}");
        }
    }
}
