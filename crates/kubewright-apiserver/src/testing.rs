//! Test support: fault injection, reactors, recorded actions, fake clientsets, and coverage of roles.

pub(crate) mod actions;
pub(crate) mod audit_log;
mod body;
pub(crate) mod coverage;
pub(crate) mod fake;
pub(crate) mod faults;
mod layer;
pub(crate) mod reactors;
pub(crate) mod record;
pub(crate) mod requests;
