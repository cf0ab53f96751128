//! Text that must fit a width known only by an estimate: names in boxes are set in a
//! monospaced face and cut, lines above the picture are wrapped at blanks.

use std::borrow::Cow;

/// What stands for the rest of a text that was cut.
pub(crate) const CUT: &str = "..";

/// The columns that a character takes in a monospaced face: two for East Asian wide characters
/// and emoji, one for all others. Unicode's annex 11 is finer; this never says too little for
/// the common ones. The picture's script holds the same rule.
pub(crate) fn columns_of(character: char) -> usize {
    match character as u32 {
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000.. => 2,
        _ => 1,
    }
}

/// The columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// `text` in at most `width` columns, cut where it is longer; empty where not even one
/// character and the mark of the cut fit.
pub(crate) fn fit(text: &str, width: usize) -> Cow<'_, str> {
    if text.len() <= width || columns(text) <= width {
        return text.into();
    }
    let Some(room) = width.checked_sub(CUT.len()) else { return "".into() };
    let mut used = 0;
    let end = text
        .char_indices()
        .find(|&(_, character)| {
            used += columns_of(character);
            used > room
        })
        .map_or(text.len(), |(index, _)| index);
    if end == 0 { "".into() } else { format!("{}{CUT}", &text[..end]).into() }
}

/// `text` in lines of at most `width` columns, broken at blanks where there are any.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(&fit(word, width));
        } else if columns(line) + 1 + columns(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(fit(word, width).into_owned());
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_the_columns_they_take() {
        assert_eq!(fit("main", 4), "main");
        assert_eq!(fit("mainly", 5), "mai..");
        assert_eq!(fit("mainly", 2), "");
        assert_eq!(fit("größe", 5), "größe");
        assert_eq!(fit("größer", 5), "grö..");
        assert_eq!(fit("計算機", 6), "計算機");
        assert_eq!(fit("計算機", 5), "計..");
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("immeasurable", 7), ["immea.."]);
        assert!(wrap("  ", 7).is_empty());
    }
}
