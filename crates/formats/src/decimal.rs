//! Decimal numbers of the input, kept exactly: `7`, `0.4`, `1e6`, `.5`. A double would lose the
//! last digits of a count beyond 2^53 and of most fractions.

/// A number: `digits` × 10^`exponent`, with no more digits than it needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decimal {
    digits: u128,
    exponent: i32,
}

/// Why a text is no number that can be kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotDecimal {
    /// It is no number.
    NoNumber,
    /// It is a number below zero.
    Negative,
    /// It has more digits than 128 bits hold.
    TooLong,
}

impl Decimal {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, NotDecimal> {
        match text.split_first() {
            Some((b'-', rest)) => Self::parse_unsigned(rest).and(Err(NotDecimal::Negative)),
            _ => Self::parse_unsigned(text),
        }
    }

    fn parse_unsigned(text: &[u8]) -> Result<Self, NotDecimal> {
        let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
        let (whole, fraction) = (&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default());
        let digits = || whole.iter().chain(fraction);
        if digits().next().is_none() || !digits().all(u8::is_ascii_digit) {
            return Err(NotDecimal::NoNumber);
        }
        let mut number = Self { digits: 0, exponent };
        // Zeros wait: those at the end are never multiplied in, however many there are.
        let mut zeros = 0u32;
        let mut read = 0usize;
        for (index, &digit) in (1..).zip(digits()) {
            zeros += 1;
            if digit == b'0' {
                continue;
            }
            let raised = 10u128.checked_pow(if number.digits == 0 { 0 } else { zeros });
            let next = raised.and_then(|raised| number.digits.checked_mul(raised)?.checked_add((digit - b'0').into()));
            number.digits = next.ok_or(NotDecimal::TooLong)?;
            (zeros, read) = (0, index);
        }
        if number.digits == 0 {
            return Ok(Self { digits: 0, exponent: 0 });
        }
        let places = whole.len() as i64 - read as i64;
        let exponent = i64::from(exponent) + places;
        number.exponent = exponent.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        Ok(number)
    }

    /// The decimals that the number needs.
    pub(crate) fn places(self) -> u32 {
        if self.exponent < 0 { self.exponent.unsigned_abs() } else { 0 }
    }

    /// The number in units of 10^-`scale`; `None` where it is no whole number of them or takes
    /// more than 64 bits.
    pub(crate) fn scaled(self, scale: u8) -> Option<u64> {
        let power = u32::try_from(self.exponent.checked_add(scale.into())?).ok()?;
        let value = if self.digits == 0 { 0 } else { self.digits.checked_mul(10u128.checked_pow(power)?)? };
        u64::try_from(value).ok()
    }
}

fn parse_exponent(text: &[u8]) -> Result<i32, NotDecimal> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NotDecimal::NoNumber);
    }
    let value = digits.iter().fold(0i32, |value, digit| value.saturating_mul(10).saturating_add((digit - b'0').into()));
    Ok(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> (u128, i32) {
        let number = Decimal::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        (number.digits, number.exponent)
    }

    #[test]
    fn numbers_are_kept_exactly() {
        for (text, digits, exponent) in [
            ("0", 0, 0),
            ("0.000", 0, 0),
            ("0e99", 0, 0),
            ("7", 7, 0),
            ("007", 7, 0),
            ("100", 1, 2),
            ("1e6", 1, 6),
            ("1E+6", 1, 6),
            ("1.5e3", 15, 2),
            ("0.4", 4, -1),
            (".5", 5, -1),
            ("5.", 5, 0),
            ("10.40", 104, -1),
            ("0.00120", 12, -4),
            ("1e-3", 1, -3),
            ("18446744073709551615", 18446744073709551615, 0),
            ("1e99999999999", 1, i32::MAX),
        ] {
            assert_eq!(number(text), (digits, exponent), "{text}");
        }
        assert_eq!(number(&format!("1{}", "0".repeat(300))), (1, 300));
        assert_eq!(number(&format!("0.{}1", "0".repeat(300))), (1, -301));
    }

    #[test]
    fn what_is_no_number_is_told_from_what_is_below_zero() {
        for text in
            ["", ".", "e5", "1e", "1e+", "1.2.3", "+5", "0x10", "1,000", "nan", "inf", "-", "--5", "1e5e5", "five"]
        {
            assert_eq!(Decimal::parse(text.as_bytes()), Err(NotDecimal::NoNumber), "{text}");
        }
        assert_eq!(Decimal::parse(b"-50"), Err(NotDecimal::Negative));
        assert_eq!(Decimal::parse("123456789".repeat(6).as_bytes()), Err(NotDecimal::TooLong));
    }

    #[test]
    fn scaling_is_exact_or_refused() {
        let scaled = |text: &str, scale| Decimal::parse(text.as_bytes()).unwrap().scaled(scale);
        assert_eq!(scaled("0.4", 0), None);
        assert_eq!(scaled("0.4", 1), Some(4));
        assert_eq!(scaled("1e6", 1), Some(10_000_000));
        assert_eq!(scaled("18446744073709551615", 0), Some(u64::MAX));
        assert_eq!(scaled("18446744073709551616", 0), None);
        assert_eq!(scaled("18446744073709551615", 1), None);
        assert_eq!(scaled("1e400", 0), None);
        assert_eq!(scaled("0", 9), Some(0));
    }
}
