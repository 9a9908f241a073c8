//! Custom resource definitions: their rules, and how a kind comes into service and goes out of it

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinitionCondition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use logger_crd::check::{self, Finding};
use serde_json::{Value, json};

use crate::{
    call::{Endpoint, State},
    decode, delete,
    kinds::Kind,
    managed_fields::{self, Author},
    metadata,
    object::{Object, Stored, now},
    status::{FieldError, Refusal, Result},
};

const RESOURCE: &str = "customresourcedefinitions.apiextensions.k8s.io";
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Reads the spec as its published type, which drops unknown fields, and fills in the names that can be derived. What is
/// written to the status alone may be without one.
pub(crate) fn default(definition: &mut Object) -> Result<()> {
    definition.body.retain(|name, _| matches!(name.as_str(), "spec" | "status"));
    if !definition.body.contains_key("spec") {
        return Ok(());
    }
    if let Some(unreadable) = check::unreadable(&json_of(definition)) {
        return Err(Refusal::bad_request(unreadable.detail));
    }
    let mut spec = spec_of(definition)?;
    let kind = spec.names.kind.clone();
    if !kind.is_empty() {
        spec.names.singular.get_or_insert_with(|| kind.to_lowercase());
        spec.names.list_kind.get_or_insert_with(|| format!("{kind}List"));
    }
    spec.conversion.get_or_insert_with(|| CustomResourceConversion { strategy: "None".to_owned(), webhook: None });
    let mut status = status_of(definition);
    // Who forgets what is stored is told what is stored from now on.
    if definition.body.contains_key("status") && status.stored_versions.as_ref().is_none_or(Vec::is_empty) {
        status.stored_versions = Some(storage_versions(&spec).map(str::to_owned).collect());
        set_status(definition, json!(status));
    }
    let mut spec = json!(spec);
    decode::whole_numbers(&mut spec);
    definition.body.insert("spec".to_owned(), spec);
    Ok(())
}

/// Notes in the status of a definition which versions it stores.
pub(crate) fn prepare(definition: &mut Object, old: Option<&Object>) -> Result<()> {
    let spec = spec_of(definition)?;
    match old {
        None => set_status(definition, new_status(&spec)),
        Some(_) => {
            let mut status = status_of(definition);
            add_stored_version(&mut status, &spec);
            set_status(definition, json!(status));
        }
    }
    Ok(())
}

/// The rules a definition breaks, or an update of one.
pub(crate) fn check(definition: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let new = json_of(definition);
    let findings = match old {
        None => check::definition(&new),
        Some(old) => check::update(&new, &json_of(old)),
    };
    findings.into_iter().filter(Finding::is_refusal).map(FieldError::from).collect()
}

fn json_of(definition: &Object) -> Value {
    let kind = Kind::definition();
    definition.to_json(&kind.api_version(), &kind.kind)
}

/// Puts a stored definition's kind in service and says so in its status, as the controllers of the real server do
/// right after the write.
pub(crate) fn establish(state: &mut State, definition: &Stored) {
    let Ok(spec) = spec_of(definition) else { return };
    if definition.is_terminating() {
        return;
    }
    let mut status = status_of(definition);
    status.accepted_names = Some(spec.names.clone());
    state.kinds.install(spec, definition.uid());
    set_condition(&mut status, "NamesAccepted", "NoConflicts", "no conflicts found");
    set_condition(&mut status, "Established", "InitialNamesAccepted", "the initial names have been accepted");
    let mut established = Object::clone(definition);
    set_status(&mut established, json!(status));
    let kind = Kind::definition();
    managed_fields::track(Author::server(&kind, &Endpoint::Status), Some(definition), &mut established);
    managed_fields::keep_times(&mut established, definition);
    if established != **definition {
        state.store.put(RESOURCE, &established);
    }
}

/// Puts the kinds of all definitions in service that have been before.
#[cfg(feature = "serve")]
pub(crate) fn reinstall(state: &mut State) {
    for definition in state.store.list(RESOURCE, None) {
        let conditions = status_of(&definition).conditions.unwrap_or_default();
        let is_established =
            conditions.iter().any(|condition| condition.type_ == "Established" && condition.status == "True");
        if let Some(spec) = spec_of(&definition).ok().filter(|_| is_established) {
            state.kinds.install(spec, definition.uid());
        }
    }
}

/// Starts the end of a kind: its objects are deleted, and when the last has gone the definition goes too.
pub(crate) fn terminate(state: &mut State, definition: &Stored) -> Stored {
    if definition.is_terminating() {
        return definition.clone();
    }
    let mut ending = Object::clone(definition);
    metadata::mark_deleted(&mut ending);
    ending.metadata.generation = definition.metadata.generation;
    ending.metadata.deletion_grace_period_seconds = None;
    ending.metadata.finalizers.get_or_insert_default().push(CLEANUP.to_owned());
    let mut status = status_of(definition);
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set_condition(&mut status, "Terminating", "InstanceDeletionPending", message);
    set_status(&mut ending, json!(status));
    let ending = state.store.put(RESOURCE, &ending);
    delete_instances(state, &ending);
    ending
}

/// Lets a terminating definition go once no object of its kind is left.
pub(crate) fn finish(state: &mut State, resource: &str) {
    let Some(definition) = state.store.get(RESOURCE, "", resource) else {
        return;
    };
    if !definition.is_terminating() || !state.store.list(resource, None).is_empty() {
        return;
    }
    let mut emptied = Object::clone(&definition);
    let finalizers = emptied.metadata.finalizers.get_or_insert_default();
    finalizers.retain(|finalizer| finalizer != CLEANUP);
    if finalizers.is_empty() {
        state.store.remove(RESOURCE, "", resource);
        withdraw(state, &definition);
    } else if emptied != *definition {
        state.store.put(RESOURCE, &emptied);
    }
}

/// Takes the kind of a definition that is gone out of service, with whatever objects are left of it.
pub(crate) fn withdraw(state: &mut State, definition: &Object) {
    let Ok(spec) = spec_of(definition) else { return };
    for object in state.store.list(definition.name(), None) {
        state.store.remove(definition.name(), object.namespace(), object.name());
    }
    state.kinds.remove(&spec.group, &spec.names.plural);
}

/// Whether a kind is on its way out and takes no new objects.
pub(crate) fn is_ending(state: &State, kind: &Kind) -> bool {
    state.store.get(RESOURCE, "", &kind.resource()).is_some_and(|definition| definition.is_terminating())
}

fn delete_instances(state: &mut State, definition: &Object) {
    let Ok(spec) = spec_of(definition) else { return };
    if let Some(kind) = state.kinds.any_version(&spec.group, &spec.names.plural) {
        for object in state.store.list(&kind.resource(), None) {
            // What cannot be converted stays, and keeps the definition.
            drop(delete::remove_or_mark(state, &kind, &object, &DeleteOptions::default()));
        }
    }
    finish(state, definition.name());
}

fn spec_of(definition: &Object) -> Result<CustomResourceDefinitionSpec> {
    let spec = definition.body.get("spec").cloned().unwrap_or_else(|| json!({}));
    serde_json::from_value(spec).map_err(|error| {
        let kind = "CustomResourceDefinition";
        Refusal::bad_request(format!("{kind} in version \"v1\" cannot be handled as a {kind}: {error}"))
    })
}

fn status_of(definition: &Object) -> CustomResourceDefinitionStatus {
    let status = definition.body.get("status").cloned();
    status.and_then(|status| serde_json::from_value(status).ok()).unwrap_or_default()
}

fn set_status(definition: &mut Object, status: Value) {
    definition.body.insert("status".to_owned(), status);
}

/// The status before the names are accepted.
fn new_status(spec: &CustomResourceDefinitionSpec) -> Value {
    let stored: Vec<&str> = storage_versions(spec).collect();
    json!({ "conditions": null, "acceptedNames": CustomResourceDefinitionNames::default(), "storedVersions": stored })
}

fn add_stored_version(status: &mut CustomResourceDefinitionStatus, spec: &CustomResourceDefinitionSpec) {
    let stored = status.stored_versions.get_or_insert_default();
    for version in storage_versions(spec) {
        if !stored.iter().any(|known| known == version) {
            stored.push(version.to_owned());
        }
    }
}

fn storage_versions(spec: &CustomResourceDefinitionSpec) -> impl Iterator<Item = &str> {
    spec.versions.iter().filter(|version| version.storage).map(|version| version.name.as_str())
}

/// Sets a condition to `True`; one that is true already keeps its time.
fn set_condition(status: &mut CustomResourceDefinitionStatus, type_: &str, reason: &str, message: &str) {
    let conditions = status.conditions.get_or_insert_default();
    if conditions.iter().any(|condition| condition.type_ == type_ && condition.status == "True") {
        return;
    }
    conditions.retain(|condition| condition.type_ != type_);
    conditions.push(CustomResourceDefinitionCondition {
        last_transition_time: Some(now()),
        message: Some(message.to_owned()),
        observed_generation: None,
        reason: Some(reason.to_owned()),
        status: "True".to_owned(),
        type_: type_.to_owned(),
    });
}
