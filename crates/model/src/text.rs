//! Names come from the kernel and from files as bytes. Inside flamel they are UTF-8; a byte
//! that is not becomes `\xNN`, so that two names which differ stay different.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `bytes` as text, each byte that is not part of valid UTF-8 written as `\xNN`.
pub fn from_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// `bytes` up to the first NUL, which ends a C string.
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_utf8_is_escaped_and_the_rest_stays() {
        assert_eq!(from_bytes(b"caf\xc3\xa9;a b"), "café;a b");
        assert_eq!(from_bytes(b"w\xff;\xe9rker"), "w\\xff;\\xe9rker");
        assert_eq!(from_bytes(b"cut \xe2\x82"), "cut \\xe2\\x82");
    }

    #[test]
    fn c_strings_end_at_the_first_nul() {
        assert_eq!(until_nul(b"comm\0\0junk"), b"comm");
        assert_eq!(until_nul(b"whole"), b"whole");
    }
}
