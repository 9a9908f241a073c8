//! Errors of invalid patterns.

use std::fmt;

/// The error of Go's `regexp.Compile` for a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: &'static str,
    part: String,
}

impl Error {
    pub(super) fn new(code: &'static str, part: &str) -> Self {
        Error { code, part: part.to_owned() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.code, self.part)
    }
}

impl std::error::Error for Error {}
