//! Names that someone may have meant.

use std::collections::BTreeSet;

/// How many are worth showing.
const SHOWN: usize = 5;

/// The names most like `wanted`: few letters apart, or with `wanted` inside; the nearest first.
pub(super) fn nearest(wanted: &str, names: impl IntoIterator<Item = String>) -> Vec<String> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    let near = (wanted.len() / 3).max(1);
    let text: String = wanted.iter().collect();
    let mut ranked = BTreeSet::new();
    for name in names {
        let lower = name.to_lowercase();
        let letters: Vec<char> = lower.chars().collect();
        if letters.len().abs_diff(wanted.len()) <= near {
            let distance = distance(&wanted, &letters);
            if distance <= near {
                ranked.insert((distance, letters.len(), name));
                continue;
            }
        }
        if wanted.len() >= 3 && lower.contains(&text) {
            ranked.insert((near + 1, letters.len(), name));
        }
    }
    ranked.into_iter().take(SHOWN).map(|(_, _, name)| name).collect()
}

/// How many letters have to be changed, added, left out, or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("cycles", "cycles", 0),
            ("cylces", "cycles", 1),
            ("cycle", "cycles", 1),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
        ] {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&letters(a), &letters(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn few_letters_apart_comes_before_contained() {
        let names = ["sched:sched_switch", "context-switches", "switcher", "cycles"].map(String::from);
        assert_eq!(nearest("switch", names), ["switcher", "context-switches", "sched:sched_switch"]);
    }
}
