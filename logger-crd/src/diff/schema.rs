//! Schemas: types, fields, items, maps and who owns them.

use serde_json::{Map, Value};

use super::Class::{Breaking, Safe, Tightening};
use super::{Found, Pair, keywords, rules, same, texts};

/// What is said of a field that is gone.
pub(super) const GONE: &str =
    "the field is gone: the server drops what clients send of it and what is stored, without an error";

const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const KEPT: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";

pub(super) fn compare<'a>(old: &'a Value, new: &'a Value, path: &str, found: &mut Found<'a>) {
    if same(old, new) {
        return;
    }
    let Some(pair) = Pair::of(old, new) else {
        return found.push(Tightening, or_root(path), "the schema is another", Some(old), Some(new));
    };
    if bare_type(pair.old) != bare_type(pair.new) {
        let what = "the type is another: what clients send is refused, or they cannot decode what they read";
        return found.push_text(Breaking, or_root(path), what, Some(type_name(old)), Some(type_name(new)));
    }
    let at = or_root(path);
    keywords::compare(pair, at, found);
    topology(pair, at, found);
    embedded(pair, at, found);
    unknown_fields(pair, at, found);
    rules::compare(pair, at, found);
    found.around.push(pair.new);
    fields(pair, path, found);
    values(pair, path, found);
    items(pair, path, found);
    found.around.pop();
}

/// The object as a whole has no name.
fn or_root(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// The path of a field; a name that is none in JSON paths stands in brackets.
fn child(path: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_plain) {
        true => format!("{path}.{name}"),
        false => format!("{path}[{name:?}]"),
    }
}

/// The type that values have on the wire; empty for any.
fn bare_type(schema: &Map<String, Value>) -> &str {
    match schema.get(INT_OR_STRING) {
        Some(Value::Bool(true)) => "integer or string",
        _ => schema.get("type").and_then(Value::as_str).unwrap_or_default(),
    }
}

/// The type with its format, for people.
fn type_name(schema: &Value) -> String {
    let Some(fields) = schema.as_object() else { return schema.to_string() };
    let of = match bare_type(fields) {
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
        Some(format) => format!("{of} ({format})"),
        None => of.to_owned(),
    }
}

/// Under server-side apply and merges, these say what is owned and replaced as one.
fn topology(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let word = |schema: &Map<String, Value>, name: &str, default: &'static str| -> String {
        schema.get(name).and_then(Value::as_str).unwrap_or(default).to_owned()
    };
    for (of, name, default, what) in [
        (
            "array",
            "x-kubernetes-list-type",
            "atomic",
            "the list is owned and merged in another way under server-side apply; `set` and `map` refuse repeated items",
        ),
        (
            "object",
            "x-kubernetes-map-type",
            "granular",
            "the object is owned and merged in another way under server-side apply",
        ),
    ] {
        let (old, new) = (word(pair.old, name, default), word(pair.new, name, default));
        if bare_type(pair.old) == of && old != new {
            found.push_text(Breaking, path, what, Some(old), Some(new));
        }
    }
    let keys = "x-kubernetes-list-map-keys";
    let (old, new) = (sorted(pair.old.get(keys)), sorted(pair.new.get(keys)));
    if !old.is_empty() && !new.is_empty() && old != new {
        let what = "items are told apart by other keys under server-side apply, and must not repeat these";
        found.push(Breaking, path, what, pair.old.get(keys), pair.new.get(keys));
    }
}

fn sorted(list: Option<&Value>) -> Vec<&str> {
    let mut texts = texts(list);
    texts.sort_unstable();
    texts
}

fn embedded(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    match pair.flags(EMBEDDED) {
        (false, true) => {
            let what = "the value is a Kubernetes object now: without `apiVersion` and `kind` it is refused";
            found.push(Tightening, path, what, None, None);
        }
        (true, false) if keeps_unknown(pair.new) => {
            found.push(Safe, path, "the value may be something else than a Kubernetes object", None, None);
        }
        (true, false) => {
            let what = "the value is no Kubernetes object any more: its `apiVersion`, `kind` and `metadata` are dropped \
                        unless they are fields";
            found.push(Breaking, path, what, None, None);
        }
        _ => {}
    }
}

fn unknown_fields(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    match pair.flags(KEPT) {
        (true, false) => {
            found.push(
                Breaking,
                path,
                "fields that the schema does not name are dropped, without an error",
                None,
                None,
            );
        }
        (false, true) => {
            let what = "fields that the schema does not name are kept; readers may see some";
            found.push(Safe, path, what, None, None);
        }
        _ => {}
    }
}

fn keeps_unknown(schema: &Map<String, Value>) -> bool {
    schema.get(KEPT) == Some(&Value::Bool(true))
}

fn fields<'a>(pair: Pair<'a>, path: &str, found: &mut Found<'a>) {
    for (name, old_field) in properties(pair.old) {
        let at = child(path, name);
        match (field(pair.new, name), Extra::of(pair.new)) {
            (Some(new_field), _) | (None, Extra::Some(new_field)) => compare(old_field, new_field, &at, found),
            (None, Extra::Any) if has_objects(old_field) => {
                let what =
                    "the field is not described any more: of objects in it every field is dropped, without an error";
                found.push_text(Breaking, &at, what, Some(type_name(old_field)), None);
            }
            (None, Extra::Any) => kept(&at, old_field, found),
            (None, Extra::None) if keeps_unknown(pair.new) => kept(&at, old_field, found),
            (None, Extra::None) => found.push_text(Breaking, &at, GONE, Some(type_name(old_field)), None),
        }
    }
    let required = texts(pair.new.get("required"));
    for (name, new_field) in properties(pair.new).filter(|(name, _)| field(pair.old, name).is_none()) {
        added(pair, name, new_field, required.contains(&name), &child(path, name), found);
    }
    requirements(pair, path, found);
}

/// The named fields of a schema.
fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

fn field<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn kept(path: &str, field: &Value, found: &mut Found<'_>) {
    let what = "the field is not described any more; its values are kept and not checked";
    found.push_text(Safe, path, what, Some(type_name(field)), None);
}

/// A field that was not named before.
fn added<'a>(pair: Pair<'a>, name: &str, field: &'a Value, required: bool, path: &str, found: &mut Found<'a>) {
    let text = Some(type_name(field));
    if required && !has_default(field) {
        let what =
            "the new field must be given and has no default: requests of clients that do not know it are refused";
        return found.push_text(Breaking, path, what, None, text);
    }
    match Extra::of(pair.old) {
        Extra::Some(values) => {
            compare(values, field, path, found);
            if texts(pair.new.get("required")).contains(&name) {
                found.push_text(Safe, path, "the field must be there, and its default is filled in", None, text);
            }
        }
        Extra::None if !keeps_unknown(pair.old) => {
            let counts = has_default(field) && keywords::counts(path, &found.around);
            let what = match has_default(field) {
                _ if counts => "the field is new and its default is filled in, which rules around it may refuse",
                true => "the field is new; its default is filled in wherever it is not given, in stored objects too",
                false => "the field is new and may be left out",
            };
            found.push_text(if counts { Tightening } else { Safe }, path, what, None, text);
        }
        Extra::Any | Extra::None => {
            let what =
                "the field is new, and anything could stand under its name: what is not of its schema is refused";
            found.push_text(Tightening, path, what, None, text);
        }
    }
}

fn has_default(schema: &Value) -> bool {
    schema.get("default").is_some_and(|default| !default.is_null())
}

/// Fields that were there, and must or need not be given now.
fn requirements(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let (old, new) = (texts(pair.old.get("required")), texts(pair.new.get("required")));
    for name in new.iter().filter(|name| !old.contains(name)) {
        match (field(pair.old, name), field(pair.new, name)) {
            // Said of the new field.
            (None, Some(_)) => {}
            (_, Some(schema)) if has_default(schema) => {
                let what = "the field must be there, and its default is filled in where it is not";
                found.push(Safe, &child(path, name), what, None, schema.get("default"));
            }
            _ => {
                let what = "the field must be given and has no default: what was taken without it is refused";
                found.push(Breaking, &child(path, name), what, None, None);
            }
        }
    }
    let is_gone = |name: &str| field(pair.old, name).is_some() && field(pair.new, name).is_none();
    for name in old.iter().filter(|name| !new.contains(name) && !is_gone(name)) {
        let what = "the field may be left out: readers may see objects without it";
        found.push(Safe, &child(path, name), what, None, None);
    }
}

/// What a schema says of fields that it does not name.
#[derive(Clone, Copy)]
enum Extra<'a> {
    None,
    Any,
    Some(&'a Value),
}

impl<'a> Extra<'a> {
    fn of(schema: &'a Map<String, Value>) -> Self {
        match schema.get("additionalProperties") {
            None | Some(Value::Bool(false)) => Extra::None,
            Some(Value::Object(fields)) if fields.is_empty() => Extra::Any,
            Some(values @ Value::Object(_)) => Extra::Some(values),
            Some(_) => Extra::Any,
        }
    }
}

/// The values of a map.
fn values<'a>(pair: Pair<'a>, path: &str, found: &mut Found<'a>) {
    let at = format!("{path}{{}}");
    let text = |values: &Value| Some(type_name(values));
    match (Extra::of(pair.old), Extra::of(pair.new)) {
        (Extra::Some(old), Extra::Some(new)) => compare(old, new, &at, found),
        (Extra::None, Extra::None) | (Extra::Any, Extra::Any) => {}
        (Extra::None, Extra::Any) => {
            found.push(Safe, &at, "any key may have any value; readers may see some", None, None);
        }
        (Extra::None, Extra::Some(new)) if keeps_unknown(pair.old) => {
            let what = "any value was kept, and what is not of this schema is refused";
            found.push_text(Tightening, &at, what, None, text(new));
        }
        (Extra::None, Extra::Some(new)) => {
            found.push_text(Safe, &at, "values under any key are kept; readers may see some", None, text(new));
        }
        (Extra::Some(old), Extra::Any) if has_objects(old) => {
            let what = "values may be of any form, and of objects in them every field is dropped, without an error";
            found.push_text(Breaking, &at, what, text(old), None);
        }
        (Extra::Some(old), Extra::Any) => {
            found.push_text(Safe, &at, "values may be of any form; readers may see others", text(old), None);
        }
        (Extra::Any, Extra::Some(new)) => {
            let what = "values could be of any form: what is not of this schema is refused, and fields that it does not \
                        name are dropped";
            found.push_text(Breaking, &at, what, None, text(new));
        }
        (Extra::Some(_) | Extra::Any, Extra::None) if keeps_unknown(pair.new) => {
            found.push(Safe, &at, "values are not described any more; they are kept and not checked", None, None);
        }
        (Extra::Some(_) | Extra::Any, Extra::None) => {
            let what = "only the fields that the schema names are kept: values under other keys are dropped, without an \
                        error";
            found.push(Breaking, &at, what, None, None);
        }
    }
}

/// Whether objects are among the values; where nothing describes them, the server empties them.
fn has_objects(schema: &Value) -> bool {
    schema["type"] == "object" || schema["type"] == Value::Null || schema.get("items").is_some_and(has_objects)
}

fn items<'a>(pair: Pair<'a>, path: &str, found: &mut Found<'a>) {
    let at = format!("{path}[]");
    match pair.get("items") {
        (Some(old), Some(new)) => compare(old, new, &at, found),
        (None, None) => {}
        (None, Some(new)) => {
            let what = "items were not described, and what is not of this schema is refused";
            found.push_text(Tightening, &at, what, None, Some(type_name(new)));
        }
        (Some(old), None) => {
            found.push_text(Breaking, &at, "items are not described any more", Some(type_name(old)), None);
        }
    }
}
