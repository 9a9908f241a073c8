//! Which fields types are made of: `types.json`, as `cargo xtask overlay` derives it from Go's types.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

/// Every type there is.
pub(super) struct Types {
    by_name: BTreeMap<String, usize>,
    all: Vec<Type>,
}

/// A struct of Go.
pub(super) struct Type {
    /// Without its package.
    pub(super) name: String,
    /// By number.
    pub(super) fields: Vec<Field>,
}

/// A field of a struct.
pub(super) struct Field {
    /// In JSON.
    pub(super) name: String,
    /// The name in Go, for errors.
    pub(super) go_name: String,
    pub(super) number: u32,
    pub(super) place: Place,
    pub(super) holds: Holds,
    pub(super) of: Of,
}

/// Where JSON has a field.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    Always,
    /// It is left out when it is nothing.
    Optional,
    /// Its own fields are in its place.
    Inline,
    /// It is all there is: JSON has it in place of the struct.
    Whole,
}

/// How many values a field holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Holds {
    One,
    /// One or none.
    Pointer,
    List,
    Map,
}

/// What a value is.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Text,
    Bytes,
    Bool,
    Int32,
    Int64,
    Float64,
    /// Of the type with this index.
    Message(usize),
    Special(Special),
}

/// The types that JSON has otherwise than as their fields.
#[derive(Clone, Copy)]
pub(super) enum Special {
    Quantity,
    /// A message whose first field is JSON.
    Raw,
    IntOrString,
    Time,
    MicroTime,
    SchemaOrBool,
    SchemaOrSchemas,
    SchemaOrTexts,
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
            let mut fields: Vec<Field> =
                fields.iter().filter_map(|(key, written)| field(key, written, &by_name)).collect();
            fields.sort_by_key(|field| field.number);
            Type { name: name.rsplit('.').next().unwrap_or_default().to_owned(), fields }
        });
        Self { all: all.collect(), by_name }
    }

    /// The type of a kind: that of its group, or that of no group, such as a Status.
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

    /// The schemas of definitions.
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
    /// By package, version and name; of each field its name, with a mark, and its number, its type and perhaps its name in Go.
    types: BTreeMap<String, BTreeMap<String, String>>,
}

/// Reads what is written of a field; nothing, if it is not understood.
fn field(key: &str, written: &str, types: &BTreeMap<String, usize>) -> Option<Field> {
    let mut words = written.split(' ');
    let (number, type_) = (words.next()?, words.next()?);
    let (name, place) = match (key.strip_suffix('?'), key.strip_prefix('+')) {
        _ if key == "[]" => ("items", Place::Whole),
        (Some(name), _) => (name, Place::Optional),
        (None, Some(name)) => (name, Place::Inline),
        (None, None) => (key, Place::Always),
    };
    let prefixes = [("*", Holds::Pointer), ("[]", Holds::List), ("{}", Holds::Map), ("", Holds::One)];
    let (name_of_type, holds) =
        prefixes.iter().find_map(|(prefix, holds)| Some((type_.strip_prefix(prefix)?, *holds)))?;
    let go_name = words.next().map_or_else(|| capitalised(name), str::to_owned);
    let (number, of) = (number.parse().ok()?, of(name_of_type, types)?);
    Some(Field { name: name.to_owned(), go_name, number, place, holds, of })
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn of(name: &str, types: &BTreeMap<String, usize>) -> Option<Of> {
    Some(match name {
        "string" => Of::Text,
        "bytes" => Of::Bytes,
        "bool" => Of::Bool,
        "int32" => Of::Int32,
        "int64" => Of::Int64,
        "float64" => Of::Float64,
        "Quantity" => Of::Special(Special::Quantity),
        "FieldsV1" | "JSON" | "RawExtension" => Of::Special(Special::Raw),
        "IntOrString" => Of::Special(Special::IntOrString),
        "Time" => Of::Special(Special::Time),
        "MicroTime" => Of::Special(Special::MicroTime),
        "JSONSchemaPropsOrBool" => Of::Special(Special::SchemaOrBool),
        "JSONSchemaPropsOrArray" => Of::Special(Special::SchemaOrSchemas),
        "JSONSchemaPropsOrStringArray" => Of::Special(Special::SchemaOrTexts),
        name => Of::Message(*types.get(name)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_file_is_understood() {
        let file: File = serde_json::from_str(include_str!("types.json")).unwrap();
        let written: usize = file.types.values().map(BTreeMap::len).sum();
        let read: usize = Types::all().all.iter().map(|type_| type_.fields.len()).sum();
        assert_eq!(read, written);
    }

    #[test]
    fn kinds_of_every_group_and_of_none_have_a_type() {
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
