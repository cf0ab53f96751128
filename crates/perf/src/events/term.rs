//! Terms of a pmu's event, `event=0x3c,umask=1`, and the bits that sysfs gives them.

use super::error::EventErrorKind;

/// One `key` or `key=value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Term<'a> {
    /// What stands before the `=`.
    pub key: &'a str,
    /// What stands after it, quotes removed; `None` where there is no `=`.
    pub value: Option<&'a str>,
}

impl Term<'_> {
    /// The value as a number; 1 where there is none.
    pub(super) fn number(&self) -> Result<u64, EventErrorKind> {
        let Some(value) = self.value else { return Ok(1) };
        number(value).ok_or_else(|| EventErrorKind::TermValue { term: self.key.to_owned(), value: value.to_owned() })
    }
}

/// A number, decimal or hexadecimal after `0x`.
pub(super) fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // `from_str_radix` would take a sign.
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// The terms of a list. Commas inside single quotes part nothing; empty terms are dropped, since
/// `pmu//` is a pmu's event without any.
pub(super) fn split(list: &str) -> Vec<Term<'_>> {
    let mut quoted = false;
    let parts = list.split(|letter: char| {
        quoted ^= letter == '\'';
        letter == ',' && !quoted
    });
    let terms = parts.map(str::trim).filter(|part| !part.is_empty());
    terms
        .map(|part| match part.split_once('=') {
            Some((key, value)) => Term { key: key.trim(), value: Some(value.trim().trim_matches('\'')) },
            None => Term { key: part, value: None },
        })
        .collect()
}

/// The three numbers of `struct perf_event_attr` that terms are written into.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Config(pub [u64; 3]);

/// Where a term's value goes: a file of the pmu's `format` folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Field {
    /// Which of [`Config`]'s numbers.
    word: usize,
    /// The bits there, the value's lowest first.
    bits: Vec<u32>,
}

impl Field {
    /// All 64 bits of a number.
    pub(super) fn whole(word: usize) -> Self {
        Self { word, bits: (0..64).collect() }
    }

    /// Reads a format such as `config:0-7,32-35`; otherwise says what is wrong with it.
    pub(super) fn parse(format: &str) -> Result<Self, String> {
        let format = format.trim();
        let (word, ranges) = format.split_once(':').ok_or_else(|| format!("`{format}` has no `:`"))?;
        let word = match word {
            "config" => 0,
            "config1" => 1,
            "config2" => 2,
            other => return Err(format!("its bits lie in `{other}`, which flamel does not set")),
        };
        let mut bits = Vec::new();
        for range in ranges.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
                (Ok(first), Ok(last)) if first <= last && last < 64 => bits.extend(first..=last),
                _ => return Err(format!("`{range}` is no range of bits")),
            }
        }
        Ok(Self { word, bits })
    }

    /// Writes `value` into its bits, over what stood there.
    pub(super) fn write(&self, config: &mut Config, term: &str, value: u64) -> Result<(), EventErrorKind> {
        let width = self.bits.len() as u32;
        if width < 64 && value >> width != 0 {
            return Err(EventErrorKind::TermTooLarge { term: term.to_owned(), value, bits: width });
        }
        let word = &mut config.0[self.word];
        for (from, &to) in self.bits.iter().take(64).enumerate() {
            *word = *word & !(1 << to) | (value >> from & 1) << to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_scattered_over_their_bits() {
        for (format, value, expected) in [
            ("config:0-7", 0x3c, [0x3c, 0, 0]),
            ("config:0-7,32-35", 0xa3c, [0xa_0000_003c, 0, 0]),
            ("config1:0-63", u64::MAX, [0, u64::MAX, 0]),
            ("config2:18", 1, [0, 0, 1 << 18]),
            ("config:63", 1, [1 << 63, 0, 0]),
            ("config:0-7,32-35\n", 0, [0, 0, 0]),
        ] {
            let mut config = Config::default();
            Field::parse(format).unwrap().write(&mut config, "x", value).unwrap();
            assert_eq!(config.0, expected, "{format}");
        }
    }

    #[test]
    fn a_later_value_replaces_an_earlier_one() {
        let field = Field::parse("config:4-7").unwrap();
        let mut config = Config([0xffff, 0, 0]);
        field.write(&mut config, "x", 2).unwrap();
        assert_eq!(config.0[0], 0xff2f);
        assert_eq!(
            field.write(&mut config, "x", 16),
            Err(EventErrorKind::TermTooLarge { term: "x".into(), value: 16, bits: 4 })
        );
    }

    #[test]
    fn formats_that_are_none() {
        for format in ["", "config", "config:", "config:7-0", "config:64", "config:a", "config3:0", "config:1-"] {
            assert!(Field::parse(format).is_err(), "{format}");
        }
    }

    #[test]
    fn terms_are_parted_by_commas() {
        let term = |key, value| Term { key, value };
        assert_eq!(
            split("event=0x3c, umask=1,,edge,name='a,b c'"),
            [term("event", Some("0x3c")), term("umask", Some("1")), term("edge", None), term("name", Some("a,b c"))]
        );
        assert_eq!(split(""), []);
    }

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("0", Some(0)),
            ("010", Some(10)),
            ("0x1F", Some(31)),
            ("0xffffffffffffffff", Some(u64::MAX)),
            ("0x10000000000000000", None),
            ("", None),
            ("0x", None),
            ("+1", None),
            ("-1", None),
            ("f", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }
}
