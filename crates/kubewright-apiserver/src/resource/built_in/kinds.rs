//! The table of built-in kinds.

mod cluster;
mod configuration;
mod control_plane;
mod extension;
mod network;
mod recent;
mod row;
mod storage;
mod workloads;

use super::BuiltIn;

const CORE: &str = "";
const IMMUTABLE: &str = "field is immutable";

/// Returns all built-in kinds.
pub(crate) fn all() -> impl Iterator<Item = &'static BuiltIn> {
    cluster::ALL
        .iter()
        .chain(&configuration::ALL)
        .chain(&control_plane::ALL)
        .chain(&network::ALL)
        .chain(&recent::SINCE_1_34)
        .chain(&recent::SINCE_1_36)
        .chain(&storage::ALL)
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
