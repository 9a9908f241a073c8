//! The subresources of pods that can only be created: `/eviction` and `/binding`.

mod binding;
mod eviction;

use http::Method;
use serde_json::{Value, json};

use crate::{
    api::{
        endpoint::PodSubresource,
        error::{ApiError, Result},
        object::{Object, now},
    },
    handlers::{
        decode::{self, Expected},
        request::ResourceRequest,
    },
    storage::state::State,
};

/// Handles the creation of a subresource of a pod, which is not stored.
pub(crate) fn create(
    state: &mut State,
    method: &Method,
    request: &ResourceRequest,
    subresource: PodSubresource,
) -> Result<()> {
    if *method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    let options = request.write_options("CreateOptions")?;
    let body = decode_body(request, subresource)?;
    let (_, _, kind) = subresource.group_version_kind();
    if body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default() != request.name() {
        return Err(ApiError::bad_request(format!("name in URL does not match name in {kind} object")));
    }
    match subresource {
        PodSubresource::Binding => binding::bind(state, request, &body, options.dry_run)?,
        PodSubresource::Eviction => eviction::evict(state, request, &body, options.dry_run)?,
        PodSubresource::EphemeralContainers => return Err(ApiError::method_not_allowed()),
    }
    Ok(())
}

/// Decodes the body, which may omit its type.
fn decode_body(request: &ResourceRequest, subresource: PodSubresource) -> Result<Value> {
    let (group, version, kind) = subresource.group_version_kind();
    let expected = Expected { group, version, kind };
    let body = decode::unstored(request, expected)?;
    // Evictions in `policy/v1beta1` are accepted as well.
    let is_older = group == "policy" && body.get("apiVersion").is_some_and(|version| version == "policy/v1beta1");
    Expected { version: if is_older { "v1beta1" } else { version }, ..expected }.check(&body)?;
    Ok(Value::Object(body))
}

/// Adds or replaces a condition.
fn set_condition(pod: &mut Object, mut condition: Value) {
    condition["lastTransitionTime"] = json!(now());
    let status = pod.body.entry("status").or_insert_with(|| json!({}));
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else { return };
    match conditions.iter_mut().find(|other| other["type"] == condition["type"]) {
        Some(other) => *other = condition,
        None => conditions.push(condition),
    }
}
