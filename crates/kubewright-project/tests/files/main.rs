//! The files of projects, and those of an operator: configuration, roles, webhooks, chart and bundle.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod config;
mod fixture;
mod helm;
mod olm;
mod rbac;
mod scaffold;
mod webhooks;
