//! Compares text with a file that was looked at and found good. `UPDATE_GOLDEN=1 cargo test …`
//! rewrites the files; what has changed is then to be read in the diff.

use std::path::Path;

/// Checks that `actual` is what the file at `path` holds, or rewrites the file if the environment
/// variable `UPDATE_GOLDEN` is set.
///
/// # Panics
/// If they differ, with the first line that does.
#[track_caller]
pub fn compare(path: impl AsRef<Path>, actual: &str) {
    let path = path.as_ref();
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| !value.is_empty()) {
        let folder = path.parent().expect("a golden file lies in a folder");
        std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("creating `{}`: {error}", folder.display()));
        std::fs::write(path, actual).unwrap_or_else(|error| panic!("writing `{}`: {error}", path.display()));
        return;
    }
    let expected = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("reading `{}`: {error}; UPDATE_GOLDEN=1 makes it", path.display()));
    if let Some(difference) = difference(&expected, actual) {
        panic!("`{}` is not what came out (UPDATE_GOLDEN=1 takes it over):\n{difference}", path.display());
    }
}

/// The first difference, both sides; `None` where there is none.
fn difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let (mut left, mut right) = (expected.split_inclusive('\n'), actual.split_inclusive('\n'));
    for line in 1.. {
        let (expected, actual) = (left.next(), right.next());
        if expected != actual {
            let show = |side: Option<&str>| side.map_or("(the text has ended)".into(), |line| format!("{line:?}"));
            return Some(format!("line {line}\n  expected {}\n  actual   {}", show(expected), show(actual)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_told() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\n").unwrap(), "line 2\n  expected \"b\\n\"\n  actual   \"c\\n\"");
        assert_eq!(difference("a\n", "a").unwrap(), "line 1\n  expected \"a\\n\"\n  actual   \"a\"");
        assert!(difference("a\n", "a\nb").unwrap().contains("expected (the text has ended)"));
    }
}
