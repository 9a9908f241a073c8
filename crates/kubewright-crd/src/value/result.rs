//! The result of validating a value: `validate.Result` of kube-openapi.

use crate::field::{FieldError, MAX_SIZE};

/// The errors of a value, and the number of passed checks. If all alternatives of `anyOf` or `oneOf` fail, the server
/// reports the one with the highest match count.
#[derive(Default)]
pub(super) struct ValidationResult {
    /// Each error with its message. Errors with equal messages are reported once.
    errors: Vec<(String, FieldError)>,
    /// The size of the errors and their messages, which is limited.
    size: usize,
    pub(super) match_count: usize,
}

impl ValidationResult {
    /// Returns the result of a passed check.
    pub(super) fn passed() -> Self {
        Self { match_count: 1, ..Self::default() }
    }

    /// Returns the result of a failed check.
    pub(super) fn failed((message, error): (String, FieldError)) -> Self {
        let mut result = Self::default();
        result.add_error((message, error));
        result
    }

    pub(super) fn add_error(&mut self, (message, error): (String, FieldError)) {
        if !self.is_full() && self.errors.iter().all(|(known, _)| *known != message) {
            self.size += message.len() + error.size();
            self.errors.push((message, error));
        }
    }

    /// Whether further errors are ignored.
    pub(super) fn is_full(&self) -> bool {
        self.size >= MAX_SIZE
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.match_count += other.match_count;
        other.errors.into_iter().for_each(|error| self.add_error(error));
    }

    /// Increments the match count.
    pub(super) fn increment(&mut self) {
        self.match_count += 1;
    }

    pub(super) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Removes the errors, as ratcheting does for an unchanged value.
    #[must_use]
    pub(super) fn ratcheted(self) -> Self {
        Self { match_count: self.match_count, ..Self::default() }
    }

    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.errors.into_iter().map(|(_, error)| error).collect()
    }
}
