//! What patches come to: objects that may have gained unknown fields, or lost their type.

use logger_crd::value::json_type;
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

/// Makes an object of a patch's outcome.
pub(crate) fn patched(request: &ResourceRequest, outcome: Value) -> Result<Object> {
    let Value::Object(fields) = outcome else {
        return Err(ApiError::unprocessable());
    };
    if request.content_type == patch::STRATEGIC {
        return strategically(request, fields);
    }
    let outcome = Value::Object(fields.clone());
    let shown = || patch::shown(request.kind.is_custom, &request.body, &outcome);
    let refuse =
        |why: String| ApiError::invalid_of("", "", "", &[FieldError::invalid("patch", format!("{:?}", shown()), why)]);
    let mistake =
        if request.kind.is_custom { no_type(&fields, shown) } else { Expected::of(&request.kind).mistake(&fields) };
    if let Some(why) = mistake {
        return Err(refuse(why));
    }
    if request.kind.is_custom {
        check_custom_type(request, &fields)?;
    }
    from_fields(request, fields, request.is_strict(), refuse)
}

/// The same for a strategic merge patch: the error shows the patch, and a patch cannot change the type.
fn strategically(request: &ResourceRequest, fields: Map<String, Value>) -> Result<Object> {
    from_fields(request, fields, request.is_strict(), |why| {
        let patch = serde_json::from_slice(&request.body).unwrap_or_default();
        let shown = format!("{:?}", go::text(&patch));
        ApiError::invalid_of("", "", "", &[FieldError::invalid("patch", shown, why)])
    })
}

/// Why what should be a custom object has no type at all.
fn no_type(fields: &Map<String, Value>, outcome: impl FnOnce() -> String) -> Option<String> {
    for field in ["apiVersion", "kind"] {
        if let Some(other) = fields.get(field).filter(|value| !value.is_string() && !value.is_null()) {
            let why = format!("cannot unmarshal {} into Go struct field .{field} of type string", json_type(other));
            return Some(format!("couldn't get version/kind; json parse error: json: {why}"));
        }
    }
    let api_version = text(fields, "apiVersion");
    if api_version.matches('/').count() > 1 {
        return Some(format!("unexpected GroupVersion string: {api_version}"));
    }
    text(fields, "kind").is_empty().then(|| format!("Object 'Kind' is missing in '{}'", outcome()))
}

/// A custom object that says it is of another kind or version.
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
