//! Changes of a schema: types, fields, items, maps, and field ownership.

use serde_json::{Map, Value};

use super::{
    Changes,
    Class::{Breaking, Safe, Tightening},
    Pair, keywords, rules, same, strings,
};

/// The description of a removed field.
pub(super) const REMOVED: &str =
    "the field is removed: the server prunes its values in requests and in stored objects, without an error";

const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";

pub(super) fn compare<'a>(old: &'a Value, new: &'a Value, path: &str, changes: &mut Changes<'a>) {
    if same(old, new) {
        return;
    }
    let Some(pair) = Pair::new(old, new) else {
        return changes.push(Tightening, or_root(path), "the schema changed", Some(old), Some(new));
    };
    if json_type(pair.old) != json_type(pair.new) {
        let what = "the type changed: values of clients are rejected, or clients cannot decode values";
        return changes.push_text(Breaking, or_root(path), what, Some(type_name(old)), Some(type_name(new)));
    }
    let at = or_root(path);
    keywords::compare(pair, at, changes);
    topology(pair, at, changes);
    embedded(pair, at, changes);
    unknown_fields(pair, at, changes);
    rules::compare(pair, at, changes);
    changes.enclosing.push(pair.new);
    fields(pair, path, changes);
    map_values(pair, path, changes);
    items(pair, path, changes);
    changes.enclosing.pop();
}

/// Returns the path, or `.` for the root.
pub(super) fn or_root(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// Returns the path of a field. A name that is not valid in a JSON path is in brackets.
pub(super) fn child(path: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_plain) {
        true => format!("{path}.{name}"),
        false => format!("{path}[{name:?}]"),
    }
}

/// Returns the JSON type of values, empty for any type.
fn json_type(schema: &Map<String, Value>) -> &str {
    match schema.get(INT_OR_STRING) {
        Some(Value::Bool(true)) => "integer or string",
        _ => schema.get("type").and_then(Value::as_str).unwrap_or_default(),
    }
}

/// Returns the type with its format, for messages.
pub(super) fn type_name(schema: &Value) -> String {
    let Some(fields) = schema.as_object() else { return schema.to_string() };
    let name = match json_type(fields) {
        "" => "any value",
        "array" => {
            return format!("array of {}", schema.get("items").map_or_else(|| "any value".to_owned(), type_name));
        }
        "object" => match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) => return format!("map of {}", type_name(values)),
            _ => "object",
        },
        name => name,
    };
    match schema.get("format").and_then(Value::as_str) {
        Some(format) => format!("{name} ({format})"),
        None => name.to_owned(),
    }
}

/// Compares the list type, the map type and the keys, which determine field ownership under server-side apply, and
/// merges.
fn topology(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let value = |schema: &Map<String, Value>, name: &str, default: &'static str| -> String {
        schema.get(name).and_then(Value::as_str).unwrap_or(default).to_owned()
    };
    for (type_name, name, default, what) in [
        (
            "array",
            "x-kubernetes-list-type",
            "atomic",
            "server-side apply owns and merges the list differently; `set` and `map` reject duplicate items",
        ),
        ("object", "x-kubernetes-map-type", "granular", "server-side apply owns and merges the object differently"),
    ] {
        let (old, new) = (value(pair.old, name, default), value(pair.new, name, default));
        if json_type(pair.old) == type_name && old != new {
            changes.push_text(Breaking, path, what, Some(old), Some(new));
        }
    }
    let keys = "x-kubernetes-list-map-keys";
    let (old, new) = (sorted(pair.old.get(keys)), sorted(pair.new.get(keys)));
    if !old.is_empty() && !new.is_empty() && old != new {
        let what = "server-side apply identifies items by other keys, which must be unique";
        changes.push(Breaking, path, what, pair.old.get(keys), pair.new.get(keys));
    }
}

fn sorted(list: Option<&Value>) -> Vec<&str> {
    let mut strings = strings(list);
    strings.sort_unstable();
    strings
}

fn embedded(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    match pair.flags(EMBEDDED) {
        (false, true) => {
            let what = "the value must be a Kubernetes object: without `apiVersion` and `kind` it is rejected";
            changes.push(Tightening, path, what, None, None);
        }
        (true, false) if preserves_unknown_fields(pair.new) => {
            changes.push(Safe, path, "the value no longer has to be a Kubernetes object", None, None);
        }
        (true, false) => {
            let what = "the value is no longer a Kubernetes object: its `apiVersion`, `kind` and `metadata` are \
                        pruned unless the schema specifies them";
            changes.push(Breaking, path, what, None, None);
        }
        _ => {}
    }
}

fn unknown_fields(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    match pair.flags(PRESERVE) {
        (true, false) => {
            changes.push(Breaking, path, "unknown fields are pruned, without an error", None, None);
        }
        (false, true) => {
            let what = "unknown fields are preserved; readers can receive them";
            changes.push(Safe, path, what, None, None);
        }
        _ => {}
    }
}

fn preserves_unknown_fields(schema: &Map<String, Value>) -> bool {
    schema.get(PRESERVE) == Some(&Value::Bool(true))
}

fn fields<'a>(pair: Pair<'a>, path: &str, changes: &mut Changes<'a>) {
    for (name, old_field) in properties(pair.old) {
        let at = child(path, name);
        if is_implied(path, name, old_field) && field(pair.new, name).is_none() {
            continue;
        }
        match (field(pair.new, name), Additional::new(pair.new)) {
            (Some(new_field), _) | (None, Additional::Schema(new_field)) => compare(old_field, new_field, &at, changes),
            (None, Additional::Any) if has_objects(old_field) => {
                let what = "the field no longer has a schema: all fields of objects in it are pruned, without an error";
                changes.push_text(Breaking, &at, what, Some(type_name(old_field)), None);
            }
            (None, Additional::Any) => preserved_field(&at, old_field, changes),
            (None, Additional::None) if preserves_unknown_fields(pair.new) => preserved_field(&at, old_field, changes),
            (None, Additional::None) => changes.push_text(Breaking, &at, REMOVED, Some(type_name(old_field)), None),
        }
    }
    let required = strings(pair.new.get("required"));
    let is_added = |name: &str, new: &Value| field(pair.old, name).is_none() && !is_implied(path, name, new);
    for (name, new_field) in properties(pair.new).filter(|(name, new)| is_added(name, new)) {
        added(pair, name, new_field, required.contains(&name), &child(path, name), changes);
    }
    required_fields(pair, path, changes);
}

/// Whether every object has the field, so that the schema of the root need not specify it.
fn is_implied(path: &str, name: &str, field: &Value) -> bool {
    let expected = match (path, name) {
        ("", "apiVersion" | "kind") => "string",
        ("", "metadata") => "object",
        _ => return false,
    };
    let is_documentation = |key: &str| ["description", "title", "example", "externalDocs"].contains(&key);
    field.as_object().is_some_and(|schema| {
        schema.iter().all(|(key, value)| is_documentation(key) || (key == "type" && value == expected))
    })
}

/// Returns the properties of a schema.
pub(super) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

pub(super) fn field<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn preserved_field(path: &str, field: &Value, changes: &mut Changes<'_>) {
    let what = "the field no longer has a schema; its values are preserved and not validated";
    changes.push_text(Safe, path, what, Some(type_name(field)), None);
}

/// Compares an added field.
fn added<'a>(pair: Pair<'a>, name: &str, field: &'a Value, required: bool, path: &str, changes: &mut Changes<'a>) {
    let text = Some(type_name(field));
    if required && !has_default(field) {
        let what = "the new field is required and has no default: requests without it are rejected";
        return changes.push_text(Breaking, path, what, None, text);
    }
    match Additional::new(pair.old) {
        Additional::Schema(values) => {
            compare(values, field, path, changes);
            if strings(pair.new.get("required")).contains(&name) {
                changes.push_text(Safe, path, "the field is required, and has a default", None, text);
            }
        }
        Additional::None if !preserves_unknown_fields(pair.old) => {
            let is_used = has_default(field) && keywords::depends_on(path, &changes.enclosing);
            let what = match has_default(field) {
                _ if is_used => "the field is new and has a default, which enclosing rules can reject",
                true => "the field is new; its default is also set in stored objects",
                false => "the field is new and optional",
            };
            changes.push_text(if is_used { Tightening } else { Safe }, path, what, None, text);
        }
        Additional::Any | Additional::None => {
            let what =
                "the field is new, and could have any value before: values that do not match its schema are rejected";
            changes.push_text(Tightening, path, what, None, text);
        }
    }
}

fn has_default(schema: &Value) -> bool {
    schema.get("default").is_some_and(|default| !default.is_null())
}

/// Compares the required fields.
fn required_fields(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let (old, new) = (strings(pair.old.get("required")), strings(pair.new.get("required")));
    for name in new.iter().filter(|name| !old.contains(name)) {
        match (field(pair.old, name), field(pair.new, name)) {
            // Reported for the new field.
            (None, Some(_)) => {}
            (_, Some(schema)) if has_default(schema) => {
                let what = "the field is required, and has a default";
                changes.push(Safe, &child(path, name), what, None, schema.get("default"));
            }
            _ => {
                let what = "the field is required and has no default: values without it are rejected";
                changes.push(Breaking, &child(path, name), what, None, None);
            }
        }
    }
    let is_gone = |name: &str| field(pair.old, name).is_some() && field(pair.new, name).is_none();
    for name in old.iter().filter(|name| !new.contains(name) && !is_gone(name)) {
        let what = "the field is optional: readers can receive objects without it";
        changes.push(Safe, &child(path, name), what, None, None);
    }
}

/// What a schema specifies for additional fields.
#[derive(Clone, Copy)]
enum Additional<'a> {
    None,
    Any,
    Schema(&'a Value),
}

impl<'a> Additional<'a> {
    fn new(schema: &'a Map<String, Value>) -> Self {
        match schema.get("additionalProperties") {
            None | Some(Value::Bool(false)) => Additional::None,
            Some(Value::Object(fields)) if fields.is_empty() => Additional::Any,
            Some(values @ Value::Object(_)) => Additional::Schema(values),
            Some(_) => Additional::Any,
        }
    }
}

/// Compares the values of a map.
fn map_values<'a>(pair: Pair<'a>, path: &str, changes: &mut Changes<'a>) {
    let at = format!("{path}{{}}");
    let text = |values: &Value| Some(type_name(values));
    match (Additional::new(pair.old), Additional::new(pair.new)) {
        (Additional::Schema(old), Additional::Schema(new)) => compare(old, new, &at, changes),
        (Additional::None, Additional::None) | (Additional::Any, Additional::Any) => {}
        (Additional::None, Additional::Any) => {
            changes.push(
                Safe,
                &at,
                "additional fields with any value are accepted; readers can receive them",
                None,
                None,
            );
        }
        (Additional::None, Additional::Schema(new)) if preserves_unknown_fields(pair.old) => {
            let what = "any value was accepted: values that do not match this schema are rejected";
            changes.push_text(Tightening, &at, what, None, text(new));
        }
        (Additional::None, Additional::Schema(new)) => {
            changes.push_text(Safe, &at, "additional fields are accepted; readers can receive them", None, text(new));
        }
        (Additional::Schema(old), Additional::Any) if has_objects(old) => {
            let what = "values no longer have a schema: all fields of objects in them are pruned, without an error";
            changes.push_text(Breaking, &at, what, text(old), None);
        }
        (Additional::Schema(old), Additional::Any) => {
            changes.push_text(Safe, &at, "values can have any type; readers can receive others", text(old), None);
        }
        (Additional::Any, Additional::Schema(new)) => {
            let what = "values could have any type: values that do not match this schema are rejected, and unknown \
                        fields are pruned";
            changes.push_text(Breaking, &at, what, None, text(new));
        }
        (Additional::Schema(_) | Additional::Any, Additional::None) if preserves_unknown_fields(pair.new) => {
            changes.push(Safe, &at, "values no longer have a schema; they are preserved and not validated", None, None);
        }
        (Additional::Schema(_) | Additional::Any, Additional::None) => {
            let what = "additional fields are pruned, without an error";
            changes.push(Breaking, &at, what, None, None);
        }
    }
}

/// Whether values can contain objects: without a schema, the server prunes all of their fields.
fn has_objects(schema: &Value) -> bool {
    schema["type"] == "object" || schema["type"] == Value::Null || schema.get("items").is_some_and(has_objects)
}

fn items<'a>(pair: Pair<'a>, path: &str, changes: &mut Changes<'a>) {
    let at = format!("{path}[]");
    match pair.get("items") {
        (Some(old), Some(new)) => compare(old, new, &at, changes),
        (None, None) => {}
        (None, Some(new)) => {
            let what = "items had no schema: values that do not match this schema are rejected";
            changes.push_text(Tightening, &at, what, None, Some(type_name(new)));
        }
        (Some(old), None) => {
            changes.push_text(Breaking, &at, "items no longer have a schema", Some(type_name(old)), None);
        }
    }
}
