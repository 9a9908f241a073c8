//! Decodes request bodies as objects of the endpoint's kind.

mod expected;
mod patched;
pub(crate) mod unknown;

use std::mem;

use kubewright_crd::value::{self, InvalidFields};
use serde_json::{Map, Value};

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::Object,
    },
    handlers::request::ResourceRequest,
    resource::{
        admission_policy,
        built_in::{self, BuiltIn},
        managed_fields,
        registry::Resource,
    },
    wire::body::{self, DecodeError},
};

pub(crate) use expected::Expected;
pub(crate) use patched::patched;

/// Decodes the object in the body of a create or an update.
pub(crate) fn object(request: &ResourceRequest) -> Result<Object> {
    let kind = &request.kind;
    body::check_media_type(&request.content_type, kind.is_custom)?;
    let fields = body::fields(&request.content_type, &request.body, &kind.api_version(), &kind.kind);
    let fields = fields.map_err(|error| match error {
        DecodeError::Unrecognized(detail) => body::unrecognized(&kind.kind, &detail, &request.body),
        DecodeError::Unreadable(detail) => ApiError::bad_request(unhandled(kind, detail)),
    })?;
    typed_object(request, fields)
}

/// Decodes the fields of a body that is not an object of the kind and is not stored. It may omit its type, which the
/// caller checks.
pub(crate) fn unstored(request: &ResourceRequest, expected: Expected<'_>) -> Result<Map<String, Value>> {
    body::check_media_type(&request.content_type, false)?;
    let kind = expected.kind;
    let fields = body::fields(&request.content_type, &request.body, &expected.api_version(), kind);
    fields.map_err(|error| match error {
        DecodeError::Unrecognized(detail) => body::unrecognized(kind, &detail, &request.body),
        DecodeError::Unreadable(detail) => expected.unhandled(kind, expected.version, &detail),
    })
}

/// Decodes an object of the kind, and rejects objects of other types.
fn typed_object(request: &ResourceRequest, fields: Map<String, Value>) -> Result<Object> {
    let kind = &request.kind;
    unknown::check_other_version(request, &fields)?;
    let is_lenient = request.query.get("fieldValidation") == Some("Ignore");
    check_type(kind, &fields, &request.body, is_lenient)?;
    from_fields(request, fields, request.is_strict(), |detail| ApiError::bad_request(unhandled(kind, detail)))
}

/// Decodes the result of an apply. Applied nulls are preserved, and validated with the object.
pub(crate) fn merged(kind: &Resource, outcome: Value, applied: &Value) -> Result<Object> {
    let Value::Object(mut fields) = outcome else {
        return apply_defaults(kind, Object::default());
    };
    if let Err(detail) = decode_built_in(kind, &mut fields) {
        let (group, version, kind_name) = (&kind.group, &kind.version, &kind.kind);
        let object = managed_fields::describe(applied);
        let to = format!("unable to convert unstructured object to {group}/{version}, Kind={kind_name}");
        let detail = format!(
            "failed to convert new object ({object}) to proper version: {to}: error decoding from json: {detail}"
        );
        return Err(ApiError::internal(detail));
    }
    let object = Object::from_json(fields).map_err(|error| ApiError::internal(error.to_string()))?;
    apply_defaults(kind, object)
}

/// Decodes an object that a webhook has changed, and applies the defaults again.
pub(crate) fn mutated(kind: &Resource, outcome: Value) -> Result<Object> {
    let Value::Object(mut fields) = outcome else {
        return Err(ApiError::internal_error("the patch of a webhook replaced the object"));
    };
    decode_built_in(kind, &mut fields).map_err(|detail| ApiError::internal_error(&detail))?;
    let object = Object::from_json(fields).map_err(|error| ApiError::internal_error(&error.to_string()))?;
    apply_defaults(kind, object)
}

/// Decodes the fields of a built-in kind as those of its Go struct.
fn decode_built_in(kind: &Resource, fields: &mut Map<String, Value>) -> Result<(), String> {
    let Some(info) = kind.as_built_in().map(BuiltIn::type_info) else { return Ok(()) };
    if let Some(schema) = &info.schema {
        built_in::check_types(fields, schema)?;
    }
    let managers = fields.get("metadata").and_then(|metadata| metadata.get("managedFields"));
    let resets_managers = managers.and_then(Value::as_array).is_some_and(Vec::is_empty);
    if let Some(type_) = info.go_type {
        info.storage_encoding.normalize(fields, type_);
    }
    // Normalizing drops empty lists, but an empty list of managers resets them.
    if let Some(metadata) = fields.get_mut("metadata").filter(|_| resets_managers) {
        metadata["managedFields"] = Value::Array(Vec::new());
    }
    Ok(())
}

fn unhandled(kind: &Resource, detail: String) -> String {
    let (version, kind) = (&kind.version, &kind.kind);
    format!("{kind} in version {version:?} cannot be handled as a {kind}: {detail}")
}

fn from_fields(
    request: &ResourceRequest,
    mut fields: Map<String, Value>,
    strict: bool,
    reject: impl Fn(String) -> ApiError,
) -> Result<Object> {
    let kind = &request.kind;
    let (unknown_metadata, unknown_fields) = (unknown::of_metadata(&fields), unknown_of_type(kind, &fields));
    let metadata = fields.get("metadata").filter(|_| kind.is_custom);
    if let Some(detail) = metadata.and_then(value::metadata_decode_error) {
        return Err(reject(detail));
    }
    decode_built_in(kind, &mut fields).map_err(&reject)?;
    let mut object = Object::from_json(fields).map_err(|error| reject(error.to_string()))?;
    // Only built-in kinds distinguish an empty list of managers, which resets them, from a missing one.
    if kind.is_custom && object.metadata.managed_fields.as_ref().is_some_and(Vec::is_empty) {
        object.metadata.managed_fields = None;
    }
    let unknown = match kind.schema() {
        Some(schema) => drop_unknown(kind, &mut object, schema, unknown_metadata).map_err(&reject)?,
        None => unknown_fields,
    };
    let mut strict_errors = mem::take(&mut *request.strict_errors.lock());
    strict_errors.extend(unknown.iter().map(unknown::format_error));
    if strict && !strict_errors.is_empty() {
        return Err(reject(unknown::strict_error(&strict_errors)));
    }
    request.warn(&strict_errors);
    apply_defaults(kind, object)
}

/// Prunes fields that are not in the schema, and returns them together with the unknown fields of the metadata.
fn drop_unknown(
    kind: &Resource,
    object: &mut Object,
    schema: &Value,
    unknown_metadata: Vec<String>,
) -> Result<Vec<String>, String> {
    let mut unknown = value::prune(&mut object.body, schema);
    // The metadata of custom objects is decoded first; the fields of other objects are decoded in order.
    let index = unknown.partition_point(|path| !kind.is_custom && path.as_str() < "metadata");
    unknown.splice(index..index, unknown_metadata);
    value::prune_nulls(&mut object.body, schema);
    if kind.is_custom {
        let embedded = value::coerce_embedded_resources(&mut object.body, schema, InvalidFields::Reject);
        unknown.extend(embedded.map_err(|error| error.to_string())?);
    }
    Ok(unknown)
}

/// Applies the defaults of the kind.
fn apply_defaults(kind: &Resource, mut object: Object) -> Result<Object> {
    kind.strategy.defaults.iter().for_each(|default| default(&mut object.body));
    admission_policy::default(kind, &mut object.body);
    kind.default(&mut object.body)?;
    if !kind.namespaced {
        object.metadata.namespace = None;
    }
    (kind.strategy.default)(&mut object)?;
    Ok(object)
}

/// Rejects a body of another type than the endpoint's. The body of a built-in kind may omit the type.
fn check_type(kind: &Resource, fields: &Map<String, Value>, body: &[u8], is_lenient: bool) -> Result<()> {
    let (api_version, kind_name) = (text(fields, "apiVersion"), text(fields, "kind"));
    if kind.is_custom && kind_name.is_empty() {
        let detail = format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(body));
        // Without field validation, the kind defaults to that of the endpoint and is reported as missing afterwards.
        return Err(if is_lenient {
            ApiError::bad_request(unhandled(kind, detail))
        } else {
            body::unrecognized(&kind.kind, &detail, body)
        });
    }
    let expected = kind.api_version();
    if !kind.is_custom {
        return Expected::new(kind).check(fields);
    }
    if api_version != expected {
        let detail =
            format!("the API version in the data ({api_version}) does not match the expected API version ({expected})");
        return Err(ApiError::bad_request(detail));
    }
    if kind_name == kind.kind {
        return Ok(());
    }
    let name = fields.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str);
    let error = FieldError::invalid("kind", format!("{kind_name:?}"), format!("must be {}", kind.kind));
    Err(ApiError::invalid_of(kind_name, &kind.group, name.unwrap_or_default(), &[error]))
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the fields that the type of a built-in kind without a schema does not have.
fn unknown_of_type(kind: &Resource, fields: &Map<String, Value>) -> Vec<String> {
    kind.as_built_in().map(|built_in_kind| (built_in_kind.type_info().unknown_fields)(kind, fields)).unwrap_or_default()
}
