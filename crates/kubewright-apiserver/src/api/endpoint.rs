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
    /// `/binding`, `/ephemeralcontainers` and `/eviction`, of a pod.
    Pod(PodSubresource),
    /// `/token`, of a service account.
    Token,
    /// `/scale`, whose fields are at these paths.
    Scale(ScalePaths),
}

/// The subresources that only pods have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PodSubresource {
    Binding,
    EphemeralContainers,
    Eviction,
}

impl PodSubresource {
    /// All of them, in the order of discovery.
    pub(crate) const ALL: [Self; 3] = [Self::Binding, Self::EphemeralContainers, Self::Eviction];

    /// Returns the subresource with a name, such as `eviction`.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|subresource| subresource.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Binding => "binding",
            Self::EphemeralContainers => "ephemeralcontainers",
            Self::Eviction => "eviction",
        }
    }

    /// Returns whether the subresource is a part of the pod, which is read and updated. Others are only created.
    pub(crate) fn is_part(self) -> bool {
        self == Self::EphemeralContainers
    }

    /// Returns the group, version and kind of the request body.
    pub(crate) fn group_version_kind(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Binding => ("", "v1", "Binding"),
            Self::EphemeralContainers => ("", "v1", "Pod"),
            Self::Eviction => ("policy", "v1", "Eviction"),
        }
    }
}
