//! The guarantees of webhooks: raw reviews, the embedded API server, and the manager.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod admission;
mod conversion;
mod fixture;
mod in_process;
mod manager;
mod protocol;
