//! Regular expressions as rules use them.

use regex::{Regex, RegexBuilder};

/// The most memory a compiled pattern may take, in bytes.
const MAX_SIZE: usize = 10 << 20;

/// A pattern compiled. The server's engine is RE2, which the crate's syntax follows.
pub(in crate::cel) fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(MAX_SIZE).build().map_err(|error| error.to_string())
}
