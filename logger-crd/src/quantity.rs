//! Quantities: amounts with a suffix such as `500m` or `1.5Gi`, exact to a billionth.
//!
//! From `k8s.io/apimachinery/pkg/api/resource` of Kubernetes 1.36.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// So many digits of a fraction count, whatever the suffix.
const LONGEST_FRACTION: usize = 15;
/// Billionths: the least amount there is.
const NANO: i128 = 1_000_000_000;

/// No amount with a binary suffix is larger: what was meant to be is this.
const LARGEST_BINARY: i128 = (i64::MAX as i128) * NANO;

/// Suffixes and the powers of two they stand for.
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
/// Suffixes and the powers of ten they stand for.
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// An amount.
///
/// It promises:
/// - Equal amounts are equal, however they are written.
/// - It is written as the real server writes it: without a fraction, with the largest suffix that leaves none.
/// - What is finer than a billionth is rounded away from zero. With a binary suffix there is a largest amount, as on the real server;
///   without one, what is larger than any that can be held is the largest that can.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
    scale: Option<i32>,
}

/// How an amount was written, and is written again.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Binary,
    Decimal,
    Exponent,
}

/// What a suffix stands for.
#[derive(Clone, Copy)]
struct Suffix {
    format: Format,
    /// A power of two.
    bits: u32,
    /// A power of ten.
    exponent: i32,
}

impl Suffix {
    fn parse(text: &str) -> Option<Self> {
        if let Some((_, bits)) = BINARY.iter().find(|(name, _)| *name == text) {
            return Some(Suffix { format: Format::Binary, bits: *bits, exponent: 0 });
        }
        if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == text) {
            return Some(Suffix { format: Format::Decimal, bits: 0, exponent: *exponent });
        }
        let exponent: i32 = text.strip_prefix(['e', 'E'])?.parse().ok()?;
        Some(Suffix { format: Format::Exponent, bits: 0, exponent: exponent.clamp(-1000, 1000) })
    }
}

impl Quantity {
    /// Reads a text; `None` if it is no quantity.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + fraction.len() == 0 || fraction.contains('.') {
            return None;
        }
        let suffix = Suffix::parse(suffix)?;
        let (mantissa, exponent) = mantissa(whole, fraction)?;
        let nanos = times_ten_to(mantissa.saturating_mul(1 << suffix.bits), suffix.exponent + 9 + exponent);
        let nanos = if suffix.format == Format::Binary { nanos.min(LARGEST_BINARY) } else { nanos };
        let scale = counted_in(whole.trim_start_matches('0').len().max(1), fraction.len(), suffix);
        Some(Quantity { nanos: if negative { -nanos } else { nanos }, format: suffix.format, scale })
    }

    /// Reads a number, or a text; `None` if it is no quantity.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// A whole number.
    pub(crate) fn whole(number: i64) -> Self {
        Quantity { nanos: i128::from(number) * NANO, format: Format::Decimal, scale: Some(0) }
    }

    /// It is no larger than what can be held, so it is written as what it is.
    pub fn is_exact(self) -> bool {
        self.nanos.unsigned_abs() < i128::MAX.unsigned_abs()
    }

    /// In billionths.
    pub fn nanos(self) -> i128 {
        self.nanos
    }

    /// As a float, which may not hold all of it.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn approximately(self) -> f64 {
        self.nanos as f64 / NANO as f64
    }

    /// The number, if it is an integer to the server: one that it counts in whole numbers.
    pub(crate) fn integer(self) -> Option<i64> {
        self.scale.filter(|scale| *scale >= 0)?;
        i64::try_from(self.nanos / NANO).ok().filter(|_| self.nanos % NANO == 0)
    }

    /// The sum with another, or with its negative.
    pub(crate) fn plus(self, other: Quantity, sign: i128) -> Self {
        let scale = self.scale.zip(other.scale).map(|(one, two)| one.min(two));
        Quantity { nanos: self.nanos.saturating_add(other.nanos.saturating_mul(sign)), scale, ..self }
    }
}

/// The digits of a number as a whole one, and the power of ten it is to be multiplied by. Of a fraction longer than any that counts,
/// only whether there is more is kept: it is rounded away from zero in any case.
fn mantissa(whole: &str, fraction: &str) -> Option<(i128, i32)> {
    let fraction = fraction.trim_end_matches('0');
    let (counted, rest) = fraction.split_at(fraction.len().min(LONGEST_FRACTION));
    let more = if rest.is_empty() { "" } else { "1" };
    let digits = format!("{whole}{counted}{more}");
    let digits = digits.trim_start_matches('0');
    let mantissa = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(i128::MAX) };
    Some((mantissa, -i32::try_from(counted.len() + more.len()).ok()?))
}

/// Rounded away from zero, as far as a number goes; of what is not negative.
fn times_ten_to(number: i128, exponent: i32) -> i128 {
    let power = 10_i128.checked_pow(exponent.unsigned_abs());
    match power {
        _ if number == 0 => 0,
        Some(power) if exponent >= 0 => number.saturating_mul(power),
        Some(power) => number / power + i128::from(number % power != 0),
        None if exponent >= 0 => i128::MAX,
        None => 1,
    }
}

/// The power of ten the server counts in, by the number of digits before and after the point: it has a fast way for numbers of
/// up to 18 digits, and for whole binary multiples of up to 15. `None` if it holds the number with arbitrary precision.
fn counted_in(whole: usize, fraction: usize, suffix: Suffix) -> Option<i32> {
    let digits = i32::try_from(whole + fraction).ok()?;
    let spare = match suffix.format {
        Format::Binary if fraction == 0 => 15 - digits - i32::try_from(suffix.bits).ok()? * 3 / 10 - 1,
        Format::Binary => -1,
        Format::Decimal | Format::Exponent => 18 - digits,
    };
    let scale = suffix.exponent - i32::try_from(fraction).ok()?;
    (spare >= 0 && scale >= -9).then_some(scale)
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.nanos.partial_cmp(&other.nanos)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        // What is less than a unit of a binary suffix is written in the decimal way, as Go does.
        let whole = self.nanos / NANO;
        if self.format == Format::Binary && self.nanos % NANO == 0 && whole.abs() >= 1024 {
            let (suffix, bits) = BINARY.iter().rev().find(|(_, bits)| whole % (1 << bits) == 0).unwrap_or(&("", 0));
            return write!(f, "{}{suffix}", whole >> bits);
        }
        let fits = |(_, exponent): &&(&str, i32)| self.nanos % times_ten_to(1, exponent + 9) == 0;
        let (suffix, exponent) = DECIMAL.iter().rev().find(fits).unwrap_or(&DECIMAL[0]);
        let count = self.nanos / times_ten_to(1, exponent + 9);
        match self.format {
            Format::Exponent if *exponent != 0 => write!(f, "{count}e{exponent}"),
            _ => write!(f, "{count}{suffix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_amounts_are_equal_however_they_are_written() {
        for (one, two) in [("1Gi", "1024Mi"), ("1", "1e0"), ("100m", "0.1"), ("1.5Gi", "1610612736"), ("-1e3", "-1k")] {
            assert_eq!(Quantity::parse(one).unwrap(), Quantity::parse(two).unwrap(), "{one} {two}");
        }
        assert!(Quantity::parse("1G") < Quantity::parse("1Gi"));
        assert_eq!(Quantity::of(&Value::from(2)), Quantity::parse("2"));
    }

    #[test]
    fn it_is_written_as_the_real_server_writes_it() {
        let cases = [
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1e3", "1e3"),
            ("1.0", "1"),
            ("0100", "100"),
            ("1000", "1k"),
            ("-1500m", "-1500m"),
            ("0Gi", "0"),
            ("512", "512"),
            ("1.25", "1250m"),
        ];
        for (text, expected) in cases {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_finer_than_a_billionth_is_rounded_away_from_zero() {
        assert_eq!(Quantity::parse("0.1n").map(Quantity::nanos), Some(1));
        assert_eq!(Quantity::parse("-0.1n").map(Quantity::nanos), Some(-1));
        assert_eq!(Quantity::parse("1e-900").map(Quantity::nanos), Some(1));
    }

    #[test]
    fn what_is_larger_than_any_is_the_largest() {
        for text in ["1e99", "99999999999999999999999999999999999999999"] {
            let quantity = Quantity::parse(text).unwrap();
            assert!(quantity.nanos() == i128::MAX && !quantity.is_exact(), "{text}");
        }
        assert_eq!(Quantity::parse("9999999999Ei").unwrap().to_string(), "9223372036854775807");
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        for text in ["", ".", "x", "1x", "1.1.1", "1ee", "1e", "--1", "1ki", "Gi", "1 G"] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
    }
}
