//! Structural form: every field has a type, what is said of values adds none, and metadata is the server's.

use serde_json::{Value, json};

use super::path::Path;
use crate::{
    finding::Finding,
    pattern,
    schema::{Additional, JUNCTORS, Schema},
};

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// What may not be said of values, and why: it is for the structure to say.
const OF_STRUCTURE: [(&str, &str); 12] = [
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

/// Whether a schema can be read as a structural one at all; why not, if not.
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
    JUNCTORS.into_iter().flat_map(|keyword| schema.list(keyword)).try_for_each(convert)?;
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Err("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    if schema.list("items").len() > 0 {
        return Err("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    schema.items().map_or(Ok(()), convert)?;
    schema.map("properties").try_for_each(|(_, property)| convert(property))?;
    match schema.additional() {
        Some(Additional::Schema(schema)) => convert(schema),
        _ => Ok(()),
    }
}

pub(super) fn is_structural(schema: Schema<'_>) -> bool {
    convert(schema).is_ok() && check(schema, &Path::root("")).is_empty()
}

/// What keeps a schema that can be converted from being structural.
pub(super) fn check(schema: Schema<'_>, at: &Path<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    check_form(schema, Level::Root, at, &mut findings);
    check_completeness(schema, Some(schema), at, at, &mut findings);
    findings
}

fn check_form(schema: Schema<'_>, level: Level, at: &Path<'_>, findings: &mut Vec<Finding>) {
    if schema.text("type") == "array" && schema.items().is_none() {
        findings.push(Finding::required(at.child("items"), "must be specified"));
    }
    if let Some(items) = schema.items() {
        check_form(items, Level::Item, &at.child("items"), findings);
    }
    let properties = at.child("properties");
    for (name, property) in schema.map("properties") {
        check_form(property, Level::Field, &properties.key(name), findings);
    }
    if let Some(additional) = schema.additional() {
        let at = at.child("additionalProperties");
        if level == Level::Root {
            findings.push(Finding::forbidden(at, "must not be used at the root"));
        }
        if let Additional::Schema(schema) = additional {
            check_form(schema, Level::Field, &at, findings);
        }
        if schema.is_embedded() {
            findings.push(Finding::forbidden(at, "must not be used if x-kubernetes-embedded-resource is set"));
        }
    }
    check_int_or_string(schema, at, findings);
    check_said_of_values(schema, skipped(schema), at, findings);
    check_type(schema, level, at, findings);
    check_meta(schema, level, at, findings);
    let says_nothing = !schema.preserves() && !schema.has_properties();
    if schema.is_embedded() && says_nothing {
        let why =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        findings.push(Finding::required(at.child("properties"), why));
    }
}

fn check_type(schema: Schema<'_>, level: Level, at: &Path<'_>, findings: &mut Vec<Finding>) {
    let type_ = schema.text("type");
    let at = at.child("type");
    if schema.is_embedded() && type_ != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        findings.push(if type_.is_empty() { Finding::required(at, why) } else { Finding::invalid(at, type_, why) });
    } else if type_.is_empty() && !schema.is_int_or_string() && !schema.preserves() {
        let place = match level {
            Level::Root => "at the root",
            Level::Item => "for specified array items",
            Level::Field => "for specified object fields",
        };
        findings.push(Finding::required(at, format!("must not be empty {place}")));
    }
    if level == Level::Root && !type_.is_empty() && type_ != "object" {
        findings.push(Finding::invalid(at, type_, "must be object at the root"));
    }
}

fn check_int_or_string(schema: Schema<'_>, at: &Path<'_>, findings: &mut Vec<Finding>) {
    if !schema.is_int_or_string() {
        return;
    }
    for keyword in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
        if schema.flag(keyword) {
            findings.push(Finding::invalid(
                at.child(keyword),
                true,
                "must be false if x-kubernetes-int-or-string is true",
            ));
        }
    }
}

/// The fields of Kubernetes objects, at the root and in embedded ones.
fn check_meta(schema: Schema<'_>, level: Level, at: &Path<'_>, findings: &mut Vec<Finding>) {
    let is_object = level == Level::Root || schema.is_embedded();
    let properties = at.child("properties");
    for name in ["kind", "apiVersion"] {
        let type_ = schema.property(name).map_or("string", |property| property.text("type"));
        if is_object && type_ != "string" {
            findings.push(Finding::invalid(properties.key(name).child("type"), type_, "must be string"));
        }
    }
    let Some(metadata) = schema.property("metadata") else {
        return;
    };
    let at = properties.key("metadata");
    let type_ = metadata.text("type");
    if is_object && type_ != "object" {
        findings.push(Finding::invalid(at.child("type"), type_, "must be object"));
    }
    if level == Level::Root && says_more_than_names(metadata) {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        findings.push(Finding::forbidden(at, why));
    }
}

/// Whether a schema of metadata says more than its type, a default, and something of the names.
fn says_more_than_names(metadata: Schema<'_>) -> bool {
    let others_are_named = || metadata.map("properties").any(|(name, _)| !["name", "generateName"].contains(&name));
    let is_more = |(keyword, value): (&String, &Value)| match keyword.as_str() {
        "type" | "default" => false,
        "properties" => others_are_named(),
        "enum" | "allOf" | "anyOf" | "oneOf" | "items" => *value != json!([]),
        "definitions" | "patternProperties" | "dependencies" => false,
        _ => true,
    };
    metadata.0.as_object().is_some_and(|fields| fields.iter().any(is_more))
}

/// Where types may stand in alternatives: `anyOf` an integer and a string, alone or first in `allOf`.
#[derive(Clone, Copy, Default)]
struct Skipped {
    any_of: bool,
    first_all_of: bool,
}

fn skipped(schema: Schema<'_>) -> Skipped {
    let is_pattern =
        |schema: Schema<'_>| schema.get("anyOf") == Some(&json!([{ "type": "integer" }, { "type": "string" }]));
    Skipped { any_of: is_pattern(schema), first_all_of: schema.list("allOf").next().is_some_and(is_pattern) }
}

/// What is said of the values of a schema.
fn check_said_of_values(schema: Schema<'_>, skipped: Skipped, at: &Path<'_>, findings: &mut Vec<Finding>) {
    for keyword in JUNCTORS {
        let list = at.child(keyword);
        for (index, nested) in schema.list(keyword).enumerate() {
            let skips = match keyword {
                "anyOf" if skipped.any_of => continue,
                "allOf" => Skipped { any_of: skipped.first_all_of && index == 0, first_all_of: false },
                _ => Skipped::default(),
            };
            check_nested(nested, skips, &list.index(index), findings);
        }
    }
    if let Some(nested) = schema.child("not") {
        check_nested(nested, Skipped::default(), &at.child("not"), findings);
    }
    let written = schema.text("pattern");
    if let Some(error) = pattern::compiled(written).err().filter(|_| !written.is_empty()) {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        findings.push(Finding::invalid(at.child("pattern"), written, why));
    }
}

/// A schema inside `allOf`, `anyOf`, `oneOf` or `not`.
fn check_nested(nested: Schema<'_>, skipped: Skipped, at: &Path<'_>, findings: &mut Vec<Finding>) {
    check_said_of_values(nested, skipped, at, findings);
    if let Some(items) = nested.items() {
        check_nested(items, Skipped::default(), &at.child("items"), findings);
    }
    let properties = at.child("properties");
    for (name, property) in nested.map("properties") {
        check_nested(property, Skipped::default(), &properties.key(name), findings);
    }
    for (keyword, why) in OF_STRUCTURE {
        let is_empty_list = |value: &Value| keyword != "default" && *value == json!([]);
        if nested.get(keyword).is_some_and(|value| !is_empty_list(value)) {
            findings.push(Finding::forbidden(at.child(keyword), why));
        }
    }
    if matches!(nested.additional(), Some(Additional::Schema(_) | Additional::Allowed(true))) {
        findings.push(Finding::forbidden(at.child("additionalProperties"), "must be undefined to be structural"));
    }
    if nested.property("metadata").is_some() {
        findings.push(Finding::forbidden(properties.key("metadata"), "must not be specified in a nested context"));
    }
}

/// What is said of a field or an item has to be said of one that the structure has: `said` at one path, `schema` at another.
fn check_completeness(
    said: Schema<'_>,
    schema: Option<Schema<'_>>,
    schema_at: &Path<'_>,
    said_at: &Path<'_>,
    findings: &mut Vec<Finding>,
) {
    if let Some(nested) = said.child("not") {
        check_nested_completeness(nested, schema, schema_at, &said_at.child("not"), findings);
    }
    for keyword in JUNCTORS {
        let list = said_at.child(keyword);
        for (index, nested) in said.list(keyword).enumerate() {
            check_nested_completeness(nested, schema, schema_at, &list.index(index), findings);
        }
    }
}

fn check_nested_completeness(
    said: Schema<'_>,
    schema: Option<Schema<'_>>,
    schema_at: &Path<'_>,
    said_at: &Path<'_>,
    findings: &mut Vec<Finding>,
) {
    let Some(there) = schema else {
        return findings.push(Finding::required(schema_at, format!("because it is defined in {said_at}")));
    };
    check_completeness(said, schema, schema_at, said_at, findings);
    if let Some(items) = said.items() {
        let (schema_at, said_at) = (schema_at.child("items"), said_at.child("items"));
        check_nested_completeness(items, there.items(), &schema_at, &said_at, findings);
    }
    let (schema_properties, said_properties) = (schema_at.child("properties"), said_at.child("properties"));
    for (name, property) in said.map("properties") {
        let (schema_at, said_at) = (schema_properties.key(name), said_properties.key(name));
        check_nested_completeness(property, there.property(name), &schema_at, &said_at, findings);
    }
}
