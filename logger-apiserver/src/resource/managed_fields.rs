//! Field management: ownership of fields, tracked on every write and used by server-side apply.
//!
//! The rules are those of structured-merge-diff as kube-apiserver uses it. A manager owns the fields that it writes; a
//! later write by another manager takes them over; removed fields are not owned. An apply is the complete set of
//! fields of its manager: fields that it no longer contains are removed unless others own them, and fields of others
//! are kept or conflict.

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

use std::collections::BTreeMap;

use k8s_openapi::{
    api::autoscaling::v1::Scale,
    apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta},
};
use serde_json::{Value, json};

use self::{
    check::{Duplicates, check},
    managers::Managers,
    path::fields,
    set::FieldSet,
    types::Type,
    writer::{Failure, Writer},
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
    /// A part of the server itself.
    pub(crate) fn server(kind: &'a Resource, endpoint: &'a Endpoint) -> Self {
        Self { manager: "kube-apiserver", kind, endpoint }
    }
}

/// Updates the managed fields of `new`, which `author` writes in place of `live`.
pub(crate) fn track(author: Author<'_>, live: Option<&Object>, new: &mut Object) {
    let managers = claimed(author, live, new);
    new.metadata.managed_fields = None;
    // Ownership of an object without managers is tracked from its first apply on.
    if live.is_some() && managers.is_empty() {
        return;
    }
    let before = live.map_or_else(|| nothing(author.kind), |live| value(author.kind, live));
    let after = value(author.kind, new);
    let reset = reset_fields(author.kind, author.endpoint);
    let api_version = author.kind.api_version();
    let tracked = writer(author, &api_version, &reset).update(&before, &after, managers);
    // Ownership that cannot be determined is not tracked.
    new.metadata.managed_fields = tracked.ok().and_then(|managers| managers::encode(&managers));
}

/// Applies to an object, or to nothing.
pub(crate) fn apply(author: Author<'_>, live: Option<&Object>, applied: &Value, force: bool) -> Result<Applied> {
    let kind = author.kind;
    check_type(applied, &kind.group, &kind.version, &kind.kind)?;
    let before = live.map_or_else(|| nothing(kind), |live| value(kind, live));
    let reset = reset_fields(kind, author.endpoint);
    let api_version = kind.api_version();
    let writer = writer(author, &api_version, &reset);
    let managers = live.map(stored).unwrap_or_default();
    let (outcome, managers) = apply_with(&writer, &nothing(kind), &before, applied, managers, force)?;
    let mut object = outcome.unwrap_or_else(|| before.clone());
    last_applied::note(author.manager, applied, &mut object);
    let outcome = Some(object).filter(|object| *object != before);
    Ok(Applied { outcome, entries: managers::encode(&managers) })
}

/// What became of an apply.
pub(crate) struct Applied {
    /// The object, before defaults; nothing if the apply changes nothing of it.
    pub(crate) outcome: Option<Value>,
    pub(crate) entries: Option<Entries>,
}

/// A write of the time alone is none: if nothing else is new the times stay.
pub(crate) fn keep_times(new: &mut Object, old: &Object) {
    let untimed = |object: &Object| {
        let mut entries = object.metadata.managed_fields.clone();
        entries.iter_mut().flatten().for_each(|entry| entry.time = None);
        entries
    };
    let entries = &old.metadata.managed_fields;
    if new.metadata.managed_fields == *entries || new.body != old.body || untimed(new) != untimed(old) {
        return;
    }
    let written = std::mem::replace(&mut new.metadata.managed_fields, entries.clone());
    if new.metadata != old.metadata {
        new.metadata.managed_fields = written;
    }
}

/// The entries of an object once `author` writes its Scale, which then has these replicas in place of the others.
pub(crate) fn track_scale(author: Author<'_>, live: &Object, before: i32, after: i32) -> Option<Entries> {
    let parent = stored(live);
    let paths = author.kind.replica_paths();
    let managers = scale::to_scale(&parent, paths);
    // None are left out, as Go leaves zeros out.
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

/// Applies to the Scale of an object and returns what it makes of that, and the object's entries. The real server cannot store
/// what an apply makes of a custom resource's Scale: all it does is to tell conflicts, and to share ownership of replicas that
/// are as wanted already.
pub(crate) fn apply_to_scale(
    author: Author<'_>,
    live: &Object,
    scale: &Scale,
    applied: &Value,
    force: bool,
) -> Result<(Option<Value>, Option<Entries>)> {
    check_type(applied, "autoscaling", "v1", "Scale")?;
    let parent = stored(live);
    let paths = author.kind.replica_paths();
    let managers = scale::to_scale(&parent, paths);
    if author.kind.is_custom && managers.is_empty() {
        return Err(unconvertible("failed to create manager for existing fields: failed to convert live", &json!({})));
    }
    let writer = scale_writer(author);
    let (outcome, managers) = apply_with(&writer, &json!({}), &json!(scale), applied, managers, force)?;
    if author.kind.is_custom && outcome.is_some() {
        return Err(unconvertible("failed to convert new", applied));
    }
    let managers = scale::to_parent(&parent, managers, paths, &author.kind.api_version());
    Ok((outcome, managers::encode(&managers)))
}

fn apply_with(
    writer: &Writer<'_>,
    nothing: &Value,
    live: &Value,
    applied: &Value,
    managers: Managers,
    force: bool,
) -> Result<(Option<Value>, Managers)> {
    let managers = writer
        .before_apply(live, nothing, managers)
        .map_err(|why| ApiError::internal(format!("failed to create manager for existing fields: {why}")))?;
    if applied.pointer("/metadata/managedFields").is_some_and(Value::is_array) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let typed = |value: &Value, duplicates, what: &str| {
        let type_ = writer.types.get(writer.api_version).unwrap_or(&Type::Deduced);
        check(value, type_, duplicates).map_err(|why| {
            ApiError::internal(format!("failed to create typed {what} object ({}): {why}", describe(value)))
        })
    };
    typed(applied, Duplicates::Refused, "patch")?;
    typed(live, Duplicates::Allowed, "live")?;
    writer.apply(live, applied, managers, force).map_err(|failure| match failure {
        Failure::Conflicts(conflicts) => conflicts.refusal(),
        Failure::Broken(why) => ApiError::internal(why),
    })
}

fn writer<'a>(author: Author<'a>, api_version: &'a str, reset: &'a BTreeMap<String, FieldSet>) -> Writer<'a> {
    Writer {
        name: author.manager,
        api_version,
        subresource: match author.endpoint {
            Endpoint::Status => "status",
            Endpoint::Finalize => "finalize",
            Endpoint::Main | Endpoint::Pod(_) | Endpoint::Scale(_) => "",
        },
        types: author.kind.types(),
        reset,
        versions_are_known: author.kind.is_custom,
    }
}

fn scale_writer(author: Author<'_>) -> Writer<'_> {
    static NOTHING: BTreeMap<String, FieldSet> = BTreeMap::new();
    Writer {
        name: author.manager,
        api_version: scale::API_VERSION,
        subresource: "scale",
        types: &scale::TYPES,
        reset: &NOTHING,
        versions_are_known: true,
    }
}

/// Whom the fields belong to before a write: a write to the object itself may say so.
fn claimed(author: Author<'_>, live: Option<&Object>, new: &Object) -> Managers {
    let entries = new.metadata.managed_fields.as_deref();
    if *author.endpoint != Endpoint::Main || entries.is_none() {
        return live.map(stored).unwrap_or_default();
    }
    let entries = entries.unwrap_or_default();
    let is_reset = entries.is_empty() || entries == [ManagedFieldsEntry::default()];
    if is_reset {
        return Managers::new();
    }
    managers::decode(entries).unwrap_or_else(|_| live.map(stored).unwrap_or_default())
}

fn stored(object: &Object) -> Managers {
    let entries = object.metadata.managed_fields.as_deref().unwrap_or_default();
    managers::decode(entries).unwrap_or_default()
}

/// What the endpoint leaves as it is, and so does not own, in each version of the kind.
fn reset_fields(kind: &Resource, endpoint: &Endpoint) -> BTreeMap<String, FieldSet> {
    let set = |names: &[&str]| FieldSet::of(names.iter().map(|name| fields(&[name])));
    match endpoint {
        Endpoint::Main if kind.has_status => [(kind.api_version(), set(&["status"]))].into(),
        Endpoint::Status if kind.is_custom => {
            kind.types().keys().map(|version| (version.clone(), set(&["metadata", "spec"]))).collect()
        }
        Endpoint::Status => {
            let reset = kind.strategy.status_reset_fields.iter().map(|path| fields(path));
            [(kind.api_version(), FieldSet::of(reset.chain([fields(&["spec"])])))].into()
        }
        Endpoint::Main | Endpoint::Finalize | Endpoint::Pod(_) | Endpoint::Scale(_) => BTreeMap::new(),
    }
}

/// An object as ownership sees it: without the entries.
fn value(kind: &Resource, object: &Object) -> Value {
    let metadata = ObjectMeta { managed_fields: None, ..object.metadata.clone() };
    object::json(&metadata, &object.body, &kind.api_version(), &kind.kind)
}

/// What is there before an object is created.
fn nothing(kind: &Resource) -> Value {
    let mut nothing = kind.as_built_in().map_or_else(|| json!({}), |facts| facts.type_info().nothing.clone());
    nothing["apiVersion"] = json!(kind.api_version());
    nothing["kind"] = json!(kind.kind);
    nothing
}

/// What is applied must say that it is of the endpoint's type.
fn check_type(applied: &Value, group: &str, version: &str, kind: &str) -> Result<()> {
    let found = group_version_kind(applied);
    if found == (group.to_owned(), version.to_owned(), kind.to_owned()) {
        return Ok(());
    }
    let (group, version, kind) = found;
    Err(ApiError::bad_request(format!("invalid object type: {group}/{version}, Kind={kind}")))
}

fn unconvertible(what: &str, scale: &Value) -> ApiError {
    let (namespace, name) = (text(&scale["metadata"]["namespace"]), text(&scale["metadata"]["name"]));
    let why = "request to convert CR to an invalid group/version: autoscaling/v1";
    let object = format!("{namespace}/{name}; autoscaling/v1, Kind=Scale");
    ApiError::internal(format!("{what} object ({object}) to proper version: {why}"))
}

/// `namespace/name; group/version, Kind=kind`
pub(crate) fn describe(object: &Value) -> String {
    let (namespace, name) = (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
    let (group, version, kind) = group_version_kind(object);
    format!("{namespace}/{name}; {group}/{version}, Kind={kind}")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What an object says it is; an unreadable `apiVersion` says nothing.
fn group_version_kind(object: &Value) -> (String, String, String) {
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]).to_owned());
    match api_version.split('/').collect::<Vec<_>>().as_slice() {
        [version] => (String::new(), (*version).to_owned(), kind),
        [group, version] => ((*group).to_owned(), (*version).to_owned(), kind),
        _ => Default::default(),
    }
}
