//! The guarantees of the manager, on the embedded API server with paused time.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and test helpers are part of them")]

mod description;
mod fixture;
mod health;
mod leadership;
mod lifecycle;
mod servers;
mod sharding;
mod start;
mod stop;
