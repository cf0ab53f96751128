//! Spans of time as people write them.

use std::time::Duration;

/// Reads `10`, `1.5`, `10s`, `500ms`, `2m`, `1h`; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("`{unit}` is no unit of time; there are us, ms, s, m, h")),
    };
    let number: f64 = digits.parse().map_err(|_| format!("`{digits}` is no number"))?;
    let duration = Duration::try_from_secs_f64(number * scale).map_err(|_| format!("`{text}` is out of range"))?;
    // Times are added to it; a century is long enough for any recording.
    if duration > Duration::from_secs(100 * 366 * 86_400) {
        Err(format!("`{text}` is out of range"))
    } else {
        Ok(duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_unless_a_unit_is_said() {
        let ok = [("10", 10_000), ("1.5", 1500), ("250ms", 250), ("2m", 120_000), ("1h", 3_600_000), ("0", 0)];
        for (text, ms) in ok {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for bad in ["", "x", "10 s", "-1", "5parsecs", "nan", "inf", "1e300", "ms"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
