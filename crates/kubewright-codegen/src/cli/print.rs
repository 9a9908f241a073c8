//! Output of the commands.

use std::{io::Write, process::ExitCode};

use anyhow::Result;

use crate::diagnostic::{Diagnostic, Diagnostics};

/// Prints a line to standard output. A closed pipe is ignored: the exit code is still returned.
pub(super) fn print(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// Prints warnings to standard error.
pub(super) fn warn(warnings: &[Diagnostic]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}

/// Prints the error, if there is one, and returns the exit code: 2 for an error. Diagnostics are printed one per line.
pub(super) fn exit_code(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        match error.downcast_ref::<Diagnostics>() {
            Some(diagnostics) => {
                for diagnostic in &diagnostics.0 {
                    eprintln!("error: {diagnostic}");
                }
                let count = diagnostics.0.len();
                eprintln!(
                    "error: nothing was written because of {}",
                    if count == 1 { "1 error".to_owned() } else { format!("{count} errors") }
                );
            }
            None => eprintln!("error: {error:#}"),
        }
        ExitCode::from(2)
    })
}
