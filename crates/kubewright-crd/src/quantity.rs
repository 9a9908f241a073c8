//! Quantities: fixed-point numbers with a suffix such as `500m` or `1.5Gi`, with nano precision.
//!
//! After `k8s.io/apimachinery/pkg/api/resource` of Kubernetes 1.36.

use std::{cmp::Ordering, fmt};

use serde_json::Value;

/// The number of fraction digits that are significant, for any suffix.
const MAX_FRACTION_DIGITS: usize = 15;
/// The smallest quantity is one nano.
const NANO: i128 = 1_000_000_000;

/// Larger quantities with a binary suffix are capped to this one.
const MAX_BINARY: i128 = (i64::MAX as i128) * NANO;

/// Binary suffixes and their powers of two.
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
/// Decimal suffixes and their powers of ten.
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// A quantity.
///
/// Guarantees:
/// - Quantities with equal values are equal, regardless of their suffix.
/// - `Display` returns the canonical form of the API server: no fraction, and the largest suffix that needs none.
/// - A value with more than nano precision is rounded away from zero. A value with a binary suffix is capped as on the
///   API server, any other at the largest value of the type.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
    scale: Option<i32>,
}

/// The suffix family of a quantity, preserved by `Display`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Binary,
    Decimal,
    Exponent,
}

/// A parsed suffix.
#[derive(Clone, Copy)]
struct Suffix {
    format: Format,
    /// The power of two.
    bits: u32,
    /// The power of ten.
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
    /// Parses a string. Returns `None` if it is not a quantity.
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
        let nanos = if suffix.format == Format::Binary { nanos.min(MAX_BINARY) } else { nanos };
        let scale = int64_scale(whole.trim_start_matches('0').len().max(1), fraction.len(), suffix);
        Some(Quantity { nanos: if negative { -nanos } else { nanos }, format: suffix.format, scale })
    }

    /// Parses a JSON number or string. Returns `None` if it is not a quantity.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// Returns the quantity of an integer.
    pub fn from_integer(number: i64) -> Self {
        Quantity { nanos: i128::from(number) * NANO, format: Format::Decimal, scale: Some(0) }
    }

    /// Whether the value was not capped at the largest value of the type.
    pub fn is_exact(self) -> bool {
        self.nanos.unsigned_abs() < i128::MAX.unsigned_abs()
    }

    /// Returns the value in nanos.
    pub fn nanos(self) -> i128 {
        self.nanos
    }

    /// Returns the nearest float.
    pub(crate) fn as_approximate_float(self) -> f64 {
        self.nanos as f64 / NANO as f64
    }

    /// Returns the value if the server stores it as an `int64` with a scale of at least zero.
    pub(crate) fn as_integer(self) -> Option<i64> {
        self.scale.filter(|scale| *scale >= 0)?;
        i64::try_from(self.nanos / NANO).ok().filter(|_| self.nanos % NANO == 0)
    }

    /// Returns the sum. The sum of zero and a quantity has the suffix family of the quantity, as on the API server.
    pub fn plus(self, other: Quantity) -> Self {
        Quantity { format: self.family_with(other), ..self.add(other, 1) }
    }

    /// Returns the difference, with the suffix family of [`plus`](Self::plus).
    pub fn minus(self, other: Quantity) -> Self {
        Quantity { format: self.family_with(other), ..self.add(other, -1) }
    }

    fn family_with(self, other: Quantity) -> Format {
        if self.nanos == 0 { other.format } else { self.format }
    }

    /// Adds `sign * other`.
    pub(crate) fn add(self, other: Quantity, sign: i128) -> Self {
        let scale = self.scale.zip(other.scale).map(|(left, right)| left.min(right));
        Quantity { nanos: self.nanos.saturating_add(other.nanos.saturating_mul(sign)), scale, ..self }
    }
}

/// Returns the digits as an integer, and its exponent. Digits beyond the significant ones are reduced to a single `1`
/// if any of them is not zero, because they are only needed for rounding away from zero.
fn mantissa(whole: &str, fraction: &str) -> Option<(i128, i32)> {
    let fraction = fraction.trim_end_matches('0');
    let (significant, rest) = fraction.split_at(fraction.len().min(MAX_FRACTION_DIGITS));
    let more = if rest.is_empty() { "" } else { "1" };
    let digits = format!("{whole}{significant}{more}");
    let digits = digits.trim_start_matches('0');
    let mantissa = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(i128::MAX) };
    Some((mantissa, -i32::try_from(significant.len() + more.len()).ok()?))
}

/// Multiplies a number that is not negative with a power of ten, rounded away from zero and saturating.
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

/// Returns the scale of the server's `int64Amount`, by the number of digits before and after the point: it has at most
/// 18 digits, and at most 15 if the suffix is binary. `None` if the server uses arbitrary precision (`infDecAmount`).
fn int64_scale(whole: usize, fraction: usize, suffix: Suffix) -> Option<i32> {
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
        // Go formats binary quantities below 1024 as decimal ones.
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
    fn equality_ignores_suffixes() {
        for (left, right) in
            [("1Gi", "1024Mi"), ("1", "1e0"), ("100m", "0.1"), ("1.5Gi", "1610612736"), ("-1e3", "-1k")]
        {
            assert_eq!(Quantity::parse(left).unwrap(), Quantity::parse(right).unwrap(), "{left} {right}");
        }
        assert!(Quantity::parse("1G") < Quantity::parse("1Gi"));
        assert_eq!(Quantity::from_json(&Value::from(2)), Quantity::parse("2"));
    }

    #[test]
    fn display_is_canonical() {
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
    fn sums_have_the_suffix_family_of_the_first_quantity_that_is_not_zero() {
        let quantity = |text: &str| Quantity::parse(text).unwrap();
        for (left, right, sum) in
            [("1Gi", "1Gi", "2Gi"), ("0", "1Gi", "1Gi"), ("500m", "1", "1500m"), ("1Gi", "24", "1073741848")]
        {
            assert_eq!(quantity(left).plus(quantity(right)).to_string(), sum, "{left} {right}");
            assert_eq!(quantity(sum).minus(quantity(right)), quantity(left), "{left} {right}");
        }
    }

    #[test]
    fn more_than_nano_precision_is_rounded_away_from_zero() {
        assert_eq!(Quantity::parse("0.1n").map(Quantity::nanos), Some(1));
        assert_eq!(Quantity::parse("-0.1n").map(Quantity::nanos), Some(-1));
        assert_eq!(Quantity::parse("1e-900").map(Quantity::nanos), Some(1));
    }

    #[test]
    fn large_values_are_capped() {
        for text in ["1e99", "99999999999999999999999999999999999999999"] {
            let quantity = Quantity::parse(text).unwrap();
            assert!(quantity.nanos() == i128::MAX && !quantity.is_exact(), "{text}");
        }
        assert_eq!(Quantity::parse("9999999999Ei").unwrap().to_string(), "9223372036854775807");
    }

    #[test]
    fn invalid_quantities_are_none() {
        for text in ["", ".", "x", "1x", "1.1.1", "1ee", "1e", "--1", "1ki", "Gi", "1 G"] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
    }
}
