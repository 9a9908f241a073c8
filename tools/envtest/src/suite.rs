//! How a test suite with a control plane of its own ends.

use std::error::Error;
use std::process::ExitCode;

/// What the `main` of a suite ends with: an error is told on stderr, and fails it. By then everything the suite held is dropped,
/// its control plane too, which a `main` that exits by itself could not do.
pub fn exit_code(outcome: Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
