//! Text that cannot break out of the picture: what XML 1.0 forbids, and what would hide or
//! reorder its surroundings, becomes a visible escape; what is markup becomes an entity.

use std::borrow::Cow;
use std::fmt;

/// Whether a character is shown as an escape: control characters (most of which XML 1.0,
/// section 2.2, forbids even as character references), the two non-characters that it forbids,
/// line separators, and the marks that turn the direction of the text around them.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// `text` with every hidden character as `\xNN`, or `\u{NNNN}` above 0xff.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match u32::from(character) {
            code if !is_hidden(character) => shown.push(char::from_u32(code).unwrap_or(character)),
            code @ ..=0xff => shown.push_str(&format!("\\x{code:02x}")),
            code => shown.push_str(&format!("\\u{{{code:x}}}")),
        }
    }
    shown.into()
}

/// A text in element content or in a quoted attribute: visible, and with entities.
pub(crate) struct Xml<'a>(pub(crate) &'a str);

impl fmt::Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = visible(self.0);
        let mut rest: &str = &text;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_xml_forbids_is_left() {
        let all: String = (0..=0x2ff).chain(0xfff0..=0xffff).chain([0x10ffff]).filter_map(char::from_u32).collect();
        let text = Xml(&all).to_string();
        // The production Char of XML 1.0, section 2.2.
        let legal =
            |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert!(text.chars().all(legal));
        assert!(!text.contains(['<', '>', '"', '\'', '\u{7f}']));
    }

    #[test]
    fn escapes_are_visible_and_markup_is_text() {
        assert_eq!(Xml("a\x1b[b\0").to_string(), "a\\x1b[b\\x00");
        assert_eq!(Xml("</title><script>'&\"").to_string(), "&lt;/title&gt;&lt;script&gt;&#39;&amp;&quot;");
        assert_eq!(visible("a\u{202e}b\u{fffe}"), "a\\u{202e}b\\u{fffe}");
        assert!(matches!(visible("größe"), Cow::Borrowed(_)));
    }
}
