//! The Go types of Kubernetes and their fields: `types.json`, which `cargo xtask overlay` derives from the Go structs.

use std::{collections::BTreeMap, fmt, sync::LazyLock};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

/// All types.
pub(crate) struct Types {
    by_name: BTreeMap<String, usize>,
    all: Vec<Type>,
}

/// A Go struct.
pub(crate) struct Type {
    /// The name without the package.
    pub(crate) name: String,
    /// The fields, sorted by number in protobuf.
    pub(crate) fields: Vec<Field>,
    /// The fields in JSON, sorted by name, with those of inlined structs.
    json_fields: Vec<JsonField>,
}

/// A field in JSON.
#[derive(Clone)]
pub(crate) struct JsonField {
    name: String,
    /// Whether Go omits the empty value.
    pub(crate) omits_empty: bool,
    /// Whether the value is a map of the value type.
    pub(crate) is_map: bool,
    pub(crate) value_type: ValueType,
}

/// A field of a struct.
pub(crate) struct Field {
    /// The name in JSON.
    pub(crate) name: String,
    /// The name in Go, for errors.
    pub(crate) go_name: String,
    pub(crate) number: u32,
    pub(crate) json_tag: JsonTag,
    pub(crate) cardinality: Cardinality,
    pub(crate) value_type: ValueType,
}

/// How a field is encoded in JSON.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum JsonTag {
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
pub(crate) enum Cardinality {
    One,
    /// At most one value.
    Pointer,
    List,
    Map,
}

/// The type of a value.
#[derive(Clone, Copy)]
pub(crate) enum ValueType {
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
pub(crate) enum Special {
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
    pub(crate) fn all() -> &'static Self {
        static ALL: LazyLock<Types> = LazyLock::new(|| {
            let file: File = serde_json::from_str(include_str!("types.json")).expect("the file is checked by a test");
            Types::from_file(file)
        });
        &ALL
    }

    fn from_file(file: File) -> Self {
        let by_name: BTreeMap<String, usize> = file.types.keys().cloned().zip(0..).collect();
        let fields_of = |Entries(entries): &Entries| -> Vec<Field> {
            entries.iter().filter_map(|(key, entry)| field(key, entry, &by_name)).collect()
        };
        let structs: Vec<Vec<Field>> = file.types.values().map(fields_of).collect();
        let json_fields: Vec<_> = structs.iter().map(|fields| json_fields(fields, &structs)).collect();
        let types = file.types.keys().zip(structs).zip(json_fields);
        let all = types.map(|((name, mut fields), json_fields)| {
            fields.sort_by_key(|field| field.number);
            Type { name: name.rsplit('.').next().unwrap_or_default().to_owned(), fields, json_fields }
        });
        Self { all: all.collect(), by_name }
    }

    /// Returns the type of a kind: that of its group, or one of `meta.v1`, such as `Status`.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Type> {
        let (group, version) = api_version.split_once('/').unwrap_or(("core", api_version));
        let package = group.split('.').next().unwrap_or_default();
        self.named(&format!("{package}.{version}.{kind}")).or_else(|| self.named(&format!("meta.v1.{kind}")))
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Type> {
        self.all.get(*self.by_name.get(name)?)
    }

    pub(crate) fn at(&self, index: usize) -> &Type {
        &self.all[index]
    }

    /// Returns the type of the schemas of definitions.
    pub(crate) fn schema(&self) -> Option<&Type> {
        self.named("apiextensions.v1.JSONSchemaProps")
    }
}

impl Type {
    pub(crate) fn field(&self, number: u32) -> Option<&Field> {
        let index = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(index)
    }

    /// Returns a field by its name in JSON.
    pub(crate) fn json_field(&self, name: &str) -> Option<&JsonField> {
        let index = self.json_fields.binary_search_by(|field| field.name.as_str().cmp(name)).ok()?;
        self.json_fields.get(index)
    }

    /// Returns the type of the elements, if the JSON of this type is a list.
    pub(crate) fn element(&self) -> Option<ValueType> {
        self.fields.first().filter(|field| field.json_tag == JsonTag::Transparent).map(|field| field.value_type)
    }
}

impl Field {
    /// Returns whether Go omits the empty value. The empty value of a pointer is nil, not that of its target.
    pub(crate) fn omits_empty(&self) -> bool {
        self.json_tag == JsonTag::OmitEmpty && self.cardinality != Cardinality::Pointer
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Returns the fields of a struct in JSON, sorted by name. The fields of an inlined struct take its place.
fn json_fields(fields: &[Field], structs: &[Vec<Field>]) -> Vec<JsonField> {
    fn collect(fields: &[Field], structs: &[Vec<Field>], found: &mut Vec<JsonField>) {
        for field in fields {
            match field.value_type {
                ValueType::Message(index) if field.json_tag == JsonTag::Inline => {
                    collect(structs.get(index).map_or(&[], Vec::as_slice), structs, found);
                }
                value_type => {
                    found.push(JsonField {
                        name: field.name.clone(),
                        omits_empty: field.omits_empty(),
                        is_map: field.cardinality == Cardinality::Map,
                        value_type,
                    });
                }
            }
        }
    }
    let mut found = Vec::new();
    collect(fields, structs, &mut found);
    found.sort_by(|left, right| left.name.cmp(&right.name));
    found
}

#[derive(Deserialize)]
struct File {
    /// The types by package, version and name. Each field has its name, with a marker, and its number, type and
    /// optionally its name in Go.
    types: BTreeMap<String, Entries>,
}

/// The entries of a JSON object, in their order.
struct Entries(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;

        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor)
    }
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
        let expected: usize = file.types.values().map(|Entries(entries)| entries.len()).sum();
        let parsed: usize = Types::all().all.iter().map(|type_| type_.fields.len()).sum();
        assert_eq!(parsed, expected);
    }

    #[test]
    fn fields_of_inlined_structs_take_their_place() {
        let type_ = Types::all().named("core.v1.Volume").unwrap();
        let is_field = |name| type_.json_field(name).is_some();
        assert_eq!(["name", "hostPath", "emptyDir", "VolumeSource"].map(is_field), [true, true, true, false]);
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
