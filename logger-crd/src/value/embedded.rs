//! Kubernetes objects inside values: their `apiVersion`, `kind` and `metadata`.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/objectmeta` of 1.36.

use serde_json::{Map, Value};

use super::{child, metadata};
use crate::{
    finding::Finding,
    names,
    schema::{Additional, Schema},
};

/// All annotations of an object together, in bytes.
const MOST_ANNOTATIONS: usize = 256 << 10;

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

/// What is to become of metadata that Go cannot read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unreadable {
    /// It is an error: so with what is written.
    Refused,
    /// What cannot be read is dropped: so with what is stored.
    Dropped,
}

/// Makes the `metadata` of objects what Go reads of it, and returns the paths of fields that are dropped since none know them.
/// The first wrong type is the error.
pub(crate) fn coerce(
    value: &mut Value,
    schema: Schema<'_>,
    path: &str,
    is_root: bool,
    unreadable: Unreadable,
) -> Result<Vec<String>, Box<Finding>> {
    let mut coercion = Coercion { unreadable, unknown: Vec::new() };
    coercion.value(value, schema, path, is_root)?;
    coercion.unknown.sort_unstable();
    Ok(coercion.unknown)
}

/// As [`coerce`], of the fields of an object whose own metadata is not among them.
pub(super) fn coerce_inside(
    fields: &mut Map<String, Value>,
    schema: Schema<'_>,
    unreadable: Unreadable,
) -> Result<Vec<String>, Box<Finding>> {
    let mut coercion = Coercion { unreadable, unknown: Vec::new() };
    coercion.fields(fields, schema, "")?;
    coercion.unknown.sort_unstable();
    Ok(coercion.unknown)
}

struct Coercion {
    unreadable: Unreadable,
    unknown: Vec<String>,
}

impl Coercion {
    fn value(&mut self, value: &mut Value, schema: Schema<'_>, path: &str, is_root: bool) -> Result<(), Box<Finding>> {
        match value {
            Value::Object(fields) => {
                if is_root || schema.is_embedded() {
                    self.object(fields, path)?;
                }
                self.fields(fields, schema, path)
            }
            Value::Array(items) => {
                let Some(schema) = schema.items() else { return Ok(()) };
                let mut items = items.iter_mut().enumerate();
                items.try_for_each(|(index, item)| self.value(item, schema, &format!("{path}[{index}]"), false))
            }
            _ => Ok(()),
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, schema: Schema<'_>, path: &str) -> Result<(), Box<Finding>> {
        for (name, value) in fields {
            match (schema.property(name), schema.additional()) {
                (Some(property), _) => self.value(value, property, &child(path, name), false)?,
                (None, Some(Additional::Schema(schema))) => {
                    self.value(value, schema, &format!("{path}[{name}]"), false)?
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The type and the metadata of an object.
    fn object(&mut self, fields: &mut Map<String, Value>, path: &str) -> Result<(), Box<Finding>> {
        let is_lenient = self.unreadable == Unreadable::Dropped;
        for name in ["apiVersion", "kind"] {
            let Some(value) = fields.get(name).filter(|value| !value.is_string()) else { continue };
            if !is_lenient {
                return Err(Box::new(Finding::invalid(child(path, name), value.clone(), "must be a string")));
            }
            fields.remove(name);
        }
        let Some(meta) = fields.get_mut("metadata") else { return Ok(()) };
        let at = child(path, "metadata");
        if let Some(why) = metadata::unreadable(meta).filter(|_| !is_lenient) {
            return Err(Box::new(Finding::invalid(at, meta.clone(), why)));
        }
        match meta {
            Value::Object(fields) => {
                let names = fields.keys().filter(|name| !metadata::is_known(name));
                self.unknown.extend(names.map(|name| child(&at, name)));
                *fields = metadata::normal(fields);
            }
            Value::Null => *meta = Value::Object(Map::new()),
            _ => {}
        }
        Ok(())
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
        Some(meta) if metadata::unreadable(meta).is_some() => {
            findings.push(Finding::invalid(at, meta.clone(), metadata::unreadable(meta).unwrap_or_default()));
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
    // A prefix may be a dot: more comes behind it.
    let prefix = text("generateName");
    wrong("generateName", prefix, if prefix.contains(['/', '%']) { names::path_segment(prefix) } else { Vec::new() });
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
    let annotations = meta.get("annotations").and_then(Value::as_object).into_iter().flatten();
    let size: usize = annotations.map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len()).sum();
    if size > MOST_ANNOTATIONS {
        findings.push(Finding::too_long(child(path, "annotations"), MOST_ANNOTATIONS as i64));
    }
    check_lists(meta, path, findings);
    if let Some(generation) = meta.get("generation").and_then(Value::as_i64).filter(|generation| *generation < 0) {
        let why = "must be greater than or equal to 0";
        findings.push(Finding::invalid(child(path, "generation"), generation, why));
    }
}

/// Owners say which they are, and managers how they came to own.
fn check_lists(meta: &Map<String, Value>, path: &str, findings: &mut Vec<Finding>) {
    let items = |name: &str| meta.get(name).and_then(Value::as_array).into_iter().flatten();
    for owner in items("ownerReferences") {
        for name in ["apiVersion", "kind", "name", "uid"] {
            let text = owner.get(name).and_then(Value::as_str).unwrap_or_default();
            let what = if name == "apiVersion" { "version must not be empty" } else { "must not be empty" };
            if text.is_empty() {
                findings.push(Finding::invalid(child(&child(path, "ownerReferences"), name), "", what));
            }
        }
    }
    for (index, entry) in items("managedFields").enumerate() {
        let operation = entry.get("operation").and_then(Value::as_str).unwrap_or_default();
        if !matches!(operation, "Apply" | "Update") {
            let at = format!("{}[{index}].operation", child(path, "managedFields"));
            findings.push(Finding::invalid(at, operation, "must be `Apply` or `Update`"));
        }
    }
}
