//! Output on stdout, and the combination of two errors.

use std::io::Write;

use anyhow::{Result, anyhow};

/// Prints a line. A closed pipe is ignored, so that the program continues and removes its objects.
pub(crate) fn print(line: impl AsRef<str>) {
    drop(writeln!(std::io::stdout().lock(), "{}", line.as_ref()));
}

/// Combines two results; if both fail, the error contains both messages.
pub(crate) fn both(first: Result<()>, second: Result<()>) -> Result<()> {
    match (first, second) {
        (Err(first), Err(second)) => Err(anyhow!("{first:#}; and afterwards: {second:#}")),
        (first, second) => first.and(second),
    }
}
