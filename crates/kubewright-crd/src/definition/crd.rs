//! Access to the fields of a definition as in the server's internal version, where fields that are equal in all
//! versions are at the top level.

use serde_json::Value;

use crate::schema::Schema;

/// An object in a definition, with access to its fields by name.
pub(super) type Fields<'a> = Schema<'a>;

const NULL: &Value = &Value::Null;

/// A decoded definition: it has only known fields of the right types, and no nulls.
#[derive(Clone, Copy)]
pub(super) struct Crd<'a>(Fields<'a>);

impl<'a> Crd<'a> {
    pub(super) fn new(crd: &'a Value) -> Self {
        Self(Schema(crd))
    }

    pub(super) fn metadata(self) -> Fields<'a> {
        self.0.child("metadata").unwrap_or(Schema(NULL))
    }

    pub(super) fn spec(self) -> Fields<'a> {
        self.0.child("spec").unwrap_or(Schema(NULL))
    }

    pub(super) fn names(self) -> Fields<'a> {
        self.spec().child("names").unwrap_or(Schema(NULL))
    }

    pub(super) fn status(self) -> Fields<'a> {
        self.0.child("status").unwrap_or(Schema(NULL))
    }

    pub(super) fn annotation(self, name: &str) -> &'a str {
        self.metadata().child("annotations").map_or("", |annotations| annotations.string(name))
    }

    /// Returns the versions with all of their fields.
    pub(super) fn versions(self) -> impl ExactSizeIterator<Item = Fields<'a>> + Clone + use<'a> {
        self.spec().schemas("versions")
    }

    /// Returns the value of a field if it is equal in all versions: the server's top-level field.
    pub(super) fn top_level(self, keyword: &str) -> Option<&'a Value> {
        self.first_if_equal(keyword).flatten()
    }

    /// Returns the value of a field of a version if the versions differ: the server's per-version field.
    pub(super) fn per_version(self, version: Fields<'a>, keyword: &str) -> Option<&'a Value> {
        if self.first_if_equal(keyword).is_some() { None } else { version.get(keyword) }
    }

    /// Returns the value of a field of the first version, if all versions have an equal one.
    fn first_if_equal(self, keyword: &str) -> Option<Option<&'a Value>> {
        let non_empty = |version: Fields<'a>| version.get(keyword).filter(|value| **value != Value::Array(Vec::new()));
        let first = non_empty(self.versions().next()?);
        self.versions().all(|version| non_empty(version) == first).then_some(first)
    }

    /// Returns the schemas with the indexes of their versions. A top-level schema is returned once, as that of version
    /// 0.
    pub(super) fn schemas(self) -> impl Iterator<Item = (usize, Schema<'a>)> {
        let top_level = self.top_level("schema").map(|schema| (0, schema));
        let per_version = self
            .versions()
            .enumerate()
            .filter_map(move |(index, version)| Some((index, self.per_version(version, "schema")?)));
        top_level
            .into_iter()
            .chain(per_version)
            .filter_map(|(index, schema)| Some((index, Schema(schema).child("openAPIV3Schema")?)))
    }

    /// Whether the condition `Established` is true.
    pub(super) fn is_established(self) -> bool {
        let is_true =
            |condition: Fields<'a>| condition.string("type") == "Established" && condition.string("status") == "True";
        self.status().schemas("conditions").any(is_true)
    }
}

/// Whether a schema or a nested one satisfies a predicate.
pub(super) fn any_schema(schema: Schema<'_>, predicate: &mut dyn FnMut(Schema<'_>) -> bool) -> bool {
    predicate(schema) || nested_schemas(schema).into_iter().any(|nested| any_schema(nested, predicate))
}

fn nested_schemas(schema: Schema<'_>) -> Vec<Schema<'_>> {
    let single = ["items", "not", "additionalProperties", "additionalItems"];
    let lists = ["items", "allOf", "anyOf", "oneOf"];
    let maps = ["properties", "patternProperties", "definitions", "dependencies"];
    let single = single.into_iter().filter_map(|keyword| schema.child(keyword));
    let lists = lists.into_iter().flat_map(|keyword| schema.schemas(keyword));
    let maps = maps.into_iter().flat_map(|keyword| schema.schema_map(keyword).map(|(_, schema)| schema));
    single.chain(lists).chain(maps).filter(|schema| schema.0.is_object()).collect()
}
