//! Pod bindings. A pod is bound at most once.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::set_condition;
use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::Object,
    },
    handlers::request::ResourceRequest,
    resource::topology,
    storage::state::State,
};

/// Binds a pod to the node that the binding names.
pub(super) fn bind(state: &mut State, request: &ResourceRequest, binding: &Value, dry_run: bool) -> Result<()> {
    let target = target(binding)?;
    let old = request.existing(state)?;
    let mut pod = Object::clone(&old);
    check_bindable(&pod, request.name())?;
    let annotations = binding.pointer("/metadata/annotations").and_then(Value::as_object).into_iter().flatten();
    for (name, value) in annotations {
        let value = value.as_str().unwrap_or_default().to_owned();
        pod.metadata.annotations.get_or_insert_default().insert(name.clone(), value);
    }
    let labels = labels(state, binding, target);
    if !labels.is_empty() {
        pod.metadata.labels.get_or_insert_default().extend(labels);
    }
    if let Some(Value::Object(spec)) = pod.body.get_mut("spec") {
        spec.insert("nodeName".to_owned(), json!(target));
    }
    set_condition(&mut pod, json!({ "type": "PodScheduled", "status": "True" }));
    request.kind.default_built_in(&mut pod.body);
    if !dry_run {
        state.store.put(&request.kind.group_resource(), pod);
    }
    Ok(())
}

/// Returns the new labels of a pod: the labels of the binding, and the topology of its target if that is declared to be
/// a node (`PodTopologyLabels`).
fn labels(state: &State, binding: &Value, node: &str) -> BTreeMap<String, String> {
    let declared = binding.pointer("/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    let declared = declared.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let is_node = binding["target"]["kind"] == "Node";
    declared.chain(is_node.then(|| topology::labels(&state.store, node)).into_iter().flatten()).collect()
}

/// Returns the name of the node. Other targets are rejected.
fn target(binding: &Value) -> Result<&str> {
    let text = |field: &str| binding["target"][field].as_str().unwrap_or_default();
    let error = match (text("kind"), text("name")) {
        ("" | "Node", "") => FieldError::required("target.name", ""),
        ("" | "Node", name) => return Ok(name),
        (kind, _) => {
            FieldError::unsupported("target.kind", format!("{kind:?}"), &["Node".to_owned(), "<empty>".to_owned()])
        }
    };
    Err(ApiError::internal(error.to_string()))
}

fn check_bindable(pod: &Object, name: &str) -> Result<()> {
    if pod.is_terminating() {
        return Err(ApiError::not_bound(name, &format!("pod {name} is being deleted, cannot be assigned to a host")));
    }
    if let Some(node) = pod.field("spec.nodeName").and_then(Value::as_str).filter(|node| !node.is_empty()) {
        return Err(ApiError::not_bound(name, &format!("pod {name} is already assigned to node {node:?}")));
    }
    if pod.field("spec.schedulingGates").is_some_and(|gates| gates.as_array().is_some_and(|gates| !gates.is_empty())) {
        return Err(ApiError::not_bound(name, &format!("pod {name} has non-empty .spec.schedulingGates")));
    }
    Ok(())
}
