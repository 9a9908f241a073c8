//! Patches: a changed copy of an object, by JSON patch or merge patch

use serde_json::Value;

use crate::status::{Refusal, Result};

const ACCEPTED: &str = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

/// Applies a patch of the given media type to an object's JSON form.
pub(crate) fn apply(content_type: &str, patch: &[u8], object: &mut Value) -> Result<()> {
    match content_type {
        "application/json-patch+json" => json_patch(patch, object),
        "application/merge-patch+json" => merge_patch(patch, object),
        "application/apply-patch+yaml" => Err(Refusal::no_server_side_apply()),
        _ => Err(Refusal::unsupported_media_type(ACCEPTED)),
    }
}

fn json_patch(patch: &[u8], object: &mut Value) -> Result<()> {
    let operations = decode(patch)?;
    if !operations.is_array() {
        return Err(undecodable(format!("{} in place of an array of operations", type_name(&operations))));
    }
    let operations: json_patch::Patch = serde_json::from_value(operations).map_err(|_| Refusal::unprocessable())?;
    json_patch::patch(object, &operations).map_err(|_| Refusal::unprocessable())
}

fn merge_patch(patch: &[u8], object: &mut Value) -> Result<()> {
    let changes = decode(patch)?;
    if !changes.is_object() {
        let found = type_name(&changes);
        return Err(undecodable(format!(
            "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        )));
    }
    json_patch::merge(object, &changes);
    Ok(())
}

fn decode(patch: &[u8]) -> Result<Value> {
    serde_json::from_slice(patch).map_err(undecodable)
}

fn undecodable(why: impl std::fmt::Display) -> Refusal {
    Refusal::bad_request(format!("error decoding patch: {why}"))
}

/// A JSON type as Go's decoder names it.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
