//! Validation of a spec beyond its schema, such as names that cannot be part of a file name.

use logger_agent::journal::MAX_DURATION;
use logger_names::validation::dns_1123_subdomain;
use logger_types::v1::LoggerSpec;

use crate::reason;

/// The maximum length of the name of a log: the names of its files have at most 255 bytes, with the name of the Pod and
/// a sequence number.
const MAX_NAME: usize = 100;
/// The number of characters of an invalid name in a message.
const MAX_SHOWN: usize = 60;

/// A spec that no agent can run with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSpec {
    /// The name of the log cannot be the prefix of the name of a file.
    #[error(
        "spec.name {0:?} cannot be the prefix of a file name: use 1 to {max} lowercase letters, digits, `-` and `.`, \
         and start and end each part with a letter or digit",
        max = MAX_NAME
    )]
    Name(String),
    /// The interval is not positive, which the schema rejects unless the object is older than it, or is too long.
    #[error("spec.timeInterval is {0}: use 1 to {max} seconds", max = MAX_DURATION.as_secs())]
    Interval(i32),
    /// The number of replicas is negative. The schema rejects it, unless the object is older than the schema.
    #[error("spec.replicas is {0}: use at least 0")]
    Replicas(i32),
}

impl InvalidSpec {
    /// Returns the reason for conditions and events.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            InvalidSpec::Name(_) => reason::INVALID_NAME,
            InvalidSpec::Interval(_) => reason::INVALID_INTERVAL,
            InvalidSpec::Replicas(_) => reason::INVALID_REPLICAS,
        }
    }
}

/// Validates a spec.
///
/// # Errors
/// Fails with the first field that no agent can run with.
pub fn validate(spec: &LoggerSpec) -> Result<(), InvalidSpec> {
    if !is_file_name(&spec.name) {
        return Err(InvalidSpec::Name(spec.name.chars().take(MAX_SHOWN).collect()));
    }
    let seconds = u64::try_from(spec.time_interval).unwrap_or_default();
    if !(1..=MAX_DURATION.as_secs()).contains(&seconds) {
        return Err(InvalidSpec::Interval(spec.time_interval));
    }
    match spec.replicas {
        Some(replicas) if replicas < 0 => Err(InvalidSpec::Replicas(replicas)),
        _ => Ok(()),
    }
}

/// Returns whether agents accept a name: they use it as the prefix of file names.
fn is_file_name(name: &str) -> bool {
    name.len() <= MAX_NAME && dns_1123_subdomain(name).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, time_interval: i32, replicas: Option<i32>) -> LoggerSpec {
        LoggerSpec { name: name.to_owned(), time_interval, replicas }
    }

    #[test]
    fn names_that_can_be_the_prefix_of_a_file_name_are_valid() {
        for name in ["audit", "audit-2.log", "7", &"a".repeat(100)] {
            assert_eq!(validate(&spec(name, 1, None)), Ok(()), "{name}");
        }
    }

    #[test]
    fn other_names_are_invalid() {
        let long = "a".repeat(101);
        for name in
            ["", ".", "..", "../etc", "a/b", "-a", "a-", "Audit", "a_b", "a b", "a\0", "ä", "$(HOME)", long.as_str()]
        {
            let invalid = validate(&spec(name, 1, None)).unwrap_err();
            assert_eq!(invalid.reason(), reason::INVALID_NAME, "{name}");
            assert!(invalid.to_string().len() < 300, "{invalid}");
        }
    }

    #[test]
    fn intervals_and_replicas_that_the_schema_rejects_are_invalid() {
        for interval in [i32::MIN, 0, 315_360_001, i32::MAX] {
            assert_eq!(validate(&spec("a", interval, None)), Err(InvalidSpec::Interval(interval)));
        }
        assert_eq!(validate(&spec("a", 315_360_000, None)), Ok(()));
        assert_eq!(validate(&spec("a", 1, Some(-1))), Err(InvalidSpec::Replicas(-1)));
        assert_eq!(validate(&spec("a", 1, Some(0))), Ok(()));
    }
}
