//! Where a type is declared.

use std::fmt;

/// The source location of a declaration, displayed as `file:line`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The path of the source file, as rustc was called with it: relative for a workspace member.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl Location {
    /// An unknown location, with an empty file.
    pub const UNKNOWN: Location = Location { file: "", line: 0 };
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
