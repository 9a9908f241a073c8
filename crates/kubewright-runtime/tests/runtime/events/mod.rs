//! The guarantees of the event recorder: rules E1 to E5 and what it adds, on the embedded API server with paused time.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod failures;
mod fixture;
mod metrics;
mod rules;
mod shutdown;
mod validity;
