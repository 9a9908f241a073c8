//! The table of built-in kinds.

mod cluster;
mod configuration;
mod extension;
mod network;
mod row;
mod workloads;

use super::BuiltIn;

const CORE: &str = "";
const IMMUTABLE: &str = "field is immutable";

/// Returns all built-in kinds.
pub(crate) fn all() -> impl Iterator<Item = &'static BuiltIn> {
    cluster::ALL
        .iter()
        .chain(&configuration::ALL)
        .chain(&network::ALL)
        .chain(&workloads::ALL)
        .chain([namespace(), definition()])
}

/// Returns the kind `Namespace`.
pub(crate) fn namespace() -> &'static BuiltIn {
    &cluster::NAMESPACE
}

/// Returns the kind `CustomResourceDefinition`.
pub(crate) fn definition() -> &'static BuiltIn {
    &extension::CUSTOM_RESOURCE_DEFINITION
}
