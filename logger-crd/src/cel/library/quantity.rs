//! Quantities such as `1.5Gi`, exact to a billionth.

use std::cmp::Ordering;

use crate::cel::value::{Failure, Outcome, Value};

const NANO: i128 = 1_000_000_000;

/// A quantity.
#[derive(Clone, Copy, Debug)]
pub(in crate::cel) struct Quantity {
    /// In billionths. What is larger than any that can be held is the largest that can.
    nanos: i128,
    /// The power of ten it is counted in on the server; `None` if it is held there with arbitrary precision. Only a
    /// quantity counted in whole numbers is an integer to the server.
    scale: Option<i32>,
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Quantity {
    fn integer(self) -> Option<i64> {
        self.scale.filter(|scale| *scale >= 0)?;
        i64::try_from(self.nanos / NANO).ok().filter(|_| self.nanos % NANO == 0)
    }

    fn plus(self, other: Quantity, sign: i128) -> Self {
        let scale = self.scale.zip(other.scale).map(|(one, two)| one.min(two));
        Quantity { nanos: self.nanos.saturating_add(other.nanos.saturating_mul(sign)), scale }
    }
}

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    Some(match (function, args) {
        ("quantity", [Value::String(text)]) => parse(text).map(Value::Quantity).ok_or_else(|| {
            Failure::new("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
        }),
        ("isQuantity", [Value::String(text)]) => Ok(Value::Bool(parse(text).is_some())),
        (_, [Value::Quantity(quantity)]) => return of_one(function, *quantity),
        (_, [Value::Quantity(one), Value::Quantity(two)]) => return of_two(function, *one, *two),
        ("add" | "sub", [Value::Quantity(one), Value::Int(number)]) => {
            return of_two(function, *one, Quantity { nanos: i128::from(*number) * NANO, scale: Some(0) });
        }
        _ => return None,
    })
}

fn of_one<'a>(function: &str, quantity: Quantity) -> Option<Outcome<Value<'a>>> {
    let integer = quantity.integer();
    Some(Ok(match function {
        "sign" => Value::Int(i64::try_from(quantity.nanos.signum()).unwrap_or_default()),
        "isInteger" => Value::Bool(integer.is_some()),
        "asInteger" => match integer {
            Some(integer) => Value::Int(integer),
            None => return Some(Err(Failure::new("cannot convert value to integer"))),
        },
        #[allow(clippy::cast_precision_loss)]
        "asApproximateFloat" => Value::Double(quantity.nanos as f64 / NANO as f64),
        _ => return None,
    }))
}

fn of_two<'a>(function: &str, one: Quantity, two: Quantity) -> Option<Outcome<Value<'a>>> {
    Some(Ok(match function {
        "isGreaterThan" => Value::Bool(one.nanos > two.nanos),
        "isLessThan" => Value::Bool(one.nanos < two.nanos),
        "compareTo" => Value::Int(match one.nanos.cmp(&two.nanos) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }),
        "add" => Value::Quantity(one.plus(two, 1)),
        "sub" => Value::Quantity(one.plus(two, -1)),
        _ => return None,
    }))
}

/// The quantity a text says; what is finer than a billionth is rounded away from zero.
fn parse(text: &str) -> Option<Quantity> {
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
    let (factor, exponent) = scale(suffix)?;
    let digits: String = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let exponent = exponent + 9 - i32::try_from(fraction.len()).ok()?;
    let mantissa = if digits.is_empty() { 0 } else { digits.parse::<i128>().unwrap_or(i128::MAX) };
    let scaled = mantissa.saturating_mul(factor);
    let nanos = match u32::try_from(exponent) {
        _ if scaled == 0 => 0,
        Ok(exponent) => 10_i128.checked_pow(exponent).map_or(i128::MAX, |power| scaled.saturating_mul(power)),
        Err(_) => 10_i128
            .checked_pow(exponent.unsigned_abs())
            .map_or(1, |power| scaled.div_euclid(power) + i128::from(scaled % power != 0)),
    };
    let scale = counted_in(whole.trim_start_matches('0').len().max(1), fraction.len(), suffix);
    Some(Quantity { nanos: if negative { -nanos } else { nanos }, scale })
}

/// The power of ten the server counts in, by the number of digits before and after the point: it has a fast way for numbers of
/// up to 18 digits, and for whole binary multiples of up to 15.
fn counted_in(whole: usize, fraction: usize, suffix: &str) -> Option<i32> {
    let (factor, exponent) = scale(suffix)?;
    let digits = i32::try_from(whole + fraction).ok()?;
    let spare = if factor == 1 {
        18 - digits
    } else if fraction == 0 {
        let bits = i32::try_from(factor.trailing_zeros()).ok()?;
        15 - digits - bits * 3 / 10 - 1
    } else {
        -1
    };
    let scale = exponent - i32::try_from(fraction).ok()?;
    (spare >= 0 && scale >= -9).then_some(scale)
}

/// What a suffix multiplies by, and by which power of ten.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    Some(match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            let exponent: i32 = exponent.parse().ok()?;
            (1, exponent.clamp(-1000, 1000))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        let nanos = |text: &str| parse(text).map(|quantity| quantity.nanos);
        assert_eq!(nanos("1.5Gi"), Some(1_610_612_736 * NANO));
        assert_eq!(nanos("100m"), Some(NANO / 10));
        assert_eq!(nanos("-1e3"), Some(-1000 * NANO));
        assert_eq!(nanos("1E"), Some(1_000_000_000_000_000_000 * NANO));
        assert_eq!(nanos("0.1n"), Some(1));
        assert_eq!(nanos(".5"), Some(NANO / 2));
        for wrong in ["", "1.1.1", "1ki", "Gi", "1 G", "1e", "abc", "--1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
