//! Numbers as text: weights with their unit, counts with thousands separators, shares. Weights
//! are integers of up to 128 bits with a decimal scale; all but bytes stay integers to the end.

use model::id::Id;
use model::{EventDescription, EventId, Profile, Unit};
use std::time::Duration;

/// How the weights of an event read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measure {
    /// The event's name.
    pub event: String,
    /// What a weight counts.
    pub unit: Unit,
    /// Weights are in units of 10^-`scale` of [`Self::unit`].
    pub scale: u8,
}

impl Measure {
    /// How the weights of a profile's event read.
    pub fn of(profile: &Profile, event: EventId) -> Self {
        let EventDescription { name, unit, .. } =
            profile.events.get(event.index()).cloned().unwrap_or_else(EventDescription::plain_samples);
        Self { event: name, unit, scale: profile.weight_scale }
    }

    /// A weight with its unit: `1.234 s`, `12 samples`, `1,048,576 cycles`, `3.5 MiB`. Times and
    /// bytes are rounded to four digits, all else is exact.
    pub fn text(&self, weight: u128) -> String {
        match self.unit {
            Unit::Nanoseconds => time_text(weight, self.scale),
            Unit::Bytes => bytes_text(weight, self.scale),
            Unit::Samples => self.exact_text(weight, if weight == self.one() { "sample" } else { "samples" }),
            Unit::Occurrences => self.exact_text(weight, &self.event),
        }
    }

    /// Whether a weight says the same as a count of samples.
    pub fn is_count(&self, weight: u128, count: u64) -> bool {
        self.unit == Unit::Samples && weight.checked_div(self.one()) == Some(u128::from(count))
    }

    /// A column of weights, the largest of which is `largest`.
    pub fn column(&self, largest: u128) -> WeightColumn {
        let scale = u32::from(self.scale);
        match self.unit {
            Unit::Nanoseconds => {
                let (label, exponent) = time_unit(largest, scale);
                WeightColumn { label: label.into(), divisor: exponent + scale, decimals: exponent.min(3) }
            }
            Unit::Bytes => WeightColumn { label: "bytes".into(), divisor: scale, decimals: scale },
            Unit::Samples => WeightColumn { label: "samples".into(), divisor: scale, decimals: scale },
            Unit::Occurrences => WeightColumn { label: self.event.clone(), divisor: scale, decimals: scale },
        }
    }

    fn one(&self) -> u128 {
        10u128.pow(self.scale.into())
    }

    fn exact_text(&self, weight: u128, noun: &str) -> String {
        let scale = u32::from(self.scale);
        format!("{} {noun}", trimmed(decimal(weight, scale, scale)))
    }
}

/// How all weights of a column are written, so that they can be compared at a glance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightColumn {
    /// The unit, for the column's header.
    pub label: String,
    divisor: u32,
    decimals: u32,
}

impl WeightColumn {
    /// A weight without its unit.
    pub fn text(&self, weight: u128) -> String {
        decimal(weight, self.divisor, self.decimals)
    }
}

/// A number with a comma between groups of three digits.
pub fn thousands(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share with two decimals: `12.34 %`. What is there but rounds to nothing is `<0.01 %`.
pub fn percent(part: u128, whole: u128) -> String {
    if whole == 0 {
        return "0.00 %".into();
    }
    let share = part as f64 * 100.0 / whole as f64;
    if part > 0 && share < 0.005 { "<0.01 %".into() } else { format!("{share:.2} %") }
}

/// A share with one decimal, for running text: `1.8 %`. Neither a little nor almost everything
/// is rounded away: `<0.1 %`, `>99.9 %`.
pub fn percent_in_words(part: u128, whole: u128) -> String {
    if whole == 0 {
        return "0 %".into();
    }
    let share = part as f64 * 100.0 / whole as f64;
    match (part, share) {
        (0, _) => "0 %".into(),
        _ if part == whole => "100 %".into(),
        (_, share) if share < 0.05 => "<0.1 %".into(),
        (_, share) if share >= 99.95 && part < whole => ">99.9 %".into(),
        (_, share) => format!("{share:.1} %"),
    }
}

/// A span of time, rounded to four digits: `1.234 s`, `20 ms`.
pub fn duration(span: Duration) -> String {
    time_text(span.as_nanos(), 0)
}

const TIME_UNITS: [(&str, u32); 4] = [("s", 9), ("ms", 6), ("µs", 3), ("ns", 0)];

/// The largest unit of which `nanoseconds` (times 10^`scale`) makes at least one.
fn time_unit(nanoseconds: u128, scale: u32) -> (&'static str, u32) {
    let fits = |&&(_, exponent): &&(&str, u32)| nanoseconds >= 10u128.pow(exponent + scale);
    *TIME_UNITS.iter().find(fits).unwrap_or(&TIME_UNITS[3])
}

fn time_text(nanoseconds: u128, scale: u8) -> String {
    let scale = u32::from(scale);
    let (_, first) = time_unit(nanoseconds, scale);
    // 999.96 ms rounds to 1000 ms, which is then written in the next unit.
    let (label, exponent) = time_unit(rounded_to_digits(nanoseconds, first + scale), scale);
    let places = exponent + scale;
    let rounded = rounded_to_digits(nanoseconds, places);
    let whole_digits = digits(rounded / 10u128.pow(places));
    let decimals = 4u32.saturating_sub(whole_digits).min(places);
    format!("{} {label}", trimmed(decimal(rounded, places, decimals)))
}

/// `value` with all but four significant digits of it rounded away, though never whole units
/// of 10^`places`.
fn rounded_to_digits(value: u128, places: u32) -> u128 {
    let drop = digits(value).saturating_sub(4).min(places);
    divide_rounded(value, drop).saturating_mul(10u128.pow(drop))
}

fn bytes_text(weight: u128, scale: u8) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let scale = u32::from(scale);
    let one = 10u128.pow(scale);
    if weight < one * 1024 {
        let noun = if weight == one { "byte" } else { "bytes" };
        return format!("{} {noun}", trimmed(decimal(weight, scale, scale)));
    }
    let mut value = weight as f64 / one as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = if value < 9.9995 {
        3
    } else if value < 99.995 {
        2
    } else if value < 999.95 {
        1
    } else {
        0
    };
    format!("{} {}", trimmed(format!("{value:.decimals$}")), UNITS[unit])
}

/// `value` × 10^-`places` with so many decimals, rounded half up.
fn decimal(value: u128, places: u32, decimals: u32) -> String {
    let rounded = divide_rounded(value, places.saturating_sub(decimals));
    let decimals = decimals.min(places);
    let one = 10u128.pow(decimals);
    let whole = thousands(rounded / one);
    match decimals {
        0 => whole,
        _ => format!("{whole}.{:0width$}", rounded % one, width = decimals as usize),
    }
}

fn divide_rounded(value: u128, places: u32) -> u128 {
    let divisor = 10u128.pow(places);
    value / divisor + u128::from(value % divisor >= divisor.div_ceil(2) && divisor > 1)
}

fn digits(value: u128) -> u32 {
    value.checked_ilog10().map_or(1, |log| log + 1)
}

/// Without the zeros at the end of a fraction.
fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(unit: Unit, scale: u8) -> Measure {
        Measure { event: "cycles".into(), unit, scale }
    }

    #[test]
    fn times_have_four_digits_and_the_unit_that_suits() {
        let ns = measure(Unit::Nanoseconds, 0);
        let cases: [(u128, &str); 14] = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1 µs"),
            (12_345, "12.35 µs"),
            (999_949, "999.9 µs"),
            (999_960, "1 ms"),
            (10_101_010, "10.1 ms"),
            (999_960_000, "1 s"),
            (1_234_567_890, "1.235 s"),
            (9_999_600_000, "10 s"),
            (59_987_000_000, "59.99 s"),
            (1_234_567_000_000, "1,235 s"),
            (123_456_789_000_000_000, "123,456,789 s"),
            (u128::MAX, "340,282,366,920,938,463,463,374,607,432 s"),
        ];
        for (weight, text) in cases {
            assert_eq!(ns.text(weight), text);
        }
        assert_eq!(measure(Unit::Nanoseconds, 3).text(1_234_567_890), "1.235 ms");
        assert_eq!(measure(Unit::Nanoseconds, 3).text(1_500), "1.5 ns");
    }

    #[test]
    fn counts_are_exact() {
        let samples = measure(Unit::Samples, 0);
        assert_eq!(samples.text(1), "1 sample");
        assert_eq!(samples.text(36_893_488_147_419_103_229), "36,893,488,147,419,103,229 samples");
        assert_eq!(measure(Unit::Samples, 1).text(10_000_104), "1,000,010.4 samples");
        assert_eq!(measure(Unit::Samples, 1).text(10), "1 sample");
        assert_eq!(measure(Unit::Occurrences, 0).text(1_048_576), "1,048,576 cycles");
        assert!(samples.is_count(7, 7) && !samples.is_count(7, 6));
        assert!(!measure(Unit::Occurrences, 0).is_count(7, 7));
    }

    #[test]
    fn bytes_go_by_1024() {
        let bytes = measure(Unit::Bytes, 0);
        assert_eq!(bytes.text(1), "1 byte");
        assert_eq!(bytes.text(1023), "1,023 bytes");
        assert_eq!(bytes.text(1024), "1 KiB");
        assert_eq!(bytes.text(3_670_016), "3.5 MiB");
        assert_eq!(bytes.text(1_048_575), "1 MiB");
    }

    #[test]
    fn shares_round_but_do_not_vanish() {
        assert_eq!(percent(1, 3), "33.33 %");
        assert_eq!(percent(1, 1_000_000), "<0.01 %");
        assert_eq!(percent(0, 0), "0.00 %");
        assert_eq!(percent(u128::MAX, u128::MAX), "100.00 %");
        assert_eq!(percent_in_words(9_999, 10_000), ">99.9 %");
        assert_eq!(percent_in_words(1, 10_000), "<0.1 %");
        assert_eq!(percent_in_words(982, 1_000), "98.2 %");
    }

    #[test]
    fn a_column_has_one_unit() {
        let column = measure(Unit::Nanoseconds, 0).column(2_500_000_000);
        assert_eq!(
            (column.label.as_str(), column.text(2_500_000_000), column.text(1_000_000)),
            ("s", "2.500".into(), "0.001".into())
        );
        let column = measure(Unit::Samples, 1).column(104);
        assert_eq!(column.text(104), "10.4");
    }
}
