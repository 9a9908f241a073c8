//! The log of a process, the export of its traces, and the names of its metrics.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and test helpers are part of them")]

mod fixture;
mod install;
mod log;
mod metrics;
#[cfg(feature = "otlp")]
mod otlp;
