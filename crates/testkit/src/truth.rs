//! The line `truth KEY=VALUE …` in which a workload says what it did.

use std::collections::BTreeMap;
use std::str::FromStr;

/// What a workload says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    values: BTreeMap<String, String>,
}

impl Truth {
    /// The truth in a program's standard output.
    ///
    /// # Panics
    /// If there is not exactly one line of it.
    pub fn from_output(stdout: &[u8]) -> Self {
        let text = String::from_utf8_lossy(stdout);
        let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("truth ")).collect();
        let [line] = lines[..] else { panic!("{} lines of truth, not one, in:\n{text}", lines.len()) };
        let pairs = line.split_whitespace().filter_map(|pair| pair.split_once('='));
        Self { values: pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect() }
    }

    /// The value of `key` as it was printed.
    ///
    /// # Panics
    /// If there is none.
    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).unwrap_or_else(|| panic!("no `{key}` in {:?}", self.values))
    }

    /// The value of `key` as a number.
    ///
    /// # Panics
    /// If there is none, or it is no such number.
    pub fn number<T: FromStr>(&self, key: &str) -> T {
        parse(key, self.text(key))
    }

    /// The values of `key`, which are separated by commas.
    ///
    /// # Panics
    /// If there are none, or one is no such number.
    pub fn numbers<T: FromStr>(&self, key: &str) -> Vec<T> {
        self.text(key).split(',').map(|text| parse(key, text)).collect()
    }

    /// The numbers of `key` as shares of their sum, in percent.
    ///
    /// # Panics
    /// As [`Self::numbers`] does.
    pub fn percent(&self, key: &str) -> Vec<f64> {
        let numbers: Vec<f64> = self.numbers(key);
        let sum: f64 = numbers.iter().sum();
        numbers.into_iter().map(|number| 100.0 * number / sum).collect()
    }
}

fn parse<T: FromStr>(key: &str, text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("`{key}` is `{text}`, which is not a number of the wanted kind"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_by_key() {
        let truth = Truth::from_output(b"some output\ntruth kind=mixed cpu_ns=6,3,1 ratio=0.5\nmore\n");
        assert_eq!(truth.text("kind"), "mixed");
        assert_eq!(truth.numbers::<u64>("cpu_ns"), [6, 3, 1]);
        assert_eq!(truth.percent("cpu_ns"), [60.0, 30.0, 10.0]);
        assert_eq!(truth.number::<f64>("ratio"), 0.5);
    }

    #[test]
    #[should_panic(expected = "0 lines of truth")]
    fn silence_is_not_truth() {
        Truth::from_output(b"nothing here\n");
    }
}
