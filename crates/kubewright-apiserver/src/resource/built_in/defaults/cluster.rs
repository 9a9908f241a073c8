//! Defaults of nodes, limit ranges, persistent volumes, volume attributes classes and API services.

use serde_json::{Value, json};

use super::{Fields, set};
use crate::api::{
    error::Result,
    object::{Object, now},
};

/// Sets `podCIDRs` from `podCIDR`, and the allocatable resources from the capacity.
pub(in super::super) fn node(node: &mut Fields) {
    if let Some(spec) = node.get_mut("spec")
        && let Some(range) = spec.get("podCIDR").cloned()
        && spec["podCIDRs"][0] != range
    {
        spec["podCIDRs"] = json!([range]);
    }
    if let Some(status) = node.get_mut("status")
        && let Some(capacity) = status.get("capacity").cloned()
    {
        set(status, "allocatable", capacity);
    }
}

/// Taints a new node as not ready (admission plugin `TaintNodesByCondition`).
pub(in super::super) fn new_node(node: &mut Object) -> Result<()> {
    const KEY: &str = "node.kubernetes.io/not-ready";
    let Some(Value::Object(spec)) = node.body.get_mut("spec") else {
        return Ok(());
    };
    let taints = spec.entry("taints").or_insert_with(|| json!([])).as_array_mut();
    if let Some(taints) = taints.filter(|taints| taints.iter().all(|taint| taint["key"] != KEY)) {
        taints.push(json!({ "key": KEY, "effect": "NoSchedule" }));
    }
    Ok(())
}

/// Sets the default limits of containers from the maximum, and their default requests from the default limits or the
/// minimum.
pub(in super::super) fn limit_range(range: &mut Fields) {
    let limits = range.get_mut("spec").and_then(|spec| spec.get_mut("limits")).and_then(Value::as_array_mut);
    for limit in limits.into_iter().flatten().filter(|limit| limit["type"] == "Container") {
        for (to, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
            let Some(Value::Object(values)) = limit.get(from).cloned() else { continue };
            set(limit, to, json!({}));
            values.into_iter().for_each(|(resource, value)| set(&mut limit[to], &resource, value));
        }
    }
}

/// Protects a new object from deletion while it is used, by its finalizer (admission plugin
/// `StorageObjectInUseProtection`).
fn protect(object: &mut Object, finalizer: &str) {
    let finalizers = object.metadata.finalizers.get_or_insert_default();
    if finalizers.iter().all(|other| other != finalizer) {
        finalizers.push(finalizer.to_owned());
    }
}

pub(in super::super) fn new_attributes_class(class: &mut Object) -> Result<()> {
    protect(class, "kubernetes.io/vac-protection");
    Ok(())
}

pub(in super::super) fn new_claim(claim: &mut Object) -> Result<()> {
    protect(claim, "kubernetes.io/pvc-protection");
    Ok(())
}

/// Protects a new volume, and sets the time of the last phase transition.
pub(in super::super) fn new_volume(volume: &mut Object) -> Result<()> {
    protect(volume, "kubernetes.io/pv-protection");
    volume.body.insert("status".to_owned(), json!({ "lastPhaseTransitionTime": now() }));
    Ok(())
}

pub(in super::super) fn volume_changed(volume: &mut Object, old: &Object) {
    if volume.field("status.phase") != old.field("status.phase")
        && let Some(status) = volume.body.get_mut("status")
    {
        status["lastPhaseTransitionTime"] = json!(now());
    }
}
