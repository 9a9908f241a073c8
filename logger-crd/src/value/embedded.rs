//! Kubernetes objects inside values: their `apiVersion`, `kind` and `metadata`.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/objectmeta` of 1.36.

use serde_json::{Map, Value};

use super::child;
use crate::{
    finding::Finding,
    names,
    schema::{Additional, Schema},
};

/// Types of the fields of `metadata`, in the order Go comes to them.
const META: [(&str, Type); 15] = [
    ("annotations", Type::Texts),
    ("creationTimestamp", Type::Time),
    ("deletionGracePeriodSeconds", Type::Integer),
    ("deletionTimestamp", Type::Time),
    ("finalizers", Type::ListOfTexts),
    ("generateName", Type::Text),
    ("generation", Type::Integer),
    ("labels", Type::Texts),
    ("managedFields", Type::List("[]v1.ManagedFieldsEntry")),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("ownerReferences", Type::List("[]v1.OwnerReference")),
    ("resourceVersion", Type::Text),
    ("selfLink", Type::Text),
    ("uid", Type::Uid),
];

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Text,
    Uid,
    Time,
    Integer,
    Texts,
    /// Of this Go type.
    List(&'static str),
    ListOfTexts,
}

impl Type {
    fn is_of(self, value: &Value) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::Text | Self::Uid | Self::Time => value.is_string(),
            Self::Integer => value.is_i64(),
            Self::Texts => {
                value.as_object().is_some_and(|fields| fields.values().all(|v| v.is_string() || v.is_null()))
            }
            Self::List(_) => value.as_array().is_some_and(|items| items.iter().all(|v| v.is_object() || v.is_null())),
            Self::ListOfTexts => {
                value.as_array().is_some_and(|items| items.iter().all(|v| v.is_string() || v.is_null()))
            }
        }
    }

    fn in_go(self) -> &'static str {
        match self {
            Self::Text | Self::Time | Self::Texts | Self::ListOfTexts => "string",
            Self::Uid => "types.UID",
            Self::Integer => "int64",
            Self::List(type_) => type_,
        }
    }
}

/// The rules that a Kubernetes object at `path` breaks, and those inside it.
pub(crate) fn resource(value: &Value, schema: Schema<'_>, path: &str, is_root: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    match value {
        Value::Object(fields) => {
            if is_root || schema.is_embedded() {
                check(fields, path, &mut findings);
            }
            findings.extend(inside(fields, schema, path));
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return findings };
            for (index, item) in items.iter().enumerate() {
                findings.extend(resource(item, schema, &format!("{path}[{index}]"), false));
            }
        }
        _ => {}
    }
    findings
}

/// The rules that objects in these fields break.
pub(super) fn inside(fields: &Map<String, Value>, schema: Schema<'_>, path: &str) -> Vec<Finding> {
    let of_field = |(name, value): (&String, &Value)| match (schema.property(name), schema.additional()) {
        (Some(property), _) => resource(value, property, &child(path, name), false),
        (None, Some(Additional::Schema(schema))) => resource(value, schema, &format!("{path}[{name}]"), false),
        _ => Vec::new(),
    };
    fields.iter().flat_map(of_field).collect()
}

/// Checks types in the `metadata` of objects, and drops what is unknown there. The first wrong type is the answer.
pub(crate) fn coerce(value: &mut Value, schema: Schema<'_>, path: &str, is_root: bool) -> Result<(), Box<Finding>> {
    match value {
        Value::Object(fields) => {
            let is_object = is_root || schema.is_embedded();
            for (name, value) in fields {
                let at = child(path, name);
                if is_object {
                    coerce_meta(name, value, &at)?;
                }
                match (schema.property(name), schema.additional()) {
                    (Some(property), _) => coerce(value, property, &at, false)?,
                    (None, Some(Additional::Schema(schema))) => {
                        coerce(value, schema, &format!("{path}[{name}]"), false)?
                    }
                    _ => {}
                }
            }
            Ok(())
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return Ok(()) };
            let mut items = items.iter_mut().enumerate();
            items.try_for_each(|(index, item)| coerce(item, schema, &format!("{path}[{index}]"), false))
        }
        _ => Ok(()),
    }
}

fn coerce_meta(name: &str, value: &mut Value, at: &str) -> Result<(), Box<Finding>> {
    match (name, value) {
        ("apiVersion" | "kind", value) if !value.is_string() => {
            Err(Box::new(Finding::invalid(at, value.clone(), "must be a string")))
        }
        ("metadata", value) => {
            if let Some(why) = unreadable(value) {
                return Err(Box::new(Finding::invalid(at, value.clone(), why)));
            }
            if let Value::Object(meta) = value {
                meta.retain(|name, value| !value.is_null() && META.iter().any(|(known, _)| known == name));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Why Go cannot read metadata.
pub(super) fn unreadable(meta: &Value) -> Option<String> {
    if meta.is_null() {
        return None;
    }
    let Value::Object(fields) = meta else {
        return Some(format!("json: cannot unmarshal {} into Go value of type v1.ObjectMeta", json_type(meta)));
    };
    let wrong = META.iter().find_map(|(name, type_)| {
        let value = fields.get(*name)?;
        let is_time = *type_ == Type::Time;
        let untimely = value.as_str().filter(|_| is_time).and_then(unreadable_time);
        (untimely.is_some() || !type_.is_of(value)).then_some((name, type_, value, untimely))
    });
    wrong.map(|(name, type_, value, untimely)| {
        if let Some(why) = untimely {
            return why;
        }
        let inner = || match value {
            Value::Object(fields) => fields.values().find(|value| !value.is_string()),
            Value::Array(items) => items.iter().find(|value| !value.is_string()),
            _ => None,
        };
        let (found, go_type) = match (type_, inner()) {
            (Type::Texts | Type::ListOfTexts, Some(inner)) => (inner, type_.in_go()),
            (Type::Texts, None) => (value, "map[string]string"),
            (Type::ListOfTexts, None) => (value, "[]string"),
            _ => (value, type_.in_go()),
        };
        format!("json: cannot unmarshal {} into Go struct field ObjectMeta.{name} of type {go_type}", json_type(found))
    })
}

/// Why Go cannot read a time: the first part of it that is another than in its example.
fn unreadable_time(text: &str) -> Option<String> {
    const EXAMPLE: &str = "2006-01-02T15:04:05Z07:00";
    const PARTS: [&str; 11] = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"];
    let mut rest = text;
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let zone = |rest: &str| {
        let fraction = rest.strip_prefix('.').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        match fraction.unwrap_or(rest).as_bytes() {
            b"Z" => true,
            [b'+' | b'-', hour @ .., b':', m, n] => {
                hour.len() == 2 && [hour, &[*m, *n]].concat().iter().all(u8::is_ascii_digit)
            }
            _ => false,
        }
    };
    let refused = |rest: &str, part: &str| {
        Some(format!("parsing time {text:?} as {EXAMPLE:?}: cannot parse {rest:?} as {part:?}"))
    };
    for part in PARTS {
        let found = rest.get(..part.len());
        if !found.is_some_and(|found| found == part || is_digits(part) && is_digits(found)) {
            return refused(rest, part);
        }
        rest = &rest[part.len()..];
    }
    if zone(rest) { None } else { refused(rest, "Z07:00") }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check(fields: &Map<String, Value>, path: &str, findings: &mut Vec<Finding>) {
    for name in ["apiVersion", "kind"] {
        let at = child(path, name);
        match fields.get(name) {
            None => findings.push(Finding::required(at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                findings.push(Finding::invalid(at, "", "must not be empty"))
            }
            Some(Value::String(text)) => {
                let why = if name == "kind" { wrong_kind(text) } else { wrong_version(text) };
                findings.extend(why.map(|why| Finding::invalid(at, text.as_str(), why)));
            }
            Some(other) => findings.push(Finding::invalid(at, other.clone(), "must be a string")),
        }
    }
    let at = child(path, "metadata");
    match fields.get("metadata") {
        Some(meta) if unreadable(meta).is_some() => {
            findings.push(Finding::invalid(at, meta.clone(), unreadable(meta).unwrap_or_default()));
        }
        Some(Value::Object(meta)) => check_meta(meta, &at, findings),
        _ => {}
    }
}

fn wrong_kind(kind: &str) -> Option<String> {
    let errors = names::dns_1035_label(&kind.to_lowercase());
    let why = || format!("may have mixed case, but should otherwise match: {}", errors.join(","));
    (!errors.is_empty()).then(why)
}

fn wrong_version(version: &str) -> Option<String> {
    (version.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {version}"))
}

fn check_meta(meta: &Map<String, Value>, path: &str, findings: &mut Vec<Finding>) {
    let text = |name: &str| meta.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut wrong = |name: &str, value: &str, errors: Vec<String>| {
        findings.extend(errors.into_iter().map(|why| Finding::invalid(child(path, name), value, why)));
    };
    wrong("generateName", text("generateName"), names::path_segment(text("generateName")));
    wrong("name", text("name"), names::path_segment(text("name")));
    if !text("namespace").is_empty() {
        wrong("namespace", text("namespace"), names::dns_1123_label(text("namespace")));
    }
    for (key, value) in meta.get("labels").and_then(Value::as_object).into_iter().flatten() {
        wrong("labels", key, names::label_key(key));
        let value = value.as_str().unwrap_or_default();
        wrong("labels", value, names::label_value(value));
    }
    for key in meta.get("annotations").and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key) {
        wrong("annotations", key, names::label_key(&key.to_lowercase()));
    }
    for name in meta.get("finalizers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        wrong("finalizers", name, names::label_key(name));
    }
    if let Some(generation) = meta.get("generation").and_then(Value::as_i64).filter(|generation| *generation < 0) {
        let why = "must be greater than or equal to 0";
        findings.push(Finding::invalid(child(path, "generation"), generation, why));
    }
}
