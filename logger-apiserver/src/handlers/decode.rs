//! Objects of requests: from the fields of a body to an object of the endpoint's kind.

mod expected;
mod patched;
pub(crate) mod unknown;

use logger_crd::value::{self, InvalidFields};
use serde_json::{Map, Value};

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::Object,
    },
    handlers::request::ResourceRequest,
    resource::{built_in, managed_fields, registry::Resource},
    wire::body::{self, DecodeError},
};

pub(crate) use expected::Expected;
pub(crate) use patched::patched;

/// Reads the object in the body of a create or an update.
pub(crate) fn object(request: &ResourceRequest) -> Result<Object> {
    let kind = &request.kind;
    body::check_media_type(&request.content_type, kind.is_custom)?;
    let fields = body::fields(&request.content_type, &request.body, &kind.api_version(), &kind.kind);
    let fields = fields.map_err(|mistake| match mistake {
        DecodeError::Unrecognized(why) => body::unrecognized(&kind.kind, &why, &request.body),
        DecodeError::Unreadable(why) => ApiError::bad_request(unhandled(kind, why)),
    })?;
    request.strict_errors.replace(fields.strict_errors);
    of_type(request, fields.fields)
}

/// Makes an object of fields that should be one of the kind.
fn of_type(request: &ResourceRequest, fields: Map<String, Value>) -> Result<Object> {
    let kind = &request.kind;
    unknown::check_other_version(request, &fields)?;
    let is_lenient = request.query.get("fieldValidation") == Some("Ignore");
    check_type(kind, &fields, &request.body, is_lenient)?;
    from_fields(request, fields, request.is_strict(), |why| ApiError::bad_request(unhandled(kind, why)))
}

/// Makes an object of what an apply of this came to. Nulls are left to the rules for objects: who applies one means it.
pub(crate) fn merged(kind: &Resource, outcome: Value, applied: &Value) -> Result<Object> {
    let Value::Object(mut fields) = outcome else {
        return complete(kind, Object::default());
    };
    if let Err(why) = read_built_in(kind, &mut fields) {
        let (group, version, kind_name) = (&kind.group, &kind.version, &kind.kind);
        let object = managed_fields::describe(applied);
        let to = format!("unable to convert unstructured object to {group}/{version}, Kind={kind_name}");
        let why =
            format!("failed to convert new object ({object}) to proper version: {to}: error decoding from json: {why}");
        return Err(ApiError::internal(why));
    }
    let object = Object::from_json(fields).map_err(|error| ApiError::internal(error.to_string()))?;
    complete(kind, object)
}

/// Reads the fields of a built-in kind as its Go struct would be read.
fn read_built_in(kind: &Resource, fields: &mut Map<String, Value>) -> Result<(), String> {
    let Some(schema) = kind.as_built_in().and_then(|facts| facts.type_info().schema.as_ref()) else { return Ok(()) };
    let managers = fields.get("metadata").and_then(|metadata| metadata.get("managedFields"));
    let forgets_managers = managers.and_then(Value::as_array).is_some_and(Vec::is_empty);
    built_in::read(fields, schema)?;
    // Empty lists go when they are read, but this one says something.
    if let Some(metadata) = fields.get_mut("metadata").filter(|_| forgets_managers) {
        metadata["managedFields"] = Value::Array(Vec::new());
    }
    Ok(())
}

fn unhandled(kind: &Resource, why: String) -> String {
    let (version, kind) = (&kind.version, &kind.kind);
    format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}")
}

fn from_fields(
    request: &ResourceRequest,
    mut fields: Map<String, Value>,
    strict: bool,
    refuse: impl Fn(String) -> ApiError,
) -> Result<Object> {
    let kind = &request.kind;
    let (unknown_metadata, unknown_of_struct) = (unknown::of_metadata(&fields), unknown_of_type(kind, &fields));
    let metadata = fields.get("metadata").filter(|_| kind.is_custom);
    if let Some(why) = metadata.and_then(value::metadata_decode_error) {
        return Err(refuse(why));
    }
    read_built_in(kind, &mut fields).map_err(&refuse)?;
    let mut object = Object::from_json(fields).map_err(|error| refuse(error.to_string()))?;
    // Only built-in kinds can tell an empty list of managers, which forgets them, from none.
    if kind.is_custom && object.metadata.managed_fields.as_ref().is_some_and(Vec::is_empty) {
        object.metadata.managed_fields = None;
    }
    let unknown = match kind.schema() {
        Some(schema) => drop_unknown(kind, &mut object, schema, unknown_metadata).map_err(&refuse)?,
        None => unknown_of_struct,
    };
    let mut mistakes = request.strict_errors.take();
    mistakes.extend(unknown.iter().map(unknown::told));
    if strict && !mistakes.is_empty() {
        return Err(refuse(unknown::strict_error(&mistakes)));
    }
    request.warn(&mistakes);
    complete(kind, object)
}

/// Drops what the schema does not know and returns that, beside what was unknown of the metadata.
fn drop_unknown(
    kind: &Resource,
    object: &mut Object,
    schema: &Value,
    unknown_metadata: Vec<String>,
) -> Result<Vec<String>, String> {
    let mut unknown = value::prune(&mut object.body, schema);
    // Of custom objects the metadata is read first, of others all in its order.
    let place = unknown.partition_point(|path| !kind.is_custom && path.as_str() < "metadata");
    unknown.splice(place..place, unknown_metadata);
    value::prune_nulls(&mut object.body, schema);
    if kind.is_custom {
        let inside = value::coerce_embedded_resources(&mut object.body, schema, InvalidFields::Reject);
        unknown.extend(inside.map_err(|finding| finding.to_string())?);
    }
    Ok(unknown)
}

/// Fills in what may be left out.
fn complete(kind: &Resource, mut object: Object) -> Result<Object> {
    kind.strategy.defaults.iter().for_each(|default| default(&mut object.body));
    kind.default(&mut object.body);
    if !kind.namespaced {
        object.metadata.namespace = None;
    }
    (kind.strategy.default)(&mut object)?;
    Ok(object)
}

/// The body's own type must be the endpoint's; built-in kinds may leave it out.
fn check_type(kind: &Resource, fields: &Map<String, Value>, body: &[u8], is_lenient: bool) -> Result<()> {
    let (api_version, kind_name) = (text(fields, "apiVersion"), text(fields, "kind"));
    if kind.is_custom && kind_name.is_empty() {
        let why = format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(body));
        // Who does not want fields validated has the kind of the endpoint assumed, and only then missed.
        return Err(if is_lenient {
            ApiError::bad_request(unhandled(kind, why))
        } else {
            body::unrecognized(&kind.kind, &why, body)
        });
    }
    let expected = kind.api_version();
    if !kind.is_custom {
        return Expected::of(kind).check(fields);
    }
    if api_version != expected {
        let why =
            format!("the API version in the data ({api_version}) does not match the expected API version ({expected})");
        return Err(ApiError::bad_request(why));
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
    kind.as_built_in().map(|facts| (facts.type_info().unknown_fields)(kind, fields)).unwrap_or_default()
}
