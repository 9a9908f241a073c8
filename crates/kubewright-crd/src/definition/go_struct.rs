//! Formats parts of a definition as JSON of the server's internal Go structs, as in its error messages.

use serde_json::Value;

use super::crd::{Crd, Fields};
use crate::{go, schema::Schema};

/// The Go type of a field.
#[derive(Clone, Copy)]
enum Type {
    String,
    Bool,
    /// Any type with the same representation in the definition. Null if it is absent.
    Json,
    Schema,
    SchemaList,
    SchemaMap,
    SchemaOrList,
    SchemaOrBool,
    Dependencies,
    ExternalDocs,
    Rules,
}

/// The fields of `JSONSchemaProps` in Go's order, with their keywords.
const FIELDS: [(&str, &str, Type); 43] = [
    ("ID", "id", Type::String),
    ("Schema", "$schema", Type::String),
    ("Ref", "$ref", Type::Json),
    ("Description", "description", Type::String),
    ("Type", "type", Type::String),
    ("Nullable", "nullable", Type::Bool),
    ("Format", "format", Type::String),
    ("Title", "title", Type::String),
    ("Default", "default", Type::Json),
    ("Maximum", "maximum", Type::Json),
    ("ExclusiveMaximum", "exclusiveMaximum", Type::Bool),
    ("Minimum", "minimum", Type::Json),
    ("ExclusiveMinimum", "exclusiveMinimum", Type::Bool),
    ("MaxLength", "maxLength", Type::Json),
    ("MinLength", "minLength", Type::Json),
    ("Pattern", "pattern", Type::String),
    ("MaxItems", "maxItems", Type::Json),
    ("MinItems", "minItems", Type::Json),
    ("UniqueItems", "uniqueItems", Type::Bool),
    ("MultipleOf", "multipleOf", Type::Json),
    ("Enum", "enum", Type::Json),
    ("MaxProperties", "maxProperties", Type::Json),
    ("MinProperties", "minProperties", Type::Json),
    ("Required", "required", Type::Json),
    ("Items", "items", Type::SchemaOrList),
    ("AllOf", "allOf", Type::SchemaList),
    ("OneOf", "oneOf", Type::SchemaList),
    ("AnyOf", "anyOf", Type::SchemaList),
    ("Not", "not", Type::Schema),
    ("Properties", "properties", Type::SchemaMap),
    ("AdditionalProperties", "additionalProperties", Type::SchemaOrBool),
    ("PatternProperties", "patternProperties", Type::SchemaMap),
    ("Dependencies", "dependencies", Type::Dependencies),
    ("AdditionalItems", "additionalItems", Type::SchemaOrBool),
    ("Definitions", "definitions", Type::SchemaMap),
    ("ExternalDocs", "externalDocs", Type::ExternalDocs),
    ("Example", "example", Type::Json),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Type::Json),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", Type::Bool),
    ("XIntOrString", "x-kubernetes-int-or-string", Type::Bool),
    ("XListMapKeys", "x-kubernetes-list-map-keys", Type::Json),
    ("XListType", "x-kubernetes-list-type", Type::Json),
    ("XMapType", "x-kubernetes-map-type", Type::Json),
];

const RULES: (&str, &str, Type) = ("XValidations", "x-kubernetes-validations", Type::Rules);

fn fields() -> impl Iterator<Item = (&'static str, &'static str, Type)> {
    FIELDS.into_iter().chain([RULES])
}

/// Returns the names of the Go fields that a schema sets, in Go's order.
pub(super) fn set_fields(schema: Schema<'_>) -> impl Iterator<Item = &'static str> {
    fields().filter(move |(_, keyword, _)| schema.get(keyword).is_some()).map(|(name, _, _)| name)
}

/// Formats a schema.
pub(super) fn schema(schema: Schema<'_>) -> String {
    object(fields().map(|(name, keyword, type_)| (name, field(schema, keyword, type_))))
}

/// Formats the `items` of a schema.
pub(super) fn items(schema: Schema<'_>) -> String {
    field(schema, "items", Type::SchemaOrList)
}

/// Formats `versions` without their top-level fields.
pub(super) fn versions(crd: Crd<'_>) -> String {
    list(crd.versions().map(|version| self::version(crd, version)))
}

fn version(crd: Crd<'_>, version: Fields<'_>) -> String {
    let per_version = |keyword| crd.per_version(version, keyword).map(Schema);
    let list_of = |keyword, format: fn(Fields<'_>) -> String| {
        let items = per_version(keyword).and_then(|list| list.0.as_array());
        items.map_or_else(null, |items| list(items.iter().map(|item| format(Schema(item)))))
    };
    object([
        ("Name", field(version, "name", Type::String)),
        ("Served", field(version, "served", Type::Bool)),
        ("Storage", field(version, "storage", Type::Bool)),
        ("Deprecated", field(version, "deprecated", Type::Bool)),
        ("DeprecationWarning", field(version, "deprecationWarning", Type::Json)),
        (
            "Schema",
            per_version("schema").map_or_else(null, |owner| {
                object([("OpenAPIV3Schema", field(owner, "openAPIV3Schema", Type::Schema))])
            }),
        ),
        ("Subresources", per_version("subresources").map_or_else(null, subresources)),
        ("AdditionalPrinterColumns", list_of("additionalPrinterColumns", column)),
        (
            "SelectableFields",
            list_of("selectableFields", |field| object([("JSONPath", self::field(field, "jsonPath", Type::String))])),
        ),
    ])
}

fn subresources(subresources: Fields<'_>) -> String {
    let scale = subresources.child("scale").map_or_else(null, |scale| {
        object([
            ("SpecReplicasPath", field(scale, "specReplicasPath", Type::String)),
            ("StatusReplicasPath", field(scale, "statusReplicasPath", Type::String)),
            ("LabelSelectorPath", field(scale, "labelSelectorPath", Type::Json)),
        ])
    });
    object([("Status", field(subresources, "status", Type::Json)), ("Scale", scale)])
}

fn column(column: Fields<'_>) -> String {
    object([
        ("Name", field(column, "name", Type::String)),
        ("Type", field(column, "type", Type::String)),
        ("Format", field(column, "format", Type::String)),
        ("Description", field(column, "description", Type::String)),
        ("Priority", column.integer("priority").unwrap_or_default().to_string()),
        ("JSONPath", field(column, "jsonPath", Type::String)),
    ])
}

fn rule(rule: Fields<'_>) -> String {
    object([
        ("Rule", field(rule, "rule", Type::String)),
        ("Message", field(rule, "message", Type::String)),
        ("MessageExpression", field(rule, "messageExpression", Type::String)),
        ("Reason", field(rule, "reason", Type::Json)),
        ("FieldPath", field(rule, "fieldPath", Type::String)),
        ("OptionalOldSelf", field(rule, "optionalOldSelf", Type::Json)),
    ])
}

fn field(owner: Schema<'_>, keyword: &str, type_: Type) -> String {
    let Some(value) = owner.get(keyword) else {
        return match type_ {
            Type::String => "\"\"".to_owned(),
            Type::Bool => "false".to_owned(),
            _ => null(),
        };
    };
    match type_ {
        Type::String | Type::Bool | Type::Json => go::json(value),
        Type::Schema => schema(Schema(value)),
        Type::SchemaList => list(owner.schemas(keyword).map(schema)),
        Type::SchemaMap => schema_map(owner, keyword, schema),
        Type::SchemaOrList => {
            let single = owner.child(keyword).map_or_else(null, schema);
            let list_items = if value.is_array() { list(owner.schemas(keyword).map(schema)) } else { null() };
            object([("Schema", single), ("JSONSchemas", list_items)])
        }
        Type::SchemaOrBool => {
            let allows = *value != Value::Bool(false);
            object([("Allows", allows.to_string()), ("Schema", owner.child(keyword).map_or_else(null, schema))])
        }
        Type::Dependencies => schema_map(owner, keyword, |dependency| {
            let names = if dependency.0.is_array() { go::json(dependency.0) } else { null() };
            let single = if dependency.0.is_object() { schema(dependency) } else { null() };
            object([("Schema", single), ("Property", names)])
        }),
        Type::ExternalDocs => {
            let docs = Schema(value);
            object([
                ("Description", field(docs, "description", Type::String)),
                ("URL", field(docs, "url", Type::String)),
            ])
        }
        Type::Rules => list(owner.schemas(keyword).map(rule)),
    }
}

fn null() -> String {
    "null".to_owned()
}

fn schema_map(owner: Schema<'_>, keyword: &str, format_schema: impl Fn(Schema<'_>) -> String) -> String {
    let fields =
        owner.schema_map(keyword).map(|(name, schema)| format!("{}:{}", go::json_string(name), format_schema(schema)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn object(fields: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let fields = fields.into_iter().map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}
