//! The guarantees of leader election: electors on the embedded API server with paused time.
//!
//! The rules of the state machine, and the simulation with clock skew and pauses, are tested next to its code.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and test helpers are part of them")]

mod failures;
mod fixture;
mod leases;
mod lifecycle;
mod metrics;
