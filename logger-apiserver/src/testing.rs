//! Layers for tests before any server: faults, reactors, recorded actions and fake clientsets.

pub(crate) mod actions;
pub mod fake;
pub(crate) mod faults;
pub(crate) mod reactors;
pub(crate) mod record;
pub(crate) mod request_info;
pub(crate) mod requests;
