//! Validation of built-in kinds beyond their schemas.

mod access;
mod bounds;
mod cluster;
mod configuration;
mod containers;
mod control_plane;
mod ephemeral_containers;
mod events;
mod field_value;
mod formats;
mod handlers;
mod ingresses;
mod network_policies;
mod pod_updates;
mod pods;
mod schedules;
mod selectors;
mod services;
mod storage;
mod workloads;

use serde_json::Value;

use super::BuiltIn;
use crate::{
    api::{endpoint::Endpoint, error::FieldError, object::Object},
    resource::{selector, strategy::Change},
};

pub(super) use access::{cluster_role, cluster_role_binding, role, role_binding};
pub(super) use bounds::{autoscaler, budget};
pub(crate) use cluster::SYSTEM_PRIORITIES;
pub(super) use cluster::{claim, node, priority_class, runtime_class, volume};
pub(super) use configuration::{config_map, lease, secret};
pub(super) use control_plane::certificate_signing_request;
pub(super) use events::{event, new_event};
use field_value::{Errors, FieldValue};
pub(super) use ingresses::ingress;
pub(super) use network_policies::network_policy;
pub(super) use pods::pod;
pub(super) use schedules::cron_job;
pub(super) use services::service;
pub(super) use storage::{csi_driver, csi_storage_capacity, volume_attachment, volume_attributes_class};
pub(super) use workloads::{
    CONTROLLER, daemon_set, deployment, job, pod_template, replica_set, replication_controller, stateful_set,
};

/// Validates an object and, if it replaces another, the update.
pub(crate) fn check(kind: &BuiltIn, endpoint: &Endpoint, object: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if kind.has_scale {
        errors.extend(negative_replicas(object));
    }
    if kind.strategy.selects_its_template {
        errors.extend(selector_mismatch(object));
    }
    if let Some(old) = old.filter(|old| old.field("immutable") == Some(&Value::Bool(true))) {
        errors.extend(immutable_data(object, old));
    }
    if let Some(old) = old {
        errors.extend(
            kind.strategy.immutable.iter().filter_map(|(path, detail)| immutable_field(path, detail, object, old)),
        );
        errors.extend(immutable_spec(kind, object, old));
    }
    kind.strategy.rules.iter().for_each(|rule| rule(&Change { endpoint, object, old }, &mut errors));
    errors
}

fn negative_replicas(object: &Object) -> Option<FieldError> {
    let replicas = object.field("spec.replicas")?.as_i64().filter(|replicas| *replicas < 0)?;
    Some(FieldError::invalid("spec.replicas", replicas, "must be greater than or equal to 0"))
}

/// Validates that the selector of a workload matches the labels of its template.
fn selector_mismatch(object: &Object) -> Option<FieldError> {
    let is_empty = |selector: &Value| selector.as_object().is_some_and(serde_json::Map::is_empty);
    if object.field("spec.selector").is_some_and(is_empty) {
        return None;
    }
    const LABELS: &str = "spec.template.metadata.labels";
    let labels = object.field(LABELS).cloned().unwrap_or_default();
    if object.field("spec.selector").is_some_and(|selector| selector::selects(selector, &labels)) {
        return None;
    }
    Some(FieldError::invalid(LABELS, labels, "`selector` does not match template `labels`"))
}

/// Rejects changes of a `ConfigMap` or `Secret` with `immutable: true`.
fn immutable_data(object: &Object, old: &Object) -> impl Iterator<Item = FieldError> {
    let changed =
        ["immutable", "data", "binaryData"].into_iter().filter(|field| object.field(field) != old.field(field));
    changed.map(|field| FieldError::forbidden(field, "field is immutable when `immutable` is set"))
}

fn immutable_field(path: &str, detail: &str, object: &Object, old: &Object) -> Option<FieldError> {
    let (new, old) = (object.field(path), old.field(path));
    (new != old).then(|| FieldError::invalid(path, new.cloned().unwrap_or_default(), detail))
}

/// Rejects changes of spec fields that are not updatable.
fn immutable_spec(kind: &BuiltIn, object: &Object, old: &Object) -> Option<FieldError> {
    let (last, others) = kind.strategy.updatable.split_last()?;
    let rest = |object: &Object| {
        let mut spec = object.body.get("spec").and_then(Value::as_object).cloned().unwrap_or_default();
        spec.retain(|name, _| !kind.strategy.updatable.contains(&name.as_str()));
        spec
    };
    if rest(object) == rest(old) {
        return None;
    }
    let others: Vec<String> = others.iter().map(|name| format!("'{name}'")).collect();
    let (kind, others) = (kind.kind.to_lowercase(), others.join(", "));
    let detail = format!("updates to {kind} spec for fields other than {others} and '{last}' are forbidden");
    Some(FieldError::forbidden("spec", detail))
}
