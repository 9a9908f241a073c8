//! The verbs of requests, which rules of RBAC permit.

use std::fmt;

/// A verb of a request to the API server, as in rules of RBAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Creates an object.
    Create,
    /// Deletes one object.
    Delete,
    /// Deletes a collection.
    DeleteCollection,
    /// Reads one object or a non-resource path.
    Get,
    /// Reads a collection.
    List,
    /// Patches or applies an object. An apply that creates the object also needs [`Create`](Self::Create).
    Patch,
    /// Replaces an object.
    Update,
    /// Watches a collection.
    Watch,
}

impl Verb {
    /// The verbs of an informer.
    pub const READ: [Verb; 3] = [Verb::Get, Verb::List, Verb::Watch];

    /// Returns the verb as Kubernetes writes it: `get`, `deletecollection`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Patch => "patch",
            Verb::Update => "update",
            Verb::Watch => "watch",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
