//! The table of built-in kinds, by what they are for

mod cluster;
mod configuration;
mod network;
mod row;
mod workloads;

use super::BuiltIn;

const CORE: &str = "";
const IMMUTABLE: &str = "field is immutable";

/// Every kind that is described by its row alone.
pub(crate) fn all() -> impl Iterator<Item = &'static BuiltIn> {
    cluster::ALL.iter().chain(&configuration::ALL).chain(&network::ALL).chain(&workloads::ALL)
}
