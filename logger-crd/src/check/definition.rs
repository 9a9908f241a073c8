//! A definition as the server holds it: what all versions have alike stands beside them.

use serde_json::Value;

use crate::schema::Schema;

/// A part of a definition: an object whose fields are read by name.
pub(super) type Fields<'a> = Schema<'a>;

const NOTHING: &Value = &Value::Null;

/// A definition that was read: known fields of the right types, none of them null.
#[derive(Clone, Copy)]
pub(super) struct Definition<'a>(Fields<'a>);

impl<'a> Definition<'a> {
    pub(super) fn of(crd: &'a Value) -> Self {
        Self(Schema(crd))
    }

    pub(super) fn metadata(self) -> Fields<'a> {
        self.0.child("metadata").unwrap_or(Schema(NOTHING))
    }

    pub(super) fn spec(self) -> Fields<'a> {
        self.0.child("spec").unwrap_or(Schema(NOTHING))
    }

    pub(super) fn names(self) -> Fields<'a> {
        self.spec().child("names").unwrap_or(Schema(NOTHING))
    }

    pub(super) fn status(self) -> Fields<'a> {
        self.0.child("status").unwrap_or(Schema(NOTHING))
    }

    pub(super) fn annotation(self, name: &str) -> &'a str {
        self.metadata().child("annotations").map_or("", |annotations| annotations.text(name))
    }

    /// The versions as they are written.
    pub(super) fn versions(self) -> impl ExactSizeIterator<Item = Fields<'a>> + Clone + use<'a> {
        self.spec().list("versions")
    }

    /// What all versions have alike in a field; nothing if they differ.
    pub(super) fn shared(self, keyword: &str) -> Option<&'a Value> {
        self.first_if_alike(keyword).flatten()
    }

    /// What a version has of its own in a field.
    pub(super) fn own(self, version: Fields<'a>, keyword: &str) -> Option<&'a Value> {
        if self.first_if_alike(keyword).is_some() { None } else { version.get(keyword) }
    }

    /// What the first version has in a field, if all have the same.
    fn first_if_alike(self, keyword: &str) -> Option<Option<&'a Value>> {
        let filled = |version: Fields<'a>| version.get(keyword).filter(|value| **value != Value::Array(Vec::new()));
        let first = filled(self.versions().next()?);
        self.versions().all(|version| filled(version) == first).then_some(first)
    }

    /// The schemas of all versions, with the indexes of those; one that is shared once, as that of the first.
    pub(super) fn schemas(self) -> impl Iterator<Item = (usize, Schema<'a>)> {
        let shared = self.shared("schema").map(|schema| (0, schema));
        let own =
            self.versions().enumerate().filter_map(move |(index, version)| Some((index, self.own(version, "schema")?)));
        shared
            .into_iter()
            .chain(own)
            .filter_map(|(index, schema)| Some((index, Schema(schema).child("openAPIV3Schema")?)))
    }

    /// Whether a condition of the status is true.
    pub(super) fn is_established(self) -> bool {
        let is_true =
            |condition: Fields<'a>| condition.text("type") == "Established" && condition.text("status") == "True";
        self.status().list("conditions").any(is_true)
    }
}

/// Whether a schema, or any inside it, is as asked for.
pub(super) fn any_schema(schema: Schema<'_>, test: &mut dyn FnMut(Schema<'_>) -> bool) -> bool {
    test(schema) || inner_schemas(schema).into_iter().any(|inner| any_schema(inner, test))
}

fn inner_schemas(schema: Schema<'_>) -> Vec<Schema<'_>> {
    let one = ["items", "not", "additionalProperties", "additionalItems"];
    let lists = ["items", "allOf", "anyOf", "oneOf"];
    let maps = ["properties", "patternProperties", "definitions", "dependencies"];
    let one = one.into_iter().filter_map(|keyword| schema.child(keyword));
    let lists = lists.into_iter().flat_map(|keyword| schema.list(keyword));
    let maps = maps.into_iter().flat_map(|keyword| schema.map(keyword).map(|(_, schema)| schema));
    one.chain(lists).chain(maps).filter(|schema| schema.0.is_object()).collect()
}
