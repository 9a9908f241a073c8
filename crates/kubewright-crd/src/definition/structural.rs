//! Validation of structural schemas: every field has a type, value validations specify no types, and metadata is
//! implicit.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/{convert,validation}.go` of 1.36.

use serde_json::{Value, json};

use super::MAX_SCHEMA_ERRORS;
use crate::{
    field::{FieldError, Path},
    pattern,
    schema::{Additional, JUNCTORS, Schema},
};

/// The position of a schema.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The keywords that are forbidden in value validations, with the error.
const FORBIDDEN_IN_VALUE_VALIDATIONS: [(&str, &str); 12] = [
    ("type", "must be empty to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
];

/// Returns the error of a schema that cannot be converted to a structural schema: `NewStructural`.
pub(super) fn convert(schema: Schema<'_>) -> Result<(), String> {
    let unsupported = |name: &str| Err(format!("OpenAPIV3Schema '{name}' is not supported"));
    let is_set = |keyword: &str| match schema.get(keyword) {
        None => false,
        Some(Value::Object(fields)) => !fields.is_empty() || keyword == "additionalItems",
        Some(value) => *value != "",
    };
    for keyword in ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"] {
        if is_set(keyword) {
            return unsupported(if keyword == "$schema" { "schema" } else { keyword });
        }
    }
    schema.child("not").map_or(Ok(()), convert)?;
    JUNCTORS.into_iter().flat_map(|keyword| schema.schemas(keyword)).try_for_each(convert)?;
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Err("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    if schema.schemas("items").len() > 0 {
        return Err("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    schema.items().map_or(Ok(()), convert)?;
    schema.schema_map("properties").try_for_each(|(_, property)| convert(property))?;
    match schema.additional() {
        Some(Additional::Schema(schema)) => convert(schema),
        _ => Ok(()),
    }
}

pub(super) fn is_structural(schema: Schema<'_>) -> bool {
    convert(schema).is_ok() && validate(schema, &Path::root("")).is_empty()
}

/// Validates a schema that can be converted: `ValidateStructural`.
pub(super) fn validate(schema: Schema<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    validate_invariants(schema, Level::Root, at, &mut errors);
    validate_completeness(schema, Some(schema), at, at, &mut errors);
    errors
}

fn validate_invariants(schema: Schema<'_>, level: Level, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    if errors.len() >= MAX_SCHEMA_ERRORS {
        return;
    }
    if schema.string("type") == "array" && schema.items().is_none() {
        errors.push(FieldError::required(at.child("items"), "must be specified"));
    }
    if let Some(items) = schema.items() {
        validate_invariants(items, Level::Item, &at.child("items"), errors);
    }
    let properties = at.child("properties");
    for (name, property) in schema.schema_map("properties") {
        validate_invariants(property, Level::Field, &properties.key(name), errors);
    }
    if let Some(additional) = schema.additional() {
        let at = at.child("additionalProperties");
        if level == Level::Root {
            errors.push(FieldError::forbidden(at, "must not be used at the root"));
        }
        if let Additional::Schema(schema) = additional {
            validate_invariants(schema, Level::Field, &at, errors);
        }
        if schema.is_embedded_resource() {
            errors.push(FieldError::forbidden(at, "must not be used if x-kubernetes-embedded-resource is set"));
        }
    }
    validate_int_or_string(schema, at, errors);
    validate_value_validation(schema, int_or_string_pattern(schema), at, errors);
    validate_type(schema, level, at, errors);
    validate_metadata(schema, level, at, errors);
    let is_empty = !schema.preserves_unknown_fields() && !schema.has_properties();
    if schema.is_embedded_resource() && is_empty {
        let detail =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(at.child("properties"), detail));
    }
}

fn validate_type(schema: Schema<'_>, level: Level, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let type_ = schema.string("type");
    let at = at.child("type");
    if schema.is_embedded_resource() && type_ != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if type_.is_empty() {
            FieldError::required(at, detail)
        } else {
            FieldError::invalid(at, type_, detail)
        });
    } else if type_.is_empty() && !schema.is_int_or_string() && !schema.preserves_unknown_fields() {
        let place = match level {
            Level::Root => "at the root",
            Level::Item => "for specified array items",
            Level::Field => "for specified object fields",
        };
        errors.push(FieldError::required(at, format!("must not be empty {place}")));
    }
    if level == Level::Root && !type_.is_empty() && type_ != "object" {
        errors.push(FieldError::invalid(at, type_, "must be object at the root"));
    }
}

fn validate_int_or_string(schema: Schema<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !schema.is_int_or_string() {
        return;
    }
    for keyword in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
        if schema.flag(keyword) {
            errors.push(FieldError::invalid(
                at.child(keyword),
                true,
                "must be false if x-kubernetes-int-or-string is true",
            ));
        }
    }
}

/// Validates `apiVersion`, `kind` and `metadata` of the root and of embedded resources.
fn validate_metadata(schema: Schema<'_>, level: Level, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let is_object = level == Level::Root || schema.is_embedded_resource();
    let properties = at.child("properties");
    for name in ["kind", "apiVersion"] {
        let type_ = schema.property(name).map_or("string", |property| property.string("type"));
        if is_object && type_ != "string" {
            errors.push(FieldError::invalid(properties.key(name).child("type"), type_, "must be string"));
        }
    }
    let Some(metadata) = schema.property("metadata") else {
        return;
    };
    let at = properties.key("metadata");
    let type_ = metadata.string("type");
    if is_object && type_ != "object" {
        errors.push(FieldError::invalid(at.child("type"), type_, "must be object"));
    }
    if level == Level::Root && restricts_more_than_names(metadata) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(at, detail));
    }
}

/// Whether a schema of metadata specifies more than a type, a default, and the names.
fn restricts_more_than_names(metadata: Schema<'_>) -> bool {
    let has_other_properties =
        || metadata.schema_map("properties").any(|(name, _)| !["name", "generateName"].contains(&name));
    let is_restriction = |(keyword, value): (&String, &Value)| match keyword.as_str() {
        "type" | "default" => false,
        "properties" => has_other_properties(),
        "enum" | "allOf" | "anyOf" | "oneOf" | "items" => *value != json!([]),
        "definitions" | "patternProperties" | "dependencies" => false,
        _ => true,
    };
    metadata.0.as_object().is_some_and(|fields| fields.iter().any(is_restriction))
}

/// The int-or-string pattern, which can specify types: `anyOf` of an integer and a string, directly or first in
/// `allOf`.
#[derive(Clone, Copy, Default)]
struct IntOrStringPattern {
    any_of: bool,
    first_all_of: bool,
}

fn int_or_string_pattern(schema: Schema<'_>) -> IntOrStringPattern {
    // `additionalProperties: false` is lost in the conversion to a structural schema.
    let is_type = |schema: Schema<'_>, name: &str| {
        let Value::Object(fields) = schema.0 else { return false };
        let is_lost = |key: &String, value: &Value| key == "additionalProperties" && value == &json!(false);
        fields.iter().filter(|(key, value)| !is_lost(key, value)).eq([(&"type".to_owned(), &json!(name))])
    };
    let is_pattern = |schema: Schema<'_>| {
        let types: Vec<Schema<'_>> = schema.schemas("anyOf").collect();
        matches!(types[..], [integer, string] if is_type(integer, "integer") && is_type(string, "string"))
    };
    IntOrStringPattern {
        any_of: is_pattern(schema),
        first_all_of: schema.schemas("allOf").next().is_some_and(is_pattern),
    }
}

/// Validates the value validations of a schema.
fn validate_value_validation(
    schema: Schema<'_>,
    int_or_string_pattern: IntOrStringPattern,
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    for keyword in JUNCTORS {
        let list = at.child(keyword);
        for (index, nested) in schema.schemas(keyword).enumerate() {
            let nested_pattern = match keyword {
                "anyOf" if int_or_string_pattern.any_of => continue,
                "allOf" => {
                    IntOrStringPattern { any_of: int_or_string_pattern.first_all_of && index == 0, first_all_of: false }
                }
                _ => IntOrStringPattern::default(),
            };
            validate_nested_value_validation(nested, nested_pattern, &list.index(index), errors);
        }
    }
    if let Some(nested) = schema.child("not") {
        validate_nested_value_validation(nested, IntOrStringPattern::default(), &at.child("not"), errors);
    }
    let pattern_text = schema.string("pattern");
    if let Some(error) = pattern::compiled(pattern_text).err().filter(|_| !pattern_text.is_empty()) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(at.child("pattern"), pattern_text, detail));
    }
}

/// Validates a schema inside `allOf`, `anyOf`, `oneOf` or `not`.
fn validate_nested_value_validation(
    nested: Schema<'_>,
    int_or_string_pattern: IntOrStringPattern,
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    validate_value_validation(nested, int_or_string_pattern, at, errors);
    if let Some(items) = nested.items() {
        validate_nested_value_validation(items, IntOrStringPattern::default(), &at.child("items"), errors);
    }
    let properties = at.child("properties");
    for (name, property) in nested.schema_map("properties") {
        validate_nested_value_validation(property, IntOrStringPattern::default(), &properties.key(name), errors);
    }
    for (keyword, detail) in FORBIDDEN_IN_VALUE_VALIDATIONS {
        let is_empty_list = |value: &Value| keyword != "default" && *value == json!([]);
        if nested.get(keyword).is_some_and(|value| !is_empty_list(value)) {
            errors.push(FieldError::forbidden(at.child(keyword), detail));
        }
    }
    if matches!(nested.additional(), Some(Additional::Schema(_) | Additional::Allowed(true))) {
        errors.push(FieldError::forbidden(at.child("additionalProperties"), "must be undefined to be structural"));
    }
    if nested.property("metadata").is_some() {
        errors.push(FieldError::forbidden(properties.key("metadata"), "must not be specified in a nested context"));
    }
}

/// Validates that the fields and items in value validations are part of the structure. `validation` and `schema` are at
/// different paths.
fn validate_completeness(
    validation: Schema<'_>,
    schema: Option<Schema<'_>>,
    schema_at: &Path<'_>,
    validation_at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if let Some(nested) = validation.child("not") {
        validate_nested_completeness(nested, schema, schema_at, &validation_at.child("not"), errors);
    }
    for keyword in JUNCTORS {
        let list = validation_at.child(keyword);
        for (index, nested) in validation.schemas(keyword).enumerate() {
            validate_nested_completeness(nested, schema, schema_at, &list.index(index), errors);
        }
    }
}

fn validate_nested_completeness(
    validation: Schema<'_>,
    schema: Option<Schema<'_>>,
    schema_at: &Path<'_>,
    validation_at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let Some(specified) = schema else {
        return errors.push(FieldError::required(schema_at, format!("because it is defined in {validation_at}")));
    };
    validate_completeness(validation, schema, schema_at, validation_at, errors);
    if let Some(items) = validation.items() {
        let (schema_at, validation_at) = (schema_at.child("items"), validation_at.child("items"));
        validate_nested_completeness(items, specified.items(), &schema_at, &validation_at, errors);
    }
    let (schema_properties, validation_properties) = (schema_at.child("properties"), validation_at.child("properties"));
    for (name, property) in validation.schema_map("properties") {
        let (schema_at, validation_at) = (schema_properties.key(name), validation_properties.key(name));
        validate_nested_completeness(property, specified.property(name), &schema_at, &validation_at, errors);
    }
}
