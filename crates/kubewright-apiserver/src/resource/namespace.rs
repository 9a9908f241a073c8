//! The strategy of namespaces.

use serde_json::{Map, Value, json};

use crate::{
    api::{
        error::{ApiError, Result},
        kind::Kind,
        object::Object,
    },
    resource::metadata,
};

/// The namespaces that cannot be deleted.
const PROTECTED: [&str; 3] = ["default", "kube-public", "kube-system"];
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Labels a namespace with its name, if it has one.
pub(crate) fn default(namespace: &mut Object) {
    if !namespace.name().is_empty() {
        add_name_label(namespace);
    }
}

/// Sets the finalizer and the phase of a new namespace.
pub(crate) fn prepare_create(namespace: &mut Object) {
    namespace.metadata.generation = None;
    namespace.body = Map::new();
    namespace.body.insert("spec".to_owned(), json!({ "finalizers": ["kubernetes"] }));
    namespace.body.insert("status".to_owned(), json!({ "phase": "Active" }));
    add_name_label(namespace);
}

/// Restores the spec, which an update cannot change.
pub(crate) fn prepare_update(new: &mut Object, old: &Object) {
    new.body.retain(|name, _| name == "status");
    new.copy_field(old, "spec");
}

/// Restores the status, which `/finalize` cannot change.
pub(crate) fn prepare_finalize(new: &mut Object, old: &Object) {
    let is_empty = is_final(new);
    metadata::preserve_system_fields(new, old);
    new.copy_field(old, "status");
    if let Some(spec) = new.body.get_mut("spec").and_then(Value::as_object_mut).filter(|_| is_empty) {
        spec.remove("finalizers");
    }
}

/// Returns whether the spec has no finalizers.
pub(crate) fn is_final(namespace: &Object) -> bool {
    namespace.field("spec.finalizers").and_then(Value::as_array).is_none_or(Vec::is_empty)
}

/// Rejects the deletion of the namespaces that every cluster needs.
pub(crate) fn check_delete(kind: &Kind, name: &str) -> Result<()> {
    if PROTECTED.contains(&name) {
        return Err(ApiError::forbidden(kind, name, "this namespace may not be deleted"));
    }
    Ok(())
}

fn add_name_label(namespace: &mut Object) {
    let name = namespace.name().to_owned();
    namespace.metadata.labels.get_or_insert_default().insert(NAME_LABEL.to_owned(), name);
}
