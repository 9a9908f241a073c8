//! The scope of a kind.

/// The scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Objects are cluster-scoped.
    Cluster,
    /// Objects are namespaced.
    Namespaced,
}

impl Scope {
    /// Returns the name that the API server uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::Cluster => "Cluster",
            Scope::Namespaced => "Namespaced",
        }
    }
}

/// A scope type of k8s-openapi, as a value.
pub trait HasScope {
    /// The scope.
    const SCOPE: Scope;
}

impl HasScope for k8s_openapi::ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}

impl HasScope for k8s_openapi::NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}
