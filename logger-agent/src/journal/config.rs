//! The options of a journal.

use std::{num::NonZeroUsize, time::Duration};

use clap::ValueEnum;

/// The maximum of all durations.
pub const MAX_DURATION: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// When records become durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Durability {
    /// One fdatasync for the records of an interval; sooner for records whose client waits.
    #[default]
    Interval,
    /// An fdatasync for each record. Requests that arrive during an fdatasync share the next one.
    Record,
}

/// The options of a journal.
#[derive(Clone, Debug)]
pub struct JournalConfig {
    /// The interval in which records become durable.
    pub interval: Duration,
    /// When records become durable.
    pub durability: Durability,
    /// How long a client waits at most before its records are made durable. It is limited to half of the interval.
    pub acknowledgement_delay: Duration,
    /// The size from which a segment is closed. A larger record has a segment for itself.
    pub segment_bytes: u64,
    /// The age from which a segment is closed.
    pub segment_age: Duration,
    /// The size of all segments above which the oldest closed ones are removed.
    pub retention_bytes: u64,
    /// The age above which closed segments are removed.
    pub retention_age: Duration,
    /// Whether closed segments are removed so that space remains for other files: an eighth of the file system, at most
    /// that of four segments.
    pub leaves_space: bool,
    /// The number of bytes that wait for their fsync.
    pub max_unacknowledged_bytes: usize,
    /// The number of requests that wait to be written.
    pub max_unacknowledged_requests: usize,
    /// The number of ids that are remembered.
    pub remembered_ids: NonZeroUsize,
}

/// Options that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A duration is zero.
    #[error("the {0} is 0; expected at least 1 ms, such as `60s`")]
    ZeroDuration(&'static str),
    /// A duration cannot be represented as a point in time.
    #[error("the {0} is longer than ten years; expected a shorter one, such as `60s`")]
    TooLong(&'static str),
    /// A size is zero.
    #[error("the {0} is 0; expected at least 1 byte")]
    ZeroSize(&'static str),
    /// Closed segments would be removed at once.
    #[error(
        "the retention size {retention_bytes} is smaller than two segments of {segment_bytes} bytes; increase the \
         retention size or decrease the size of segments"
    )]
    RetentionTooSmall {
        /// The size of all segments.
        retention_bytes: u64,
        /// The size of a segment.
        segment_bytes: u64,
    },
}

impl JournalConfig {
    /// Creates the options of an interval, with the defaults of the command line.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        JournalConfig {
            interval,
            durability: Durability::default(),
            acknowledgement_delay: Duration::from_secs(1),
            segment_bytes: 16 << 20,
            segment_age: Duration::from_secs(60 * 60),
            retention_bytes: 1 << 30,
            retention_age: Duration::from_secs(7 * 24 * 60 * 60),
            leaves_space: false,
            max_unacknowledged_bytes: 32 << 20,
            max_unacknowledged_requests: 1024,
            remembered_ids: NonZeroUsize::MIN.saturating_add(65_535),
        }
    }

    /// Validates the options.
    ///
    /// # Errors
    /// Fails if a duration or a size is zero, if a duration is too long, or if closed segments would be removed at
    /// once.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let durations =
            [("interval", self.interval), ("segment age", self.segment_age), ("retention age", self.retention_age)];
        for (name, duration) in durations {
            if duration < Duration::from_millis(1) {
                return Err(ConfigError::ZeroDuration(name));
            }
            if duration > MAX_DURATION {
                return Err(ConfigError::TooLong(name));
            }
        }
        let (segment_bytes, retention_bytes) = (self.segment_bytes, self.retention_bytes);
        match (segment_bytes, self.max_unacknowledged_bytes) {
            (0, _) => Err(ConfigError::ZeroSize("size of segments")),
            (_, 0) => Err(ConfigError::ZeroSize("size of unacknowledged records")),
            _ if retention_bytes / 2 < segment_bytes => {
                Err(ConfigError::RetentionTooSmall { retention_bytes, segment_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Returns the options of one of two journals that share the retention and the memory.
    pub(super) fn half(&self) -> Self {
        JournalConfig {
            segment_bytes: self.segment_bytes.min(self.retention_bytes / 4),
            retention_bytes: self.retention_bytes / 2,
            max_unacknowledged_bytes: self.max_unacknowledged_bytes.div_ceil(2),
            ..self.clone()
        }
    }

    /// Returns how long records without a waiting client are not durable.
    pub(super) fn commit_interval(&self) -> Duration {
        match self.durability {
            Durability::Interval => self.interval,
            Durability::Record => Duration::ZERO,
        }
    }

    /// Returns how long a client waits at most before its records are made durable.
    pub(super) fn delay(&self) -> Duration {
        match self.durability {
            Durability::Interval => self.acknowledgement_delay.min(self.interval / 2),
            Durability::Record => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_options_are_rejected() {
        let valid = JournalConfig::new(Duration::from_secs(60));
        valid.validate().unwrap();
        let error = JournalConfig::new(Duration::ZERO).validate().unwrap_err();
        assert_eq!(error.to_string(), "the interval is 0; expected at least 1 ms, such as `60s`");
        let error = JournalConfig { retention_age: Duration::MAX, ..valid.clone() }.validate().unwrap_err();
        assert_eq!(error, ConfigError::TooLong("retention age"));
        let error = JournalConfig { segment_bytes: 0, ..valid.clone() }.validate().unwrap_err();
        assert_eq!(error, ConfigError::ZeroSize("size of segments"));
        let error = JournalConfig { retention_bytes: (32 << 20) - 1, ..valid }.validate().unwrap_err();
        assert!(error.to_string().contains("smaller than two segments of 16777216 bytes"), "{error}");
    }
}
