//! Test support: fault injection, reactors, recorded actions and fake clientsets.

pub(crate) mod actions;
mod body;
pub mod fake;
pub(crate) mod faults;
mod layer;
pub(crate) mod reactors;
pub(crate) mod record;
pub(crate) mod requests;
