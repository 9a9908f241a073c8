//! The operations of clients.

/// An operation of a client: the verbs of Go's client-gen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClientVerb {
    /// Creates an object.
    Create,
    /// Replaces an object.
    Update,
    /// Replaces the status of an object.
    UpdateStatus,
    /// Deletes one object.
    Delete,
    /// Deletes a collection of objects.
    DeleteCollection,
    /// Reads one object.
    Get,
    /// Reads a collection of objects.
    List,
    /// Watches for changes.
    Watch,
    /// Patches an object.
    Patch,
    /// Applies the fields of an object that a field manager owns.
    Apply,
    /// Applies the fields of a status that a field manager owns.
    ApplyStatus,
}
