//! The operator: its children, its status, and the running controller on the in-memory API server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod children;
mod cluster;
mod conflicts;
mod default_logger;
mod description;
mod fixture;
mod invalid;
mod lifecycle;
mod observability;
mod page;
mod permissions;
mod placement;
mod rejected;
mod status;
mod versions;
mod writes;
