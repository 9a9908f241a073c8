//! Namespaces: the check that one exists, and the start of its deletion.

use serde_json::json;

use crate::{
    api::{
        error::{ApiError, Result},
        kind::Kind,
        object::{Object, Stored, now},
    },
    storage::state::State,
};

/// Rejects a new object whose namespace does not exist or is terminating.
pub(crate) fn check_exists(state: &State, kind: &Kind, namespace: &str, name: &str) -> Result<()> {
    let existing =
        state.store.get("namespaces", "", namespace).ok_or_else(|| ApiError::namespace_not_found(namespace))?;
    if existing.is_terminating() {
        let detail = format!("unable to create new content in namespace {namespace} because it is being terminated");
        return Err(ApiError::namespace_terminating(kind, name, namespace, &detail));
    }
    Ok(())
}

/// Starts the deletion of a namespace. The namespace controller deletes its contents, or an external controller if the
/// server runs none.
pub(crate) fn terminate(state: &mut State, namespace: &Stored) -> Stored {
    if namespace.is_terminating() {
        return namespace.clone();
    }
    let mut terminating = Object::clone(namespace);
    terminating.metadata.deletion_timestamp = Some(now());
    terminating.body.insert("status".to_owned(), json!({ "phase": "Terminating" }));
    state.store.put("namespaces", terminating)
}
