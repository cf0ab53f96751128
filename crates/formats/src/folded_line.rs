//! One line of folded text: its frames and its count, or the rule that it breaks.

use crate::decimal::{Decimal, NotDecimal};

/// The most decimals that a count may have: the scale of a profile's weights is kept small, so
/// that they fit in 64 bits.
pub(crate) const MOST_PLACES: u32 = 9;

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'a> {
    /// Nothing but blanks.
    Blank,
    /// A remark.
    Comment,
    /// A stack and its count.
    Stack { frames: &'a [u8], count: Decimal },
}

/// A rule that a line can break.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// The last field of a line is its count.
    NoCount,
    /// A count is not below zero.
    NegativeCount,
    /// A frame stands before the count.
    NoFrame,
    /// A count fits in 64 bits.
    CountTooLarge,
    /// A count has at most nine decimals.
    CountTooFine,
}

impl Rule {
    /// What is wrong with the line, as the end of a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NoCount => "does not end in a count",
            Self::NegativeCount => "has a negative count",
            Self::NoFrame => "has a count but no frame",
            Self::CountTooLarge => "has a count that does not fit in 64 bits",
            Self::CountTooFine => "has a count of more than nine decimals",
        }
    }
}

/// The lines of a text, numbered from 1, without their ends and the byte order mark.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let lines = without_mark(bytes).split(|&byte| byte == b'\n');
    (1..).zip(lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)))
}

pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Takes a line apart.
pub(crate) fn parse(line: &[u8]) -> Result<Line<'_>, Rule> {
    let line = trim_end(line);
    if line.is_empty() {
        return Ok(Line::Blank);
    }
    if is_comment(line) {
        return Ok(Line::Comment);
    }
    let start = line.iter().rposition(|&byte| is_blank(byte)).map_or(0, |blank| blank + 1);
    let frames = trim_end(&line[..start]);
    let count = match Decimal::parse(&line[start..]) {
        Err(NotDecimal::NoNumber) => return Err(Rule::NoCount),
        Err(NotDecimal::Negative) => return Err(Rule::NegativeCount),
        Err(NotDecimal::TooLong) => return Err(Rule::CountTooLarge),
        Ok(_) if frames.iter().all(|&byte| byte == b';' || is_blank(byte)) => return Err(Rule::NoFrame),
        Ok(count) if count.places() > MOST_PLACES => return Err(Rule::CountTooFine),
        Ok(count) => count,
    };
    match count.scaled(count.places() as u8) {
        None => Err(Rule::CountTooLarge),
        Some(_) => Ok(Line::Stack { frames, count }),
    }
}

/// The frames of a stack, outermost first. A `;` before a blank is part of a name, as in
/// `<impl Trait for [T; 4]>::f`; one at the end of the line ends the last frame.
pub(crate) fn frames(stack: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(stack.strip_suffix(b";").unwrap_or(stack));
    std::iter::from_fn(move || {
        let stack = rest?;
        let splits = |at: &usize| stack[*at] == b';' && !stack.get(at + 1).copied().is_some_and(is_blank);
        match (0..stack.len()).find(splits) {
            Some(at) => {
                rest = Some(&stack[at + 1..]);
                Some(&stack[..at])
            }
            None => rest.take(),
        }
    })
}

/// Whether a line is a remark: `#` and a blank at its start. A thread may be named `#1`.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'#') && line.get(1).copied().is_none_or(is_blank)
}

pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn trim_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1);
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(line: &str) -> (Vec<String>, u64) {
        match parse(line.as_bytes()) {
            Ok(Line::Stack { frames: stack, count }) => {
                let names = frames(stack).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
                (names, count.scaled(0).unwrap())
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn frames_and_counts() {
        for (line, names, count) in [
            ("main 5", vec!["main"], 5),
            ("main;f 5", vec!["main", "f"], 5),
            ("main;f\t5", vec!["main", "f"], 5),
            ("main;f   5  ", vec!["main", "f"], 5),
            ("main;Worker 7 100", vec!["main", "Worker 7"], 100),
            ("m;<impl for [T; 4]>::f 5", vec!["m", "<impl for [T; 4]>::f"], 5),
            ("main;f; 5", vec!["main", "f"], 5),
            ("main;;f 5", vec!["main", "", "f"], 5),
            (";f 5", vec!["", "f"], 5),
            (" padded ;f 5", vec![" padded ", "f"], 5),
            ("#1;f 5", vec!["#1", "f"], 5),
            ("operator()(int, 3) 5", vec!["operator()(int, 3)"], 5),
        ] {
            assert_eq!(stack(line), (names.into_iter().map(String::from).collect(), count), "{line}");
        }
    }

    #[test]
    fn rules() {
        for (line, rule) in [
            ("a;none", Rule::NoCount),
            ("a;b c", Rule::NoCount),
            ("a;neg -50", Rule::NegativeCount),
            ("5", Rule::NoFrame),
            (" 5", Rule::NoFrame),
            ("; 5", Rule::NoFrame),
            ("a 18446744073709551616", Rule::CountTooLarge),
            ("a 1e20", Rule::CountTooLarge),
            ("a 0.0000000001", Rule::CountTooFine),
        ] {
            assert_eq!(parse(line.as_bytes()), Err(rule), "{line}");
        }
        assert_eq!(parse(b" \t"), Ok(Line::Blank));
        assert_eq!(parse(b"# main 5"), Ok(Line::Comment));
        assert_eq!(parse(b"#"), Ok(Line::Comment));
    }
}
