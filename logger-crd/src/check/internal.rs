//! Parts of a definition as the server holds them, which is how its texts show them: by the names of Go's fields.

use serde_json::Value;

use super::definition::{Definition, Fields};
use crate::{go, schema::Schema};

/// How a keyword is written.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Flag,
    /// As it is in JSON; null if it is not there.
    Json,
    Schema,
    Schemas,
    ByName,
    OrArray,
    OrBool,
    Dependencies,
    Docs,
    Rules,
}

/// The fields of a schema in Go's order, with the keyword of each.
const FIELDS: [(&str, &str, Form); 43] = [
    ("ID", "id", Form::Text),
    ("Schema", "$schema", Form::Text),
    ("Ref", "$ref", Form::Json),
    ("Description", "description", Form::Text),
    ("Type", "type", Form::Text),
    ("Nullable", "nullable", Form::Flag),
    ("Format", "format", Form::Text),
    ("Title", "title", Form::Text),
    ("Default", "default", Form::Json),
    ("Maximum", "maximum", Form::Json),
    ("ExclusiveMaximum", "exclusiveMaximum", Form::Flag),
    ("Minimum", "minimum", Form::Json),
    ("ExclusiveMinimum", "exclusiveMinimum", Form::Flag),
    ("MaxLength", "maxLength", Form::Json),
    ("MinLength", "minLength", Form::Json),
    ("Pattern", "pattern", Form::Text),
    ("MaxItems", "maxItems", Form::Json),
    ("MinItems", "minItems", Form::Json),
    ("UniqueItems", "uniqueItems", Form::Flag),
    ("MultipleOf", "multipleOf", Form::Json),
    ("Enum", "enum", Form::Json),
    ("MaxProperties", "maxProperties", Form::Json),
    ("MinProperties", "minProperties", Form::Json),
    ("Required", "required", Form::Json),
    ("Items", "items", Form::OrArray),
    ("AllOf", "allOf", Form::Schemas),
    ("OneOf", "oneOf", Form::Schemas),
    ("AnyOf", "anyOf", Form::Schemas),
    ("Not", "not", Form::Schema),
    ("Properties", "properties", Form::ByName),
    ("AdditionalProperties", "additionalProperties", Form::OrBool),
    ("PatternProperties", "patternProperties", Form::ByName),
    ("Dependencies", "dependencies", Form::Dependencies),
    ("AdditionalItems", "additionalItems", Form::OrBool),
    ("Definitions", "definitions", Form::ByName),
    ("ExternalDocs", "externalDocs", Form::Docs),
    ("Example", "example", Form::Json),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Form::Json),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", Form::Flag),
    ("XIntOrString", "x-kubernetes-int-or-string", Form::Flag),
    ("XListMapKeys", "x-kubernetes-list-map-keys", Form::Json),
    ("XListType", "x-kubernetes-list-type", Form::Json),
    ("XMapType", "x-kubernetes-map-type", Form::Json),
];

const RULES: (&str, &str, Form) = ("XValidations", "x-kubernetes-validations", Form::Rules);

fn fields() -> impl Iterator<Item = (&'static str, &'static str, Form)> {
    FIELDS.into_iter().chain([RULES])
}

/// The names of Go's fields that a schema sets, in order.
pub(super) fn set_fields(schema: Schema<'_>) -> impl Iterator<Item = &'static str> {
    fields().filter(move |(_, keyword, _)| schema.get(keyword).is_some()).map(|(name, _, _)| name)
}

/// A schema.
pub(super) fn schema(schema: Schema<'_>) -> String {
    object(fields().map(|(name, keyword, form)| (name, field(schema, keyword, form))))
}

/// `items`.
pub(super) fn items(schema: Schema<'_>) -> String {
    field(schema, "items", Form::OrArray)
}

/// `versions`, without what all of them have alike.
pub(super) fn versions(definition: Definition<'_>) -> String {
    list(definition.versions().map(|version| self::version(definition, version)))
}

fn version(definition: Definition<'_>, version: Fields<'_>) -> String {
    let own = |keyword| definition.own(version, keyword).map(Schema);
    let of_list = |keyword, write: fn(Fields<'_>) -> String| {
        let items = own(keyword).and_then(|list| list.0.as_array());
        items.map_or_else(null, |items| list(items.iter().map(|item| write(Schema(item)))))
    };
    object([
        ("Name", field(version, "name", Form::Text)),
        ("Served", field(version, "served", Form::Flag)),
        ("Storage", field(version, "storage", Form::Flag)),
        ("Deprecated", field(version, "deprecated", Form::Flag)),
        ("DeprecationWarning", field(version, "deprecationWarning", Form::Json)),
        (
            "Schema",
            own("schema")
                .map_or_else(null, |of| object([("OpenAPIV3Schema", field(of, "openAPIV3Schema", Form::Schema))])),
        ),
        ("Subresources", own("subresources").map_or_else(null, subresources)),
        ("AdditionalPrinterColumns", of_list("additionalPrinterColumns", column)),
        (
            "SelectableFields",
            of_list("selectableFields", |field| object([("JSONPath", self::field(field, "jsonPath", Form::Text))])),
        ),
    ])
}

fn subresources(subresources: Fields<'_>) -> String {
    let scale = subresources.child("scale").map_or_else(null, |scale| {
        object([
            ("SpecReplicasPath", field(scale, "specReplicasPath", Form::Text)),
            ("StatusReplicasPath", field(scale, "statusReplicasPath", Form::Text)),
            ("LabelSelectorPath", field(scale, "labelSelectorPath", Form::Json)),
        ])
    });
    object([("Status", field(subresources, "status", Form::Json)), ("Scale", scale)])
}

fn column(column: Fields<'_>) -> String {
    object([
        ("Name", field(column, "name", Form::Text)),
        ("Type", field(column, "type", Form::Text)),
        ("Format", field(column, "format", Form::Text)),
        ("Description", field(column, "description", Form::Text)),
        ("Priority", column.integer("priority").unwrap_or_default().to_string()),
        ("JSONPath", field(column, "jsonPath", Form::Text)),
    ])
}

fn rule(rule: Fields<'_>) -> String {
    object([
        ("Rule", field(rule, "rule", Form::Text)),
        ("Message", field(rule, "message", Form::Text)),
        ("MessageExpression", field(rule, "messageExpression", Form::Text)),
        ("Reason", field(rule, "reason", Form::Json)),
        ("FieldPath", field(rule, "fieldPath", Form::Text)),
        ("OptionalOldSelf", field(rule, "optionalOldSelf", Form::Json)),
    ])
}

fn field(of: Schema<'_>, keyword: &str, form: Form) -> String {
    let Some(value) = of.get(keyword) else {
        return match form {
            Form::Text => "\"\"".to_owned(),
            Form::Flag => "false".to_owned(),
            _ => null(),
        };
    };
    match form {
        Form::Text | Form::Flag | Form::Json => go::json(value),
        Form::Schema => schema(Schema(value)),
        Form::Schemas => list(of.list(keyword).map(schema)),
        Form::ByName => by_name(of, keyword, schema),
        Form::OrArray => {
            let of_all = of.child(keyword).map_or_else(null, schema);
            let of_each = if value.is_array() { list(of.list(keyword).map(schema)) } else { null() };
            object([("Schema", of_all), ("JSONSchemas", of_each)])
        }
        Form::OrBool => {
            let allows = *value != Value::Bool(false);
            object([("Allows", allows.to_string()), ("Schema", of.child(keyword).map_or_else(null, schema))])
        }
        Form::Dependencies => by_name(of, keyword, |dependency| {
            let names = if dependency.0.is_array() { go::json(dependency.0) } else { null() };
            let of_all = if dependency.0.is_object() { schema(dependency) } else { null() };
            object([("Schema", of_all), ("Property", names)])
        }),
        Form::Docs => {
            let docs = Schema(value);
            object([("Description", field(docs, "description", Form::Text)), ("URL", field(docs, "url", Form::Text))])
        }
        Form::Rules => list(of.list(keyword).map(rule)),
    }
}

fn null() -> String {
    "null".to_owned()
}

fn by_name(of: Schema<'_>, keyword: &str, write: impl Fn(Schema<'_>) -> String) -> String {
    let fields = of.map(keyword).map(|(name, schema)| format!("{}:{}", go::json_text(name), write(schema)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn object(fields: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let fields = fields.into_iter().map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}
