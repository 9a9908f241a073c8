//! The guarantees of servers, certificates, metrics and authentication, on real sockets where there is a connection.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod authentication;
mod certificates;
mod client_metrics;
mod fixture;
mod limits;
mod metrics;
mod protocol;
mod self_managed;
mod server;
mod shutdown;
mod status;
mod tls;
