//! Scenarios of a cluster: workloads, scheduling, failures of nodes and zones, drains, and local processes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod failures;
mod fixture;
mod processes;
mod scheduling;
mod workloads;
