//! What the program says: lines on stdout, and several errors as one.

use std::io::Write;

use anyhow::{Result, anyhow};

/// Prints a line. Where nobody listens any more (a closed pipe), the program goes on: it has things to remove.
pub(crate) fn say(line: impl AsRef<str>) {
    drop(writeln!(std::io::stdout().lock(), "{}", line.as_ref()));
}

/// The first failure with the second added: what could not be removed must not be hidden by why it was to be.
pub(crate) fn both(first: Result<()>, second: Result<()>) -> Result<()> {
    match (first, second) {
        (Err(first), Err(second)) => Err(anyhow!("{first:#}; and afterwards: {second:#}")),
        (first, second) => first.and(second),
    }
}
