//! The guarantees of sharding: replicas with caches and controllers on the embedded API server with paused time.
//!
//! The rules of the state machine, and the simulation with clock skew and pauses, are tested next to its code.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod bad_input;
mod chaos;
mod fixture;
mod hand_over;
