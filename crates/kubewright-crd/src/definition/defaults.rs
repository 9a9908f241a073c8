//! Validation of defaults: they are pruned, and valid against their schema.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go` of 1.36.

use serde_json::{Map, Value, json};

use crate::{
    cel::Program,
    field::{FieldError, Path},
    schema::Schema,
    validator,
    value::{InvalidFields, coerce, prune_value, validate_default, validate_resource},
};

/// Validates the defaults in a structural schema.
pub(super) fn validate(schema: Schema<'_>, require_pruned: bool, at: &Path<'_>) -> Vec<FieldError> {
    let mut walk = Walk { require_pruned, errors: Vec::new() };
    walk.node(schema, at, &Object { schema, is_root: true, path: Vec::new() }, false);
    walk.errors
}

/// Whether a structural schema has a default with unknown fields.
pub(super) fn has_unpruned(schema: Schema<'_>) -> bool {
    let root = Path::root("");
    let is_unknown = |error: &FieldError| error.detail == UNKNOWN_FIELDS;
    super::structural::is_structural(schema) && validate(schema, true, &root).iter().any(is_unknown)
}

const UNKNOWN_FIELDS: &str = "must not have unknown fields";

struct Walk {
    require_pruned: bool,
    errors: Vec<FieldError>,
}

/// The Kubernetes object that contains a schema, and the path of the schema in it.
#[derive(Clone)]
struct Object<'a> {
    schema: Schema<'a>,
    is_root: bool,
    /// The names of fields, and `None` for list items.
    path: Vec<Option<&'a str>>,
}

impl<'a> Object<'a> {
    /// Extends the path by a field, or by a list item.
    fn child(&self, field: Option<&'a str>) -> Self {
        let mut next = self.clone();
        next.path.push(field);
        next
    }

    /// Returns an object with a type, and with a value at the path.
    fn surround(&self, value: Value) -> Value {
        let wrap = |value, step: &Option<&str>| match step {
            Some(name) => Value::Object(Map::from_iter([((*name).to_owned(), value)])),
            None => Value::Array(vec![value]),
        };
        let mut object = self.path.iter().rev().fold(value, wrap);
        for (name, type_) in [("apiVersion", "validation/v1"), ("kind", "Validation")] {
            if let Some(fields) = object.as_object_mut() {
                fields.entry(name).or_insert_with(|| json!(type_));
            }
        }
        object
    }
}

/// Evaluates the rules of the schema on a default: first as an update without a change, then as a create.
fn validate_rules(value: &Value, schema: Schema<'_>, base: &str, is_object: bool) -> Vec<FieldError> {
    let program = Program::compile_subschema(schema.0, is_object);
    let run = |old| -> Vec<FieldError> {
        program.validate(value, old).into_iter().map(|violation| validator::field_error(violation, base)).collect()
    };
    match run(Some(value)) {
        errors if errors.is_empty() => run(None),
        errors => errors,
    }
}

impl Walk {
    fn node<'a>(&mut self, schema: Schema<'a>, at: &Path<'_>, object: &Object<'a>, in_meta: bool) {
        let embedded = Object { schema, is_root: object.is_root && object.path.is_empty(), path: Vec::new() };
        let (object, in_meta) = if schema.is_embedded_resource() { (&embedded, false) } else { (object, in_meta) };
        if let Some(default) = schema.get("default") {
            let errors = if in_meta {
                self.validate_in_metadata(default, schema, object, at)
            } else {
                self.validate_value(default, schema, object, at)
            };
            self.errors.extend(errors);
        }
        if let Some(items) = schema.items() {
            self.node(items, &at.child("items"), &object.child(None), in_meta);
        }
        let is_object = object.path.is_empty();
        let properties = at.child("properties");
        for (name, property) in schema.schema_map("properties") {
            let in_meta = in_meta || is_object && ["metadata", "apiVersion", "kind"].contains(&name);
            self.node(property, &properties.key(name), &object.child(Some(name)), in_meta);
        }
    }

    fn validate_value(
        &self,
        default: &Value,
        schema: Schema<'_>,
        object: &Object<'_>,
        at: &Path<'_>,
    ) -> Vec<FieldError> {
        let at = at.child("default");
        let is_object = object.path.is_empty();
        let mut errors = Vec::new();
        let mut pruned = default.clone();
        prune_value(&mut pruned, schema, is_object);
        if self.require_pruned && pruned != *default {
            errors.push(FieldError::invalid(at, default.clone(), UNKNOWN_FIELDS));
        }
        let base = at.to_string();
        let mut value = default.clone();
        let invalid = match coerce(&mut value, schema, &base, is_object, InvalidFields::Reject) {
            Err(error) => vec![*error],
            Ok(_) => match validate_resource(&value, schema, &base, is_object) {
                errors if errors.is_empty() => match validate_default(&value, schema, &base) {
                    errors if errors.is_empty() => validate_rules(&value, schema, &base, is_object),
                    errors => errors,
                },
                errors => errors,
            },
        };
        errors.extend(invalid.into_iter().map(|error| error.with_schema_path_of(at)));
        errors
    }

    /// Validates a default of `apiVersion`, `kind` or `metadata` as part of an object.
    fn validate_in_metadata(
        &self,
        default: &Value,
        schema: Schema<'_>,
        object: &Object<'_>,
        at: &Path<'_>,
    ) -> Vec<FieldError> {
        let at = at.child("default");
        let mut surrounding = object.surround(default.clone());
        let invalid_metadata = |detail: String| {
            vec![FieldError::invalid(at, default.clone(), format!("must result in valid metadata: {detail}"))]
        };
        if let Err(error) = coerce(&mut surrounding, object.schema, "", true, InvalidFields::Reject) {
            return invalid_metadata(error.to_string());
        }
        let messages: Vec<String> =
            validate_resource(&surrounding, object.schema, "", true).iter().map(FieldError::to_string).collect();
        match messages.as_slice() {
            [] => {}
            [message] => return invalid_metadata(message.clone()),
            messages => return invalid_metadata(format!("[{}]", messages.join(", "))),
        }
        let base = at.to_string();
        let errors = match validate_default(default, schema, &base) {
            errors if errors.is_empty() => validate_rules(default, schema, &base, object.path.is_empty()),
            errors => errors,
        };
        errors.into_iter().map(|error| error.with_schema_path_of(at)).collect()
    }
}
