//! Durations in hours, minutes and seconds, such as `1m30s`, as the fields of a Logger contain them.

use std::{error::Error, fmt, time::Duration};

/// The units, each with its number of seconds, in the order of a duration.
const UNITS: [(char, u64); 3] = [('h', 3600), ('m', 60), ('s', 1)];

/// A text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDuration;

impl fmt::Display for InvalidDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a duration in hours, minutes and seconds, such as `60s` or `1m30s`")
    }
}

impl Error for InvalidDuration {}

/// Parses a duration.
///
/// # Errors
/// Fails if the text is empty, has other units or another order of them, or is too large.
pub fn parse(text: &str) -> Result<Duration, InvalidDuration> {
    let (mut rest, mut seconds) = (text, 0_u64);
    for (unit, factor) in UNITS {
        let Some((digits, after)) = rest.split_once(unit) else { continue };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidDuration);
        }
        let amount = digits.parse::<u64>().ok().and_then(|amount| amount.checked_mul(factor));
        seconds = amount.and_then(|amount| seconds.checked_add(amount)).ok_or(InvalidDuration)?;
        rest = after;
    }
    match rest.is_empty() && !text.is_empty() {
        true => Ok(Duration::from_secs(seconds)),
        false => Err(InvalidDuration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_hours_minutes_and_seconds_in_this_order() {
        for (text, seconds) in [("60s", 60), ("1m30s", 90), ("1h", 3600), ("2h0m1s", 7201), ("0s", 0), ("90m", 5400)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "s", "60", "1s1m", "1m1m", "1.5h", "-1s", "+1s", "250ms", " 1s", "1s ", "9999999999999999999h"]
        {
            assert_eq!(parse(text), Err(InvalidDuration), "{text}");
        }
    }
}
