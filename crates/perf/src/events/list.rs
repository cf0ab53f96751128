//! A list of events: commas part them, except between the slashes of a pmu's terms.

use super::error::EventErrorKind;

/// One event's text and where it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Item<'a> {
    /// The text, without blanks around it.
    pub text: &'a str,
    /// At which character of the list it begins, counted from 1.
    pub position: usize,
}

/// A breakpoint's slash stands before a length and is not one of a pair.
pub(super) const BREAKPOINT: &str = "mem:";

/// The events of `list`, and for each one what is wrong with its outer shape, if anything is.
pub(super) fn split(list: &str) -> Vec<(Item<'_>, Option<EventErrorKind>)> {
    let mut items = Vec::new();
    let mut start = 0;
    loop {
        let rest = &list[start..];
        let (len, closed) = item_len(rest);
        let text = rest[..len].trim();
        let blanks = rest.len() - rest.trim_start().len();
        let position = list[..start + blanks.min(len)].chars().count() + 1;
        let wrong = match text {
            "" => Some(EventErrorKind::Empty),
            _ if text.starts_with('{') => Some(EventErrorKind::Group),
            _ if !closed => Some(EventErrorKind::Unclosed),
            _ => None,
        };
        items.push((Item { text, position }, wrong));
        if start + len == list.len() {
            return items;
        }
        start += len + 1;
    }
}

/// The bytes up to the comma that ends the first event, and whether its slashes are paired.
fn item_len(list: &str) -> (usize, bool) {
    let is_breakpoint = list.trim_start().starts_with(BREAKPOINT);
    let (mut in_terms, mut quoted) = (false, false);
    for (index, byte) in list.bytes().enumerate() {
        match byte {
            b'\'' if in_terms => quoted = !quoted,
            b'/' if !quoted && !is_breakpoint => in_terms = !in_terms,
            b',' if !in_terms => return (index, true),
            _ => {}
        }
    }
    (list.len(), !in_terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_between_slashes_part_nothing() {
        let list = "cycles:u, cpu/event=0x3c,name='a,/b'/u,mem:0x10/8:w,märz,sched:x";
        let texts: Vec<_> = split(list).into_iter().map(|(item, wrong)| (item.text, item.position, wrong)).collect();
        assert_eq!(
            texts,
            [
                ("cycles:u", 1, None),
                ("cpu/event=0x3c,name='a,/b'/u", 11, None),
                ("mem:0x10/8:w", 40, None),
                ("märz", 53, None),
                ("sched:x", 58, None),
            ]
        );
    }

    #[test]
    fn outer_shapes_that_are_wrong() {
        for (list, wrong) in [
            ("", vec![Some(EventErrorKind::Empty)]),
            ("a,,b", vec![None, Some(EventErrorKind::Empty), None]),
            ("a,", vec![None, Some(EventErrorKind::Empty)]),
            ("{a,b}", vec![Some(EventErrorKind::Group), None]),
            ("a,cpu/x=1,b", vec![None, Some(EventErrorKind::Unclosed)]),
        ] {
            let found: Vec<_> = split(list).into_iter().map(|(_, wrong)| wrong).collect();
            assert_eq!(found, wrong, "{list}");
        }
    }
}
