//! Decodes patched objects, which may have unknown fields or no type.

use kubewright_crd::value::json_type;
use serde_json::{Map, Value};

use super::{Expected, from_fields, text};
use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        go,
        object::Object,
    },
    handlers::request::ResourceRequest,
    resource::patch,
};

/// Decodes a patched object.
pub(crate) fn patched(request: &ResourceRequest, outcome: Value) -> Result<Object> {
    let Value::Object(fields) = outcome else {
        return Err(ApiError::unprocessable());
    };
    if request.content_type == patch::STRATEGIC {
        return decode_strategic_merge(request, fields);
    }
    let outcome = Value::Object(fields.clone());
    let shown = || outcome.to_string();
    let reject = |detail: String| {
        ApiError::invalid_of("", "", "", &[FieldError::invalid("patch", format!("{:?}", shown()), detail)])
    };
    let type_error = if request.kind.is_custom {
        missing_type(&fields, shown)
    } else {
        Expected::new(&request.kind).type_error(&fields)
    };
    if let Some(detail) = type_error {
        return Err(reject(detail));
    }
    if request.kind.is_custom {
        check_custom_type(request, &fields)?;
    }
    from_fields(request, fields, request.is_strict(), reject)
}

/// Decodes the result of a strategic merge patch, which cannot change the type. Errors show the patch.
fn decode_strategic_merge(request: &ResourceRequest, fields: Map<String, Value>) -> Result<Object> {
    from_fields(request, fields, request.is_strict(), |detail| {
        let patch = serde_json::from_slice(&request.body).unwrap_or_default();
        let shown = format!("{:?}", go::text(&patch));
        ApiError::invalid_of("", "", "", &[FieldError::invalid("patch", shown, detail)])
    })
}

/// Returns the error for a custom object without a type.
fn missing_type(fields: &Map<String, Value>, outcome: impl FnOnce() -> String) -> Option<String> {
    for field in ["apiVersion", "kind"] {
        if let Some(other) = fields.get(field).filter(|value| !value.is_string() && !value.is_null()) {
            let detail = format!("cannot unmarshal {} into Go struct field .{field} of type string", json_type(other));
            return Some(format!("couldn't get version/kind; json parse error: json: {detail}"));
        }
    }
    let api_version = text(fields, "apiVersion");
    if api_version.matches('/').count() > 1 {
        return Some(format!("unexpected GroupVersion string: {api_version}"));
    }
    text(fields, "kind").is_empty().then(|| format!("Object 'Kind' is missing in '{}'", outcome()))
}

/// Rejects a custom object of another kind or version.
fn check_custom_type(request: &ResourceRequest, fields: &Map<String, Value>) -> Result<()> {
    let (kind, (api_version, kind_name)) = (&request.kind, (text(fields, "apiVersion"), text(fields, "kind")));
    if api_version.is_empty() {
        return Err(ApiError::internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'"));
    }
    let expected = [("apiVersion", api_version, kind.api_version()), ("kind", kind_name, kind.kind.clone())];
    let wrong = expected.iter().filter(|(_, found, expected)| found != expected);
    let errors: Vec<FieldError> = wrong
        .map(|(field, found, expected)| {
            FieldError::invalid(*field, format!("{found:?}"), format!("must be {expected}"))
        })
        .collect();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if errors.is_empty() { Ok(()) } else { Err(ApiError::invalid_of(kind_name, group, request.name(), &errors)) }
}
