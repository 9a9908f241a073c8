//! The errors of telemetry.

use tracing_subscriber::{filter::ParseError, util::TryInitError};

#[cfg(feature = "otlp")]
use super::otlp::OtlpError;

/// Telemetry that cannot be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The directives of a filter are invalid.
    #[error("invalid log filter `{directives}`: {error}; expected directives such as `info,my_operator=debug`")]
    InvalidFilter {
        /// The directives.
        directives: String,
        /// The reason.
        error: ParseError,
    },
    /// The environment variable is not valid Unicode.
    #[error("the environment variable RUST_LOG is not valid Unicode")]
    FilterEncoding,
    /// There is another subscriber or logger.
    #[error("cannot install the subscriber of the process: {0}; install one subscriber, and no logger")]
    Install(TryInitError),
    /// Traces cannot be exported.
    #[cfg(feature = "otlp")]
    #[error(transparent)]
    Otlp(#[from] OtlpError),
}
