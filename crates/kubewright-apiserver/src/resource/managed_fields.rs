//! Field management: ownership of fields, tracked on every write and used by server-side apply.
//!
//! The rules are those of structured-merge-diff as kube-apiserver uses it. A manager owns the fields that it writes; a
//! later write by another manager takes them over; removed fields are not owned. An apply is the complete set of
//! fields of its manager: fields that it no longer contains are removed unless others own them, and fields of others
//! are retained or conflict.

mod atomic;
pub(crate) mod built_in;
mod check;
mod collect;
mod compare;
mod conflict;
mod fields_v1;
mod last_applied;
mod managers;
mod merge;
pub(crate) mod path;
mod reconcile;
mod remove;
pub(crate) mod scale;
mod set;
#[cfg(test)]
mod tests;
pub(crate) mod types;
mod writer;

use std::{borrow::Cow, collections::BTreeMap, mem};

use k8s_openapi::{
    api::autoscaling::v1::Scale,
    apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta},
};
use serde_json::{Value, json};

use self::{
    atomic::atomic_paths,
    check::{Duplicates, check},
    managers::Managers,
    merge::merge,
    path::fields,
    set::FieldSet,
    types::Type,
    writer::{Convert, Failure, Writer},
};
use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        object::{self, Object},
    },
    resource::registry::Resource,
};

type Entries = Vec<ManagedFieldsEntry>;

/// The manager, the resource and the endpoint of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Author<'a> {
    pub(crate) manager: &'a str,
    pub(crate) kind: &'a Resource,
    pub(crate) endpoint: &'a Endpoint,
}

impl<'a> Author<'a> {
    /// Returns the author of writes by the server itself.
    pub(crate) fn server(kind: &'a Resource, endpoint: &'a Endpoint) -> Self {
        Self { manager: "kube-apiserver", kind, endpoint }
    }
}

/// Updates the managed fields of `new`, which `author` writes in place of `live`.
pub(crate) fn track(author: Author<'_>, live: Option<&Object>, new: &mut Object) {
    let managers = managers_before(author, live, new);
    new.metadata.managed_fields = None;
    // Ownership of an object without managers is tracked from its first apply on.
    if live.is_some() && managers.is_empty() {
        return;
    }
    let before = live.map_or_else(|| empty_object(author.kind), |live| value(author.kind, live));
    let reset = reset_fields(author.kind, author.endpoint);
    let api_version = author.kind.api_version();
    // The fields are moved and not copied.
    let after = object::json(&new.metadata, mem::take(&mut new.body), &api_version, &author.kind.kind);
    let convert = converter(author.kind);
    let tracked = writer(author, &api_version, &reset, &convert).update(&before, &after, managers);
    new.body = object::body_of(after);
    // Ownership that cannot be determined is not tracked.
    new.metadata.managed_fields = tracked.ok().and_then(|managers| managers::encode(&managers));
}

/// Applies a configuration to an object, or creates the object.
pub(crate) fn apply(author: Author<'_>, live: Option<&Object>, applied: &Value, force: bool) -> Result<Applied> {
    let kind = author.kind;
    check_type(applied, &kind.group, &kind.version, &kind.kind)?;
    let before = live.map_or_else(|| empty_object(kind), |live| value(kind, live));
    let reset = reset_fields(kind, author.endpoint);
    let api_version = kind.api_version();
    let convert = converter(kind);
    let writer = writer(author, &api_version, &reset, &convert);
    let managers = live.map(stored_managers).unwrap_or_default();
    let (outcome, managers) = apply_with(&writer, &empty_object(kind), &before, applied, managers, force)?;
    let mut object = outcome.unwrap_or_else(|| before.clone());
    last_applied::update(author.manager, applied, &mut object);
    let outcome = Some(object).filter(|object| *object != before);
    Ok(Applied { outcome, entries: managers::encode(&managers) })
}

/// Merges an apply configuration into an object without owning its fields, as mutating admission policies do.
///
/// # Errors
/// The configuration does not have the type of the kind, or contains an atomic value, whose other parts it would
/// remove.
pub(crate) fn merge_unowned(kind: &Resource, live: &Value, applied: &Value) -> Result<Value, String> {
    let type_ = kind.types().get(&kind.api_version()).unwrap_or(&Type::Deduced);
    check(applied, type_, Duplicates::Rejected)
        .map_err(|error| format!("failed to convert patch object to typed object: {error}"))?;
    let atomic = atomic_paths(applied, type_);
    if !atomic.is_empty() {
        let paths = atomic.join(", ");
        return Err(format!("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {paths}"));
    }
    let mut live = live.clone();
    let managers = live["metadata"].as_object_mut().and_then(|metadata| metadata.remove("managedFields"));
    check(&live, type_, Duplicates::Allowed)
        .map_err(|error| format!("failed to convert original object to typed object: {error}"))?;
    let mut merged = merge(&live, applied, type_);
    if let (Some(managers), Some(metadata)) = (managers, merged.get_mut("metadata")) {
        metadata["managedFields"] = managers;
    }
    Ok(merged)
}

/// The result of an apply.
pub(crate) struct Applied {
    /// The object before defaulting; `None` if the apply does not change it.
    pub(crate) outcome: Option<Value>,
    pub(crate) entries: Option<Entries>,
}

/// Restores the times of the managed fields if nothing else changes.
pub(crate) fn ignore_timestamp_changes(new: &mut Object, old: &Object) {
    let without_times = |object: &Object| {
        let mut entries = object.metadata.managed_fields.clone();
        entries.iter_mut().flatten().for_each(|entry| entry.time = None);
        entries
    };
    let entries = &old.metadata.managed_fields;
    if new.metadata.managed_fields == *entries || new.body != old.body || without_times(new) != without_times(old) {
        return;
    }
    let written = mem::replace(&mut new.metadata.managed_fields, entries.clone());
    if new.metadata != old.metadata {
        new.metadata.managed_fields = written;
    }
}

/// Returns the entries of an object after `author` changes the replicas of its Scale.
pub(crate) fn track_scale(author: Author<'_>, live: &Object, before: i32, after: i32) -> Option<Entries> {
    let parent = stored_managers(live);
    let paths = author.kind.replica_paths();
    let managers = scale::to_scale(&parent, paths);
    // Go omits zero replicas.
    let value = |replicas: i32| match replicas {
        0 => json!({ "spec": {} }),
        _ => json!({ "spec": { "replicas": replicas } }),
    };
    let tracked = if managers.is_empty() {
        managers
    } else {
        scale_writer(author).update(&value(before), &value(after), managers).unwrap_or_default()
    };
    managers::encode(&scale::to_parent(&parent, tracked, paths, &author.kind.api_version()))
}

/// Applies a configuration to the Scale of an object. Returns the new Scale, if it changes, and the entries of the
/// object. For custom resources, the real server cannot convert a changed Scale: an apply can only conflict, or share
/// the ownership of unchanged replicas.
pub(crate) fn apply_to_scale(
    author: Author<'_>,
    live: &Object,
    scale: &Scale,
    applied: &Value,
    force: bool,
) -> Result<(Option<Value>, Option<Entries>)> {
    check_type(applied, "autoscaling", "v1", "Scale")?;
    let parent = stored_managers(live);
    let paths = author.kind.replica_paths();
    let managers = scale::to_scale(&parent, paths);
    if author.kind.is_custom && managers.is_empty() {
        return Err(conversion_error(
            "failed to create manager for existing fields: failed to convert live",
            &json!({}),
        ));
    }
    let writer = scale_writer(author);
    let (outcome, managers) = apply_with(&writer, &json!({}), &json!(scale), applied, managers, force)?;
    if author.kind.is_custom && outcome.is_some() {
        return Err(conversion_error("failed to convert new", applied));
    }
    let managers = scale::to_parent(&parent, managers, paths, &author.kind.api_version());
    Ok((outcome, managers::encode(&managers)))
}

fn apply_with(
    writer: &Writer<'_>,
    empty_object: &Value,
    live: &Value,
    applied: &Value,
    managers: Managers,
    force: bool,
) -> Result<(Option<Value>, Managers)> {
    let managers = writer
        .before_apply(live, empty_object, managers)
        .map_err(|error| ApiError::internal(format!("failed to create manager for existing fields: {error}")))?;
    if applied.pointer("/metadata/managedFields").is_some_and(Value::is_array) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let typed = |value: &Value, duplicates, what: &str| {
        let type_ = writer.types.get(writer.api_version).unwrap_or(&Type::Deduced);
        check(value, type_, duplicates).map_err(|error| {
            ApiError::internal(format!("failed to create typed {what} object ({}): {error}", describe(value)))
        })
    };
    typed(applied, Duplicates::Rejected, "patch")?;
    typed(live, Duplicates::Allowed, "live")?;
    writer.apply(live, applied, managers, force).map_err(|failure| match failure {
        Failure::Conflicts(conflicts) => conflicts.to_api_error(),
        Failure::Internal(message) => ApiError::internal(message),
    })
}

/// Returns the conversion of objects of a kind.
fn converter(kind: &Resource) -> impl Fn(&Value, &str) -> Result<Value, String> {
    |object, api_version| kind.convert_json(object, api_version).map_err(ApiError::message)
}

fn writer<'a>(
    author: Author<'a>,
    api_version: &'a str,
    reset: &'a BTreeMap<String, FieldSet>,
    convert: &'a Convert<'a>,
) -> Writer<'a> {
    Writer {
        name: author.manager,
        api_version,
        subresource: match author.endpoint {
            Endpoint::Status => "status",
            Endpoint::Finalize => "finalize",
            Endpoint::Approval => "approval",
            Endpoint::Pod(subresource) => subresource.name(),
            Endpoint::Main | Endpoint::Token | Endpoint::Scale(_) => "",
        },
        types: author.kind.types(),
        reset,
        versions_are_known: author.kind.is_custom,
        convert,
    }
}

fn scale_writer(author: Author<'_>) -> Writer<'_> {
    static NO_RESET_FIELDS: BTreeMap<String, FieldSet> = BTreeMap::new();
    Writer {
        name: author.manager,
        api_version: scale::API_VERSION,
        subresource: "scale",
        types: &scale::TYPES,
        reset: &NO_RESET_FIELDS,
        versions_are_known: true,
        // A Scale has one version.
        convert: &|scale, _| Ok(scale.clone()),
    }
}

/// Returns the managers before a write. A write to the main resource can replace or reset them.
fn managers_before(author: Author<'_>, live: Option<&Object>, new: &Object) -> Managers {
    let entries = new.metadata.managed_fields.as_deref();
    if *author.endpoint != Endpoint::Main || entries.is_none() {
        return live.map(stored_managers).unwrap_or_default();
    }
    let entries = entries.unwrap_or_default();
    let is_reset = entries.is_empty() || entries == [ManagedFieldsEntry::default()];
    if is_reset {
        return Managers::new();
    }
    managers::decode(entries).unwrap_or_else(|_| live.map(stored_managers).unwrap_or_default())
}

fn stored_managers(object: &Object) -> Managers {
    let entries = object.metadata.managed_fields.as_deref().unwrap_or_default();
    managers::decode(entries).unwrap_or_default()
}

/// Returns the fields that the endpoint does not change and therefore does not own, by version (`GetResetFields`).
fn reset_fields(kind: &Resource, endpoint: &Endpoint) -> BTreeMap<String, FieldSet> {
    let set = |names: &[&str]| FieldSet::from_paths(names.iter().map(|name| fields(&[name])));
    match endpoint {
        Endpoint::Main if kind.has_status => [(kind.api_version(), set(&["status"]))].into(),
        Endpoint::Status if kind.is_custom => {
            kind.types().keys().map(|version| (version.clone(), set(&["metadata", "spec"]))).collect()
        }
        Endpoint::Status => {
            let reset = kind.strategy.status_reset_fields.iter().map(|path| fields(path));
            [(kind.api_version(), FieldSet::from_paths(reset.chain([fields(&["spec"])])))].into()
        }
        Endpoint::Approval => {
            let reset = [fields(&["spec"]), fields(&["status", "certificate"])];
            [(kind.api_version(), FieldSet::from_paths(reset))].into()
        }
        Endpoint::Main | Endpoint::Finalize | Endpoint::Pod(_) | Endpoint::Token | Endpoint::Scale(_) => {
            BTreeMap::new()
        }
    }
}

/// Returns an object as JSON without managed fields.
fn value(kind: &Resource, object: &Object) -> Value {
    let metadata = without_managed_fields(&object.metadata);
    object::json(&metadata, object.body.clone(), &kind.api_version(), &kind.kind)
}

/// Returns metadata without managed fields, which are larger than all other fields and are not copied.
fn without_managed_fields(metadata: &ObjectMeta) -> Cow<'_, ObjectMeta> {
    if metadata.managed_fields.is_none() {
        return Cow::Borrowed(metadata);
    }
    Cow::Owned(ObjectMeta {
        annotations: metadata.annotations.clone(),
        creation_timestamp: metadata.creation_timestamp.clone(),
        deletion_grace_period_seconds: metadata.deletion_grace_period_seconds,
        deletion_timestamp: metadata.deletion_timestamp.clone(),
        finalizers: metadata.finalizers.clone(),
        generate_name: metadata.generate_name.clone(),
        generation: metadata.generation,
        labels: metadata.labels.clone(),
        managed_fields: None,
        name: metadata.name.clone(),
        namespace: metadata.namespace.clone(),
        owner_references: metadata.owner_references.clone(),
        resource_version: metadata.resource_version.clone(),
        self_link: metadata.self_link.clone(),
        uid: metadata.uid.clone(),
    })
}

/// Returns the empty object of a kind.
fn empty_object(kind: &Resource) -> Value {
    let mut empty_object = kind.as_built_in().map_or_else(|| json!({}), |facts| facts.type_info().empty_object.clone());
    empty_object["apiVersion"] = json!(kind.api_version());
    empty_object["kind"] = json!(kind.kind);
    empty_object
}

/// Validates that an applied configuration has the type of the endpoint.
fn check_type(applied: &Value, group: &str, version: &str, kind: &str) -> Result<()> {
    let found = group_version_kind(applied);
    if found == (group.to_owned(), version.to_owned(), kind.to_owned()) {
        return Ok(());
    }
    let (group, version, kind) = found;
    Err(ApiError::bad_request(format!("invalid object type: {group}/{version}, Kind={kind}")))
}

fn conversion_error(what: &str, scale: &Value) -> ApiError {
    let (namespace, name) = (text(&scale["metadata"]["namespace"]), text(&scale["metadata"]["name"]));
    let reason = "request to convert CR to an invalid group/version: autoscaling/v1";
    let object = format!("{namespace}/{name}; autoscaling/v1, Kind=Scale");
    ApiError::internal(format!("{what} object ({object}) to proper version: {reason}"))
}

/// Formats an object as `namespace/name; group/version, Kind=kind`.
pub(crate) fn describe(object: &Value) -> String {
    let (namespace, name) = (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
    let (group, version, kind) = group_version_kind(object);
    format!("{namespace}/{name}; {group}/{version}, Kind={kind}")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the group, version and kind of an object; all are empty if `apiVersion` is invalid.
fn group_version_kind(object: &Value) -> (String, String, String) {
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]).to_owned());
    match api_version.split('/').collect::<Vec<_>>().as_slice() {
        [version] => (String::new(), (*version).to_owned(), kind),
        [group, version] => ((*group).to_owned(), (*version).to_owned(), kind),
        _ => Default::default(),
    }
}
