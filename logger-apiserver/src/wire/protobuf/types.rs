//! The protobuf types and their fields: `types.json`, which `cargo xtask overlay` derives from the Go types.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

/// All types.
pub(super) struct Types {
    by_name: BTreeMap<String, usize>,
    all: Vec<Type>,
}

/// A Go struct.
pub(super) struct Type {
    /// The name without the package.
    pub(super) name: String,
    /// The fields, sorted by number.
    pub(super) fields: Vec<Field>,
}

/// A field of a struct.
pub(super) struct Field {
    /// The name in JSON.
    pub(super) name: String,
    /// The name in Go, for errors.
    pub(super) go_name: String,
    pub(super) number: u32,
    pub(super) json_tag: JsonTag,
    pub(super) cardinality: Cardinality,
    pub(super) value_type: ValueType,
}

/// How a field is encoded in JSON.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum JsonTag {
    /// The field is always present.
    Always,
    /// The field is omitted if it is empty.
    OmitEmpty,
    /// The fields of the struct take the place of the field.
    Inline,
    /// The only field, whose value takes the place of the struct.
    Transparent,
}

/// The number of values of a field.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Cardinality {
    One,
    /// At most one value.
    Pointer,
    List,
    Map,
}

/// The type of a value.
#[derive(Clone, Copy)]
pub(super) enum ValueType {
    String,
    Bytes,
    Bool,
    Int32,
    Int64,
    Float64,
    /// A message of the type with this index.
    Message(usize),
    Special(Special),
}

/// The types with a custom JSON encoding.
#[derive(Clone, Copy)]
pub(super) enum Special {
    Quantity,
    /// A message whose first field is JSON.
    Raw,
    IntOrString,
    Time,
    MicroTime,
    SchemaOrBool,
    SchemaOrArray,
    SchemaOrStringArray,
}

impl Types {
    pub(super) fn all() -> &'static Self {
        static ALL: LazyLock<Types> = LazyLock::new(|| {
            let file: File = serde_json::from_str(include_str!("types.json")).expect("the file is checked by a test");
            Types::of(file)
        });
        &ALL
    }

    fn of(file: File) -> Self {
        let by_name: BTreeMap<String, usize> = file.types.keys().cloned().zip(0..).collect();
        let all = file.types.iter().map(|(name, fields)| {
            let mut fields: Vec<Field> = fields.iter().filter_map(|(key, entry)| field(key, entry, &by_name)).collect();
            fields.sort_by_key(|field| field.number);
            Type { name: name.rsplit('.').next().unwrap_or_default().to_owned(), fields }
        });
        Self { all: all.collect(), by_name }
    }

    /// Returns the type of a kind: that of its group, or one of `meta.v1`, such as `Status`.
    pub(super) fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Type> {
        let (group, version) = api_version.split_once('/').unwrap_or(("core", api_version));
        let package = group.split('.').next().unwrap_or_default();
        self.named(&format!("{package}.{version}.{kind}")).or_else(|| self.named(&format!("meta.v1.{kind}")))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Type> {
        self.all.get(*self.by_name.get(name)?)
    }

    pub(super) fn at(&self, index: usize) -> &Type {
        &self.all[index]
    }

    /// Returns the type of the schemas of definitions.
    pub(super) fn schema(&self) -> Option<&Type> {
        self.named("apiextensions.v1.JSONSchemaProps")
    }
}

impl Type {
    pub(super) fn field(&self, number: u32) -> Option<&Field> {
        let index = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(index)
    }
}

#[derive(Deserialize)]
struct File {
    /// The types by package, version and name. Each field has its name, with a marker, and its number, type and
    /// optionally its name in Go.
    types: BTreeMap<String, BTreeMap<String, String>>,
}

/// Parses the entry of a field. Returns `None` for invalid entries.
fn field(key: &str, entry: &str, types: &BTreeMap<String, usize>) -> Option<Field> {
    let mut parts = entry.split(' ');
    let (number, type_) = (parts.next()?, parts.next()?);
    let (name, json_tag) = match (key.strip_suffix('?'), key.strip_prefix('+')) {
        _ if key == "[]" => ("items", JsonTag::Transparent),
        (Some(name), _) => (name, JsonTag::OmitEmpty),
        (None, Some(name)) => (name, JsonTag::Inline),
        (None, None) => (key, JsonTag::Always),
    };
    let prefixes =
        [("*", Cardinality::Pointer), ("[]", Cardinality::List), ("{}", Cardinality::Map), ("", Cardinality::One)];
    let (type_name, cardinality) =
        prefixes.iter().find_map(|(prefix, cardinality)| Some((type_.strip_prefix(prefix)?, *cardinality)))?;
    let go_name = parts.next().map_or_else(|| capitalized(name), str::to_owned);
    let (number, value_type) = (number.parse().ok()?, value_type(type_name, types)?);
    Some(Field { name: name.to_owned(), go_name, number, json_tag, cardinality, value_type })
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn value_type(name: &str, types: &BTreeMap<String, usize>) -> Option<ValueType> {
    Some(match name {
        "string" => ValueType::String,
        "bytes" => ValueType::Bytes,
        "bool" => ValueType::Bool,
        "int32" => ValueType::Int32,
        "int64" => ValueType::Int64,
        "float64" => ValueType::Float64,
        "Quantity" => ValueType::Special(Special::Quantity),
        "FieldsV1" | "JSON" | "RawExtension" => ValueType::Special(Special::Raw),
        "IntOrString" => ValueType::Special(Special::IntOrString),
        "Time" => ValueType::Special(Special::Time),
        "MicroTime" => ValueType::Special(Special::MicroTime),
        "JSONSchemaPropsOrBool" => ValueType::Special(Special::SchemaOrBool),
        "JSONSchemaPropsOrArray" => ValueType::Special(Special::SchemaOrArray),
        "JSONSchemaPropsOrStringArray" => ValueType::Special(Special::SchemaOrStringArray),
        name => ValueType::Message(*types.get(name)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_file_is_parsed() {
        let file: File = serde_json::from_str(include_str!("types.json")).unwrap();
        let expected: usize = file.types.values().map(BTreeMap::len).sum();
        let parsed: usize = Types::all().all.iter().map(|type_| type_.fields.len()).sum();
        assert_eq!(parsed, expected);
    }

    #[test]
    fn kinds_with_and_without_a_group_have_a_type() {
        for (api_version, kind) in [
            ("v1", "ConfigMap"),
            ("v1", "PodList"),
            ("rbac.authorization.k8s.io/v1", "Role"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("events.k8s.io/v1", "Event"),
            ("v1", "Status"),
            ("apps/v1", "DeleteOptions"),
            ("meta.k8s.io/v1", "PartialObjectMetadataList"),
        ] {
            assert!(Types::all().of_kind(api_version, kind).is_some(), "{api_version} {kind}");
        }
        assert!(Types::all().of_kind("example.com/v1", "Widget").is_none());
        assert!(Types::all().of_kind("meta.k8s.io/v1", "Table").is_none());
    }
}
