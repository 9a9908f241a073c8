//! Prints what a command returns.

use std::io::{ErrorKind, Write};

use crate::manager::BoxError;

/// Prints a text with one newline at its end.
pub(super) fn print(text: &str) -> Result<(), BoxError> {
    match writeln!(std::io::stdout().lock(), "{}", text.trim_end()) {
        // The reader has what it needs, such as `head`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
