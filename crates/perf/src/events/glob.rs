//! Shell patterns as tracepoint names take them: `*` for any text, `?` for one character.

/// Whether `text` holds a character that makes it a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Whether the whole of `text` is what `pattern` describes.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut seen) = (0, 0);
    // Where to go on when what follows the latest `*` does not match: there it takes one more.
    let mut retry: Option<(usize, usize)> = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, seen));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[seen] => {
                at += 1;
                seen += 1;
            }
            _ => match &mut retry {
                Some((after_star, from)) => {
                    *from += 1;
                    (at, seen) = (*after_star, *from);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_take_any_text() {
        for (pattern, text, expected) in [
            ("sched_*", "sched_switch", true),
            ("sched_*", "sched_", true),
            ("*_switch", "sched_switch", true),
            ("s*_*h", "sched_process_switch", true),
            ("s*x*h", "sched_switch", false),
            ("sched_?witch", "sched_switch", true),
            ("sched_?", "sched_", false),
            ("*", "", true),
            ("", "x", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
