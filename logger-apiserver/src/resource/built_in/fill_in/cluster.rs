//! What is filled in of nodes and of the bounds of a namespace.

use serde_json::{Value, json};

use super::{Fields, set};
use crate::api::{
    error::Result,
    object::{Object, now},
};

/// The first of several ranges is the one there was before there were several; and what a node has can all be given away.
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

/// Nothing runs on a new node before it says that it is ready.
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

/// A container that asks for nothing may have the most there is; what it is given it has asked for.
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

/// When a volume came into its phase.
pub(in super::super) fn new_volume(volume: &mut Object) -> Result<()> {
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
