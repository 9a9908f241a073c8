//! The endpoints of a resource: the main one and its subresources.

use super::kind::ScalePaths;

/// The part of an object that a request addresses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Endpoint {
    /// The object itself, or a collection.
    Main,
    /// `/status`.
    Status,
    /// `/finalize`, of a namespace.
    Finalize,
    /// `/approval`, of a certificate signing request.
    Approval,
    /// `/binding` and `/eviction`, of a pod.
    Pod(PodSubresource),
    /// `/token`, of a service account.
    Token,
    /// `/scale`, whose fields are at these paths.
    Scale(ScalePaths),
}

/// The subresources of a pod that can only be created.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PodSubresource {
    Binding,
    Eviction,
}

impl PodSubresource {
    /// All of them, in the order of discovery.
    pub(crate) const ALL: [Self; 2] = [Self::Binding, Self::Eviction];

    /// Returns the subresource with a name, such as `eviction`.
    pub(crate) fn find(name: &str) -> Option<Self> {
        match name {
            "binding" => Some(Self::Binding),
            "eviction" => Some(Self::Eviction),
            _ => None,
        }
    }

    /// Returns the group, version and kind of the request body.
    pub(crate) fn group_version_kind(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Binding => ("", "v1", "Binding"),
            Self::Eviction => ("policy", "v1", "Eviction"),
        }
    }
}
