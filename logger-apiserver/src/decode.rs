//! Objects of requests: from the fields of a body to an object of the endpoint's kind

use logger_crd::value;
use serde_json::{Map, Number, Value, json};

use crate::{
    body::{self, Mistake},
    built_in,
    call::Call,
    definition, go_value,
    kinds::{Family, Kind},
    namespace,
    object::Object,
    patch,
    status::{FieldError, Refusal, Result},
};

/// Reads the object in the body of a create or an update.
pub(crate) fn object(call: &Call) -> Result<Object> {
    let kind = &call.kind;
    body::check_media_type(&call.content_type, kind.is_custom())?;
    let fields = body::fields(&call.content_type, &call.body, &kind.api_version(), &kind.kind);
    let fields = fields.map_err(|mistake| match mistake {
        Mistake::Unrecognized(why) => body::unrecognized(&kind.kind, &why, &call.body),
        Mistake::Unreadable(why) => Refusal::bad_request(unhandled(kind, why)),
    })?;
    of_type(call, fields)
}

/// Makes an object of fields that should be one of the kind.
fn of_type(call: &Call, fields: Map<String, Value>) -> Result<Object> {
    let kind = &call.kind;
    check_unknown_of_another_version(call, &fields)?;
    check_type(kind, &fields, &call.body)?;
    from_fields(call, fields, call.is_strict(), |why| Refusal::bad_request(unhandled(kind, why)))
}

/// Makes an object of a patch's outcome, which may have gained unknown fields or lost its type.
pub(crate) fn patched(call: &Call, outcome: Value) -> Result<Object> {
    let (kind, name) = (&call.kind, call.name());
    let Value::Object(fields) = outcome else {
        return Err(Refusal::unprocessable());
    };
    if call.content_type == patch::STRATEGIC {
        return patched_strategically(call, fields);
    }
    let (api_version, kind_name) = (text(&fields, "apiVersion"), text(&fields, "kind"));
    let wrong = |field: &str, found: &str, expected: &str| {
        let error = FieldError::invalid(field, format!("{found:?}"), format!("must be {expected}"));
        Err(Refusal::invalid_of(kind_name, &kind.group, name, &[error]))
    };
    if kind_name != kind.kind {
        return wrong("kind", kind_name, &kind.kind);
    }
    if api_version != kind.api_version() {
        return wrong("apiVersion", api_version, &kind.api_version());
    }
    // Of a custom kind only metadata can be unreadable: the rest is whatever the schema says.
    let shown = if kind.is_custom() {
        json!({ "metadata": fields.get("metadata") }).to_string()
    } else {
        format!("{:?}", json!(fields).to_string())
    };
    from_fields(call, fields, call.is_strict(), |why| {
        let why = if kind.is_custom() { unhandled(kind, why) } else { why };
        Refusal::invalid_of("", "", "", &[FieldError::invalid("patch", &shown, why)])
    })
}

/// The same, of a strategic patch: the refusal shows the patch, and no patch changes the type.
fn patched_strategically(call: &Call, fields: Map<String, Value>) -> Result<Object> {
    from_fields(call, fields, call.is_strict(), |why| {
        let patch = serde_json::from_slice(&call.body).unwrap_or_default();
        let shown = format!("{:?}", go_value::text(&patch));
        Refusal::invalid_of("", "", "", &[FieldError::invalid("patch", shown, why)])
    })
}

/// Makes an object of what an apply came to. Nulls are left to the rules for objects: who applies one means it.
pub(crate) fn merged(kind: &Kind, outcome: Value) -> Result<Object> {
    let Value::Object(mut fields) = outcome else {
        return complete(kind, Object::default());
    };
    read_built_in(kind, &mut fields).map_err(Refusal::internal)?;
    let object = Object::from_json(fields).map_err(|error| Refusal::internal(error.to_string()))?;
    complete(kind, object)
}

/// Reads the fields of a built-in kind as its Go struct would be read.
fn read_built_in(kind: &Kind, fields: &mut Map<String, Value>) -> Result<(), String> {
    kind.as_built_in().map_or(Ok(()), |facts| built_in::read(fields, &facts.form().schema))
}

fn unhandled(kind: &Kind, why: String) -> String {
    let (version, kind) = (&kind.version, &kind.kind);
    format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}")
}

fn from_fields(
    call: &Call,
    mut fields: Map<String, Value>,
    strict: bool,
    refuse: impl Fn(String) -> Refusal,
) -> Result<Object> {
    let kind = &call.kind;
    let unknown_metadata = unknown_metadata(&fields);
    read_built_in(kind, &mut fields).map_err(&refuse)?;
    let mut object = Object::from_json(fields).map_err(|error| refuse(error.to_string()))?;
    // Only built-in kinds can tell an empty list of managers, which forgets them, from none.
    if kind.is_custom() && object.metadata.managed_fields.as_ref().is_some_and(Vec::is_empty) {
        object.metadata.managed_fields = None;
    }
    if let Some(schema) = kind.schema() {
        let unknown_body = value::prune(&mut object.body, schema);
        // As a struct of Go is read the fields come in order; the metadata of custom objects is read by itself.
        let (first, last) =
            if kind.is_custom() { (unknown_metadata, unknown_body) } else { (unknown_body, unknown_metadata) };
        let unknown = [first, last].concat();
        if strict && !unknown.is_empty() {
            return Err(refuse(strict_error(&unknown)));
        }
        call.warn_of_unknown(&unknown);
        value::drop_nulls(&mut object.body, schema);
    }
    complete(kind, object)
}

fn strict_error(unknown: &[String]) -> String {
    let unknown: Vec<String> = unknown.iter().map(|path| format!("unknown field {path:?}")).collect();
    format!("strict decoding error: {}", unknown.join(", "))
}

/// What is unknown in a body of another version of a custom kind is told by that version's schema, before the body is refused.
fn check_unknown_of_another_version(call: &Call, fields: &Map<String, Value>) -> Result<()> {
    let kind = &call.kind;
    let Some(versions) = kind.versions().filter(|_| text(fields, "kind") == kind.kind) else {
        return Ok(());
    };
    let (group, version) = text(fields, "apiVersion").split_once('/').unwrap_or_default();
    if group != kind.group || version == kind.version {
        return Ok(());
    }
    let mut unknown = unknown_metadata(fields);
    unknown.extend(versions.unknown(version, fields));
    if call.is_strict() && !unknown.is_empty() {
        let name = &kind.kind;
        let why = strict_error(&unknown);
        return Err(Refusal::bad_request(format!(
            "{name} in version {version:?} cannot be handled as a {name}: {why}"
        )));
    }
    call.warn_of_unknown(&unknown);
    Ok(())
}

/// The fields of the metadata that are none.
fn unknown_metadata(fields: &Map<String, Value>) -> Vec<String> {
    const KNOWN: [&str; 15] = [
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
    let metadata = fields.get("metadata").and_then(Value::as_object).into_iter().flatten();
    let unknown = metadata.map(|(name, _)| name).filter(|name| !KNOWN.contains(&name.as_str()));
    unknown.map(|name| format!("metadata.{name}")).collect()
}

/// Fills in what may be left out.
fn complete(kind: &Kind, mut object: Object) -> Result<Object> {
    if let Some(facts) = kind.as_built_in() {
        facts.fill_in(&mut object);
    }
    kind.default(&mut object.body);
    if !kind.namespaced {
        object.metadata.namespace = None;
    }
    match kind.family {
        Family::Namespace => namespace::default(&mut object),
        Family::Definition => definition::default(&mut object)?,
        Family::BuiltIn(_) | Family::Custom { .. } => {}
    }
    Ok(object)
}

/// The body's own type must be the endpoint's; built-in kinds may leave it out.
fn check_type(kind: &Kind, fields: &Map<String, Value>, body: &[u8]) -> Result<()> {
    let (api_version, kind_name) = (text(fields, "apiVersion"), text(fields, "kind"));
    if kind.is_custom() && kind_name.is_empty() {
        let why = format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(body));
        return Err(body::unrecognized(&kind.kind, &why, body));
    }
    let expected = kind.api_version();
    if !kind.is_custom() {
        return check_built_in_type(kind, api_version, kind_name);
    }
    if api_version != expected {
        let why =
            format!("the API version in the data ({api_version}) does not match the expected API version ({expected})");
        return Err(Refusal::bad_request(why));
    }
    if kind_name == kind.kind {
        return Ok(());
    }
    let name = fields.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str);
    let error = FieldError::invalid("kind", format!("{kind_name:?}"), format!("must be {}", kind.kind));
    Err(Refusal::invalid_of(kind_name, &kind.group, name.unwrap_or_default(), &[error]))
}

/// The type of a body for a built-in kind, which may say less than all: what it says is looked up among the types of Go.
fn check_built_in_type(kind: &Kind, api_version: &str, kind_name: &str) -> Result<()> {
    let own = kind.api_version();
    let api_version = if api_version.is_empty() { own.as_str() } else { api_version };
    let kind_name = if kind_name.is_empty() { kind.kind.as_str() } else { kind_name };
    if api_version == own && kind_name == kind.kind {
        return Ok(());
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let is_known =
        built_in::all().any(|known| known.group == group && known.version == version && known.kind == kind_name);
    let expected = &kind.kind;
    let why = if is_known {
        format!("converting ({version}.{kind_name}) to ({}.{expected}): unknown conversion", go_package(&kind.group))
    } else {
        let scheme = "scheme \"pkg/runtime/scheme.go:111\"";
        format!("no kind {kind_name:?} is registered for version {api_version:?} in {scheme}")
    };
    Err(Refusal::bad_request(format!("{kind_name} in version {version:?} cannot be handled as a {expected}: {why}")))
}

/// Where Go has the types of a group.
pub(crate) fn go_package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or(group),
    }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// `5.0` is the integer 5, as it is once Go has read and written it.
pub(crate) fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = whole(number) {
                *number = whole;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn whole(number: &Number) -> Option<Number> {
    /// From here on not every integer is a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT)?;
    format!("{float:.0}").parse::<i64>().ok().map(Number::from)
}
