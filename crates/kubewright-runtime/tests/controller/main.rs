//! The guarantees of the controller: one test for each, on the embedded API server with paused time.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod builder;
mod cache_sync;
mod events;
mod failures;
mod finalizers;
mod fixture;
mod log;
mod metrics;
mod objects;
mod read_your_writes;
mod shutdown;
mod spans;
mod user_code;
mod workers;
mod writes;
