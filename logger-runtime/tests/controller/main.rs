//! The promises of the controller, each shown by a test of that name, on the embedded API server with paused time.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod events;
mod failures;
mod finalizers;
mod measures;
mod own_writes;
mod stage;
mod stopping;
mod syncing;
mod workers;
