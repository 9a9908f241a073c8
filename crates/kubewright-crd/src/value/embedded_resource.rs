//! Embedded resources: the `apiVersion`, `kind` and `metadata` of Kubernetes objects inside values.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/objectmeta` of 1.36.

use kubewright_names::validation as names;
use serde_json::{Map, Value};

use super::{child, object_meta, position::Position};
use crate::{
    field::{ErrorList, FieldError, PathList},
    schema::{Additional, Schema},
};

/// The maximum total size of the annotations of an object, in bytes.
const MAX_ANNOTATIONS_SIZE: usize = 256 << 10;

/// Validates the Kubernetes object at `path`, and the objects embedded in it.
pub(crate) fn validate_resource(value: &Value, schema: Schema<'_>, path: &str, is_root: bool) -> Vec<FieldError> {
    let mut errors = ErrorList::default();
    validate_value(value, schema, &Position::Path(path), is_root, &mut errors);
    errors.into_vec()
}

/// Validates the objects embedded in these fields.
pub(super) fn validate_fields(fields: &Map<String, Value>, schema: Schema<'_>, path: &str) -> Vec<FieldError> {
    let mut errors = ErrorList::default();
    validate_nested(fields, schema, &Position::Path(path), &mut errors);
    errors.into_vec()
}

fn validate_value(value: &Value, schema: Schema<'_>, position: &Position<'_>, is_root: bool, errors: &mut ErrorList) {
    match value {
        Value::Object(fields) => {
            if is_root || schema.is_embedded_resource() {
                validate_object(fields, &position.path(), errors);
            }
            validate_nested(fields, schema, position, errors);
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for (index, value) in items.iter().enumerate() {
                validate_value(value, schema, &Position::Item(position, index), false, errors);
            }
        }
        _ => {}
    }
}

fn validate_nested(fields: &Map<String, Value>, schema: Schema<'_>, position: &Position<'_>, errors: &mut ErrorList) {
    for (name, value) in fields {
        match (schema.property(name), schema.additional()) {
            (Some(property), _) => validate_value(value, property, &Position::Field(position, name), false, errors),
            (None, Some(Additional::Schema(schema))) => {
                validate_value(value, schema, &Position::Entry(position, name), false, errors);
            }
            _ => {}
        }
    }
}

/// How metadata fields of a wrong type are handled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidFields {
    /// They are an error, as in objects that are written.
    Reject,
    /// They are dropped, as in objects that are read from storage.
    Drop,
}

/// Normalizes the `metadata` of the object and of the objects embedded in it, as if Go had decoded and encoded it.
/// Returns the paths of the unknown fields that are dropped, or the first field of a wrong type.
pub(crate) fn coerce(
    value: &mut Value,
    schema: Schema<'_>,
    path: &str,
    is_root: bool,
    invalid_fields: InvalidFields,
) -> Result<Vec<String>, Box<FieldError>> {
    let mut coercion = Coercion { invalid_fields, unknown: PathList::default() };
    coercion.value(value, schema, &Position::Path(path), is_root)?;
    Ok(coercion.unknown.into_sorted())
}

/// Like [`coerce`], for the fields of an object without its own metadata.
pub(super) fn coerce_fields(
    fields: &mut Map<String, Value>,
    schema: Schema<'_>,
    invalid_fields: InvalidFields,
) -> Result<Vec<String>, Box<FieldError>> {
    let mut coercion = Coercion { invalid_fields, unknown: PathList::default() };
    coercion.fields(fields, schema, &Position::Path(""))?;
    Ok(coercion.unknown.into_sorted())
}

struct Coercion {
    invalid_fields: InvalidFields,
    unknown: PathList,
}

type CoercionResult = Result<(), Box<FieldError>>;

impl Coercion {
    fn value(
        &mut self,
        value: &mut Value,
        schema: Schema<'_>,
        position: &Position<'_>,
        is_root: bool,
    ) -> CoercionResult {
        match value {
            Value::Object(fields) => {
                if is_root || schema.is_embedded_resource() {
                    self.object(fields, &position.path())?;
                }
                self.fields(fields, schema, position)
            }
            Value::Array(items) => {
                let Some(schema) = schema.items() else { return Ok(()) };
                let mut items = items.iter_mut().enumerate();
                items.try_for_each(|(index, value)| self.value(value, schema, &Position::Item(position, index), false))
            }
            _ => Ok(()),
        }
    }

    fn fields(
        &mut self,
        fields: &mut Map<String, Value>,
        schema: Schema<'_>,
        position: &Position<'_>,
    ) -> CoercionResult {
        for (name, value) in fields {
            match (schema.property(name), schema.additional()) {
                (Some(property), _) => self.value(value, property, &Position::Field(position, name), false)?,
                (None, Some(Additional::Schema(schema))) => {
                    self.value(value, schema, &Position::Entry(position, name), false)?
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Coerces the type and the metadata of an object.
    fn object(&mut self, fields: &mut Map<String, Value>, path: &str) -> CoercionResult {
        let drops_invalid = self.invalid_fields == InvalidFields::Drop;
        for name in ["apiVersion", "kind"] {
            let Some(value) = fields.get(name).filter(|value| !value.is_string()) else { continue };
            if !drops_invalid {
                return Err(Box::new(FieldError::invalid(child(path, name), value.clone(), "must be a string")));
            }
            fields.remove(name);
        }
        let Some(meta) = fields.get_mut("metadata") else { return Ok(()) };
        let at = child(path, "metadata");
        if let Some(detail) = object_meta::decode_error(meta).filter(|_| !drops_invalid) {
            return Err(Box::new(FieldError::invalid(at, meta.clone(), detail)));
        }
        match meta {
            Value::Object(fields) => {
                let unknown = fields.keys().filter(|name| !object_meta::is_known(name));
                unknown.for_each(|name| self.unknown.push_with(|| child(&at, name)));
                *fields = object_meta::round_trip(fields);
            }
            Value::Null => *meta = Value::Object(Map::new()),
            _ => {}
        }
        Ok(())
    }
}

fn validate_object(fields: &Map<String, Value>, path: &str, errors: &mut ErrorList) {
    for name in ["apiVersion", "kind"] {
        let at = child(path, name);
        match fields.get(name) {
            None => errors.push(FieldError::required(at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(FieldError::invalid(at, "", "must not be empty"))
            }
            Some(Value::String(text)) => {
                let detail = if name == "kind" { invalid_kind(text) } else { invalid_api_version(text) };
                errors.extend(detail.map(|detail| FieldError::invalid(at, text.as_str(), detail)));
            }
            Some(other) => errors.push(FieldError::invalid(at, other.clone(), "must be a string")),
        }
    }
    let at = child(path, "metadata");
    match fields.get("metadata") {
        Some(meta) if object_meta::decode_error(meta).is_some() => {
            let detail = object_meta::decode_error(meta).unwrap_or_default();
            errors.push(FieldError::invalid(at, meta.clone(), detail));
        }
        Some(Value::Object(meta)) => validate_metadata(meta, &at, errors),
        _ => {}
    }
}

fn invalid_kind(kind: &str) -> Option<String> {
    let messages = names::dns_1035_label(&kind.to_lowercase());
    let detail = || format!("may have mixed case, but should otherwise match: {}", messages.join(","));
    (!messages.is_empty()).then(detail)
}

fn invalid_api_version(version: &str) -> Option<String> {
    (version.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {version}"))
}

fn validate_metadata(meta: &Map<String, Value>, path: &str, errors: &mut ErrorList) {
    let text = |name: &str| meta.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut invalid = |name: &str, value: &str, messages: Vec<String>| {
        errors.extend(messages.into_iter().map(|detail| FieldError::invalid(child(path, name), value, detail)));
    };
    // Unlike a name, a prefix can be `.` or `..`, because a suffix is appended.
    let prefix = text("generateName");
    invalid("generateName", prefix, if prefix.contains(['/', '%']) { names::path_segment(prefix) } else { Vec::new() });
    invalid("name", text("name"), names::path_segment(text("name")));
    if !text("namespace").is_empty() {
        invalid("namespace", text("namespace"), names::dns_1123_label(text("namespace")));
    }
    for (key, value) in meta.get("labels").and_then(Value::as_object).into_iter().flatten() {
        invalid("labels", key, names::label_key(key));
        let value = value.as_str().unwrap_or_default();
        invalid("labels", value, names::label_value(value));
    }
    for key in meta.get("annotations").and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key) {
        invalid("annotations", key, names::label_key(&key.to_lowercase()));
    }
    for name in meta.get("finalizers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        invalid("finalizers", name, names::label_key(name));
    }
    let annotations = meta.get("annotations").and_then(Value::as_object).into_iter().flatten();
    let size: usize = annotations.map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len()).sum();
    if size > MAX_ANNOTATIONS_SIZE {
        errors.push(FieldError::too_long(child(path, "annotations"), MAX_ANNOTATIONS_SIZE as i64));
    }
    validate_lists(meta, path, errors);
    if let Some(generation) = meta.get("generation").and_then(Value::as_i64).filter(|generation| *generation < 0) {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(child(path, "generation"), generation, detail));
    }
}

/// Validates the items of `ownerReferences` and `managedFields`.
fn validate_lists(meta: &Map<String, Value>, path: &str, errors: &mut ErrorList) {
    let items = |name: &str| meta.get(name).and_then(Value::as_array).into_iter().flatten();
    for owner in items("ownerReferences") {
        for name in ["apiVersion", "kind", "name", "uid"] {
            let text = owner.get(name).and_then(Value::as_str).unwrap_or_default();
            let detail = if name == "apiVersion" { "version must not be empty" } else { "must not be empty" };
            if text.is_empty() {
                errors.push(FieldError::invalid(child(&child(path, "ownerReferences"), name), "", detail));
            }
        }
    }
    for (index, entry) in items("managedFields").enumerate() {
        let operation = entry.get("operation").and_then(Value::as_str).unwrap_or_default();
        if !matches!(operation, "Apply" | "Update") {
            let at = format!("{}[{index}].operation", child(path, "managedFields"));
            errors.push(FieldError::invalid(at, operation, "must be `Apply` or `Update`"));
        }
    }
}
