//! The rules of namespaces, and of being in one

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value, json};

use crate::{
    call::{Endpoint, State},
    kinds::Kind,
    managed_fields::{self, Author},
    metadata,
    object::{Object, Stored, now},
    status::{Refusal, Result},
};

/// There from the start.
const INITIAL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// Never deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Makes the namespaces every cluster has.
pub(crate) fn create_initial(state: &mut State) {
    let kind = Kind::namespace();
    for name in INITIAL {
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let mut namespace = Object::new(metadata, Map::new());
        default(&mut namespace);
        managed_fields::track(Author::server(&kind, &Endpoint::Main), None, &mut namespace);
        metadata::initialise(&kind, &mut namespace);
        prepare_create(&mut namespace);
        state.store.put("namespaces", &namespace);
    }
}

/// Labels a namespace with its name, once it has one.
pub(crate) fn default(namespace: &mut Object) {
    if !namespace.name().is_empty() {
        add_name_label(namespace);
    }
}

/// What a new namespace gets.
pub(crate) fn prepare_create(namespace: &mut Object) {
    namespace.metadata.generation = None;
    namespace.body = Map::new();
    namespace.body.insert("spec".to_owned(), json!({ "finalizers": ["kubernetes"] }));
    namespace.body.insert("status".to_owned(), json!({ "phase": "Active" }));
    add_name_label(namespace);
}

/// What an update of a namespace cannot change.
pub(crate) fn prepare_update(new: &mut Object, old: &Object) {
    new.body.retain(|name, _| name == "status");
    new.copy_field(old, "spec");
}

/// `/finalize` changes everything but the status.
pub(crate) fn prepare_finalize(new: &mut Object, old: &Object) {
    let is_empty = is_final(new);
    metadata::carry_over(new, old);
    new.copy_field(old, "status");
    if let Some(spec) = new.body.get_mut("spec").and_then(Value::as_object_mut).filter(|_| is_empty) {
        spec.remove("finalizers");
    }
}

/// Whether no finalizer of the spec holds it.
pub(crate) fn is_final(namespace: &Object) -> bool {
    namespace.field("spec.finalizers").and_then(Value::as_array).is_none_or(Vec::is_empty)
}

/// Refuses to make an object where it has no place to be.
pub(crate) fn check_exists(state: &State, kind: &Kind, namespace: &str, name: &str) -> Result<()> {
    let found = state.store.get("namespaces", "", namespace).ok_or_else(|| Refusal::namespace_not_found(namespace))?;
    if found.is_terminating() {
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        return Err(Refusal::namespace_is_ending(kind, name, namespace, &why));
    }
    Ok(())
}

/// Starts the end of a namespace. To empty it and let it go is the collector's task, or another program's beside a bare server.
pub(crate) fn terminate(state: &mut State, namespace: &Stored) -> Stored {
    if namespace.is_terminating() {
        return namespace.clone();
    }
    let mut ending = Object::clone(namespace);
    ending.metadata.deletion_timestamp = Some(now());
    ending.body.insert("status".to_owned(), json!({ "phase": "Terminating" }));
    state.store.put("namespaces", &ending)
}

/// Refuses to delete a namespace the cluster cannot be without.
pub(crate) fn check_mortal(kind: &Kind, name: &str) -> Result<()> {
    if IMMORTAL.contains(&name) {
        return Err(Refusal::forbidden(kind, name, "this namespace may not be deleted"));
    }
    Ok(())
}

fn add_name_label(namespace: &mut Object) {
    let name = namespace.name().to_owned();
    namespace.metadata.labels.get_or_insert_default().insert(NAME_LABEL.to_owned(), name);
}
