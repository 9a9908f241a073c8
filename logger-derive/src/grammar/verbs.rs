//! The verbs of clients and of their extension methods.

/// All verbs: Go's name in snake case, as in attributes, and the name of the marker trait.
pub(crate) const VERBS: [(&str, &str); 11] = [
    ("create", "Create"),
    ("update", "Update"),
    ("update_status", "UpdateStatus"),
    ("delete", "Delete"),
    ("delete_collection", "DeleteCollection"),
    ("get", "Get"),
    ("list", "List"),
    ("watch", "Watch"),
    ("patch", "Patch"),
    ("apply", "Apply"),
    ("apply_status", "ApplyStatus"),
];

/// The verbs of `readonly`.
pub(crate) const READONLY: [&str; 3] = ["get", "list", "watch"];

/// The verbs that require a status subresource.
pub(crate) const STATUS_VERBS: [&str; 2] = ["update_status", "apply_status"];

/// The verbs of extension methods with their marker traits, and whether they have a request body.
pub(crate) const METHOD_VERBS: [(&str, &str, bool); 6] = [
    ("get", "Get", false),
    ("list", "List", false),
    ("create", "Create", true),
    ("update", "Update", true),
    ("patch", "Patch", false),
    ("apply", "Apply", true),
];

/// Returns the names of the verbs in attributes.
pub(super) fn names() -> Vec<&'static str> {
    VERBS.map(|(word, _)| word).to_vec()
}

/// Returns the names of the verbs in `method(verb = ..)`.
pub(super) fn method_names() -> Vec<&'static str> {
    METHOD_VERBS.map(|(verb, ..)| verb).to_vec()
}
