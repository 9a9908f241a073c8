//! What is asked of pods through their subresources: to go, and to be on a node.

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
    handlers::{decode::Expected, request::ResourceRequest},
    storage::state::State,
    wire::body::{self, DecodeError},
};

/// Does what is asked of a pod. Such requests are made, and never seen again.
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
    let body = read(request, subresource)?;
    let (_, _, kind) = subresource.group_version_kind();
    if body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default() != request.name() {
        return Err(ApiError::bad_request(format!("name in URL does not match name in {kind} object")));
    }
    match subresource {
        PodSubresource::Binding => binding::bind(state, request, &body, options.dry_run)?,
        PodSubresource::Eviction => eviction::evict(state, request, &body, options.dry_run)?,
    }
    Ok(())
}

/// The body, which may leave out what it is.
fn read(request: &ResourceRequest, subresource: PodSubresource) -> Result<Value> {
    body::check_media_type(&request.content_type, false)?;
    let (group, version, kind) = subresource.group_version_kind();
    let expected = Expected { group, version, kind };
    let fields = body::fields(&request.content_type, &request.body, &expected.api_version(), kind);
    let body = fields.map(|read| read.fields).map_err(|mistake| match mistake {
        DecodeError::Unrecognized(why) => body::unrecognized(kind, &why, &request.body),
        DecodeError::Unreadable(why) => expected.unhandled(kind, version, &why),
    })?;
    // Evictions may be of the version before, too.
    let is_older = group == "policy" && body.get("apiVersion").is_some_and(|said| said == "policy/v1beta1");
    Expected { version: if is_older { "v1beta1" } else { version }, ..expected }.check(&body)?;
    Ok(Value::Object(body))
}

/// Sets a condition of a pod, new or changed.
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
