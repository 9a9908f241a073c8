//! The limit of a wait.

use std::{fmt, str::FromStr};

/// The limit of each wait in the format of kubectl, such as `5m`. It is not zero, which kubectl would interpret as no
/// limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeout(String);

/// A text that is not a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a positive number of `s`, `m` or `h`, such as `5m`")]
pub struct InvalidTimeout;

impl FromStr for Timeout {
    type Err = InvalidTimeout;

    fn from_str(text: &str) -> Result<Self, InvalidTimeout> {
        let number = text.strip_suffix(['s', 'm', 'h']).ok_or(InvalidTimeout)?;
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        match number.parse::<u16>() {
            Ok(1..) if is_number => Ok(Timeout(text.to_owned())),
            _ => Err(InvalidTimeout),
        }
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_numbers_with_a_unit_are_timeouts() {
        assert_eq!("90s".parse::<Timeout>().unwrap().to_string(), "90s");
        for invalid in ["", "5", "0s", "-1s", "+1s", "1.5h", "5 m", "m"] {
            assert_eq!(invalid.parse::<Timeout>(), Err(InvalidTimeout), "{invalid}");
        }
    }
}
