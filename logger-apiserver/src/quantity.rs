//! Quantities: amounts with a suffix, as `500m` or `1Gi`
//!
//! From `k8s.io/apimachinery/pkg/api/resource` of Kubernetes 1.36: at most nine digits after the point, the rest is rounded up.

use std::{cmp::Ordering, fmt};

use serde_json::Value;

/// Nanos: the least amount there is.
const NANOS: i128 = 1_000_000_000;

const BINARY: [(&str, u32); 7] = [("", 0), ("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// How an amount was written, and is written again.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Binary,
    Decimal,
    Exponent,
}

/// An amount.
///
/// It promises:
/// - Equal amounts are equal, however they are written.
/// - It is written as the real server writes it: without a fraction, with the largest suffix that leaves none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantity {
    nanos: i128,
    format: Format,
}

impl Quantity {
    /// Reads a number or a text; none, if it is no quantity or too large.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (sign, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
        let places = i32::try_from(fraction.len()).ok()?;
        let (format, nanos) = scaled(digits, places, suffix)?;
        Some(Self { nanos: sign * nanos, format })
    }

    pub(crate) fn is_positive(self) -> bool {
        self.nanos > 0
    }
}

/// The nanos of digits with so many of them after the point, and a suffix.
fn scaled(digits: i128, places: i32, suffix: &str) -> Option<(Format, i128)> {
    if let Some((_, bits)) = BINARY.iter().find(|(name, bits)| *name == suffix && *bits > 0) {
        let factor = NANOS.checked_mul(1_i128.checked_shl(*bits)?)?;
        return Some((Format::Binary, decimal(digits.checked_mul(factor)?, -places)?));
    }
    let (format, exponent) = match DECIMAL.iter().find(|(name, _)| *name == suffix) {
        Some((_, exponent)) => (Format::Decimal, *exponent),
        None => (Format::Exponent, suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?),
    };
    Some((format, decimal(digits, exponent.checked_add(9)?.checked_sub(places)?)?))
}

/// Times a power of ten, rounded up.
fn decimal(number: i128, exponent: i32) -> Option<i128> {
    let factor = 10_i128.checked_pow(exponent.unsigned_abs());
    match (exponent < 0, factor) {
        (false, factor) => number.checked_mul(factor?),
        (true, Some(factor)) => Some(number / factor + i128::from(number % factor > 0)),
        (true, None) => Some(i128::from(number > 0)),
    }
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
        let whole = self.nanos / NANOS;
        if self.format == Format::Binary && self.nanos % NANOS == 0 && whole.abs() >= 1024 {
            let suffix = BINARY.iter().rev().find(|(_, bits)| whole % (1_i128 << bits) == 0).unwrap_or(&BINARY[0]);
            return write!(f, "{}{}", whole >> suffix.1, suffix.0);
        }
        let fits = |exponent: i32| decimal(1, exponent + 9).filter(|factor| self.nanos % factor == 0);
        let largest = DECIMAL.iter().rev().find_map(|(name, exponent)| Some((name, exponent, fits(*exponent)?)));
        let Some((name, exponent, factor)) = largest else {
            return write!(f, "{}n", self.nanos);
        };
        match self.format {
            Format::Exponent if *exponent != 0 => write!(f, "{}e{exponent}", self.nanos / factor),
            _ => write!(f, "{}{name}", self.nanos / factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        Quantity::parse(text).map(|quantity| quantity.to_string())
    }

    #[test]
    fn amounts_are_written_as_the_real_server_writes_them() {
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
            ("0.1n", "1n"),
        ];
        for (text, expected) in cases {
            assert_eq!(written(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn equal_amounts_are_equal_however_they_are_written() {
        assert_eq!(Quantity::parse("1Gi"), Quantity::parse("1024Mi"));
        assert_eq!(Quantity::parse("1"), Quantity::parse("1e0"));
        assert!(Quantity::parse("1G") < Quantity::parse("1Gi"));
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        for text in ["", ".", "x", "1x", "1.1.1", "1ee", "--1", "1e99", "99999999999999999999999999999999999999999"] {
            assert_eq!(written(text), None, "{text}");
        }
    }
}
