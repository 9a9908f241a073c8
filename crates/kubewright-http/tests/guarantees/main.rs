//! The guarantees of the server, on real sockets.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod connections;
mod drain;
mod fixture;
mod requests;
mod services;
#[cfg(feature = "tls")]
mod tls;
