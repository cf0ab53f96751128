//! The outermost layer of a message of protobuf: its fields, one after the other, borrowed from
//! the bytes (<https://protobuf.dev/programming-guides/encoding/>). It lets a profile be read
//! list by list, without holding all of its messages at once, and tells one by its beginning.

/// A field of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field<'a> {
    pub(super) number: u32,
    pub(super) value: Value<'a>,
}

/// A field's value, as far as the encoding tells its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value<'a> {
    Varint(u64),
    /// Four or eight bytes, which profile.proto does not use.
    Fixed,
    /// A text, a message or a packed list.
    Bytes(&'a [u8]),
}

/// Where bytes stopped to be fields: behind so many bytes that were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NoField {
    pub(super) at: usize,
    /// Whether the bytes end there, so that more of them might make a field.
    pub(super) cut: bool,
}

/// The fields of a message; ends behind the first error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { message, at: 0 }
    }

    fn field(&self) -> Result<(Field<'a>, usize), bool> {
        let rest = &self.message[self.at..];
        let (key, key_len) = varint(rest)?;
        let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0).ok_or(false)?;
        let rest = &rest[key_len..];
        let (value, len) = match key & 7 {
            0 => {
                let (value, len) = varint(rest)?;
                (Value::Varint(value), len)
            }
            1 => (Value::Fixed, rest.get(..8).ok_or(true)?.len()),
            2 => {
                let (len, len_len) = varint(rest)?;
                let len = usize::try_from(len).map_err(|_| false)?;
                let bytes = rest[len_len..].get(..len).ok_or(true)?;
                (Value::Bytes(bytes), len_len + len)
            }
            5 => (Value::Fixed, rest.get(..4).ok_or(true)?.len()),
            // Groups, which the format has never had.
            _ => return Err(false),
        };
        Ok((Field { number, value }, key_len + len))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, NoField>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.message.len() {
            return None;
        }
        Some(match self.field() {
            Ok((field, len)) => {
                self.at += len;
                Ok(field)
            }
            Err(cut) => {
                let at = std::mem::replace(&mut self.at, self.message.len());
                Err(NoField { at, cut })
            }
        })
    }
}

/// The numbers of a packed list; ends behind the first that is none.
pub(super) fn varints(list: &[u8]) -> impl Iterator<Item = Option<u64>> + '_ {
    let mut rest = list;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let number = varint(rest).ok();
        rest = number.map_or(&[][..], |(_, len)| &rest[len..]);
        Some(number.map(|(value, _)| value))
    })
}

/// A number of seven bits a byte, the lowest first, and how many bytes it takes. The error says
/// whether the bytes end too early.
fn varint(bytes: &[u8]) -> Result<(u64, usize), bool> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        // The tenth byte holds the last of 64 bits.
        if index == 9 && byte > 1 {
            return Err(false);
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok((value, index + 1));
        }
    }
    Err(bytes.len() < 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Vec<Result<Field<'_>, NoField>> {
        Fields::new(bytes).collect()
    }

    #[test]
    fn fields_are_told_apart() {
        let bytes = b"\x08\x96\x01\x12\x02hi\x1d....\x21........";
        let expected = [
            Field { number: 1, value: Value::Varint(150) },
            Field { number: 2, value: Value::Bytes(b"hi") },
            Field { number: 3, value: Value::Fixed },
            Field { number: 4, value: Value::Fixed },
        ];
        assert_eq!(fields(bytes), expected.map(Ok));
    }

    #[test]
    fn what_is_cut_is_told_from_what_is_wrong() {
        for (bytes, at, cut) in [
            (&b"\x08\x01\x12\x05hi"[..], 2, true),
            (b"\x08", 0, true),
            (b"\x08\xff", 0, true),
            (b"\x1d...", 0, true),
            (b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0, true),
            (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 0, false),
            (b"\x08\x01\x00\x01", 2, false),
            (b"\x0b\x0c", 0, false),
        ] {
            assert_eq!(fields(bytes).last(), Some(&Err(NoField { at, cut })), "{bytes:?}");
        }
        assert_eq!(fields(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").len(), 1);
        assert!(fields(b"").is_empty());
    }

    #[test]
    fn packed_numbers_end_at_the_first_that_is_none() {
        assert_eq!(varints(b"\x01\x96\x01\x02").collect::<Vec<_>>(), [Some(1), Some(150), Some(2)]);
        assert_eq!(varints(b"\x01\x96").collect::<Vec<_>>(), [Some(1), None]);
        assert_eq!(varints(b"").count(), 0);
    }
}
