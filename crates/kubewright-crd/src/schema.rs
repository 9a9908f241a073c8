//! Access to the keywords of a schema. As on the API server, `null` counts as absent, and so does a value of a wrong
//! type.

use serde_json::{Map, Value};

/// A schema, or a JSON value at the place of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'a>(pub(crate) &'a Value);

/// The value of `additionalProperties`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Additional<'a> {
    Schema(Schema<'a>),
    Allowed(bool),
}

/// The keywords that the API server supports, without those of alternatives.
pub(crate) const KEYWORDS: &[&str] = &[
    "additionalProperties",
    "default",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// The logical junctors: the keywords with schemas that a value is also validated against.
pub(crate) const JUNCTORS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

impl<'a> Schema<'a> {
    /// Returns the value of a keyword.
    pub(crate) fn get(self, keyword: &str) -> Option<&'a Value> {
        self.0.get(keyword).filter(|value| !value.is_null())
    }

    /// Returns a string, empty if it is absent.
    pub(crate) fn string(self, keyword: &str) -> &'a str {
        self.get(keyword).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a boolean, `false` if it is absent.
    pub(crate) fn flag(self, keyword: &str) -> bool {
        self.get(keyword) == Some(&Value::Bool(true))
    }

    pub(crate) fn integer(self, keyword: &str) -> Option<i64> {
        self.get(keyword)?.as_i64()
    }

    pub(crate) fn number(self, keyword: &str) -> Option<f64> {
        self.get(keyword)?.as_f64()
    }

    /// Returns the schema at a keyword.
    pub(crate) fn child(self, keyword: &str) -> Option<Self> {
        self.get(keyword).filter(|value| value.is_object()).map(Schema)
    }

    /// Returns the items of a list.
    pub(crate) fn values(self, keyword: &str) -> &'a [Value] {
        self.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns the schemas of a list.
    pub(crate) fn schemas(self, keyword: &str) -> impl ExactSizeIterator<Item = Self> + Clone + use<'a> {
        self.values(keyword).iter().map(Schema)
    }

    /// Returns the strings of a list.
    pub(crate) fn strings(self, keyword: &str) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.values(keyword).iter().filter_map(Value::as_str)
    }

    /// Returns the fields of an object.
    pub(crate) fn fields(self, keyword: &str) -> Option<&'a Map<String, Value>> {
        self.get(keyword)?.as_object()
    }

    /// Returns the schemas of an object, by name.
    pub(crate) fn schema_map(self, keyword: &str) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        self.fields(keyword).into_iter().flatten().map(|(name, schema)| (name.as_str(), Schema(schema)))
    }

    pub(crate) fn property(self, name: &str) -> Option<Self> {
        self.fields("properties")?.get(name).map(Schema)
    }

    pub(crate) fn has_properties(self) -> bool {
        self.fields("properties").is_some_and(|properties| !properties.is_empty())
    }

    /// Returns the schema of the list items.
    pub(crate) fn items(self) -> Option<Self> {
        self.child("items")
    }

    pub(crate) fn additional(self) -> Option<Additional<'a>> {
        match self.get("additionalProperties")? {
            Value::Bool(allowed) => Some(Additional::Allowed(*allowed)),
            schema => Some(Additional::Schema(Schema(schema))),
        }
    }

    pub(crate) fn preserves_unknown_fields(self) -> bool {
        self.flag("x-kubernetes-preserve-unknown-fields")
    }

    pub(crate) fn is_embedded_resource(self) -> bool {
        self.flag("x-kubernetes-embedded-resource")
    }

    pub(crate) fn is_int_or_string(self) -> bool {
        self.flag("x-kubernetes-int-or-string")
    }

    pub(crate) fn is_nullable(self) -> bool {
        self.flag("nullable")
    }

    /// Returns `x-kubernetes-list-type`, even if it is empty.
    pub(crate) fn list_type(self) -> Option<&'a str> {
        self.get("x-kubernetes-list-type")?.as_str()
    }

    /// Returns `x-kubernetes-map-type`, even if it is empty.
    pub(crate) fn map_type(self) -> Option<&'a str> {
        self.get("x-kubernetes-map-type")?.as_str()
    }

    pub(crate) fn list_map_keys(self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.strings("x-kubernetes-list-map-keys")
    }
}
