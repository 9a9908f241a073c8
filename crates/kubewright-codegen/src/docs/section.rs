//! The sections of a kind: a table of its fields, then a section for each object within it.

use super::{
    field::Field,
    objects::{COMMON_FIELDS, Object, Objects, fields},
    text::{code, paragraphs, table},
};

/// The reference of the fields of `metadata`.
const METADATA: &str = "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/#ObjectMeta";

const HEAD: [&str; 4] = ["Field", "Type", "", "Description"];

/// Returns the fields of a kind, then a section for each object within it.
pub(super) fn sections(objects: &Objects<'_>, kind: &str, api_version: &str) -> String {
    let mut text = String::new();
    for object in objects.of_kind(kind) {
        if object.path == object.kind {
            text += &format!("\n{}", kind_table(objects, kind, api_version, object));
            continue;
        }
        let docs = paragraphs(object.schema["description"].as_str().unwrap_or_default());
        let path = if object.title == object.path { String::new() } else { format!("{}\n\n", code(&object.path)) };
        text += &format!("\n### {}\n\n{path}{docs}", object.title);
        text += &table(HEAD, rows(objects, object));
    }
    text
}

fn kind_table(objects: &Objects<'_>, kind: &str, api_version: &str, object: &Object<'_>) -> String {
    let common = [
        ("apiVersion", code(api_version)),
        ("kind", code(kind)),
        ("metadata", format!("Standard [object metadata]({METADATA})")),
    ];
    let common = common.map(|(name, about)| {
        let ty = if name == "metadata" { "object" } else { "string" };
        [code(name), ty.to_owned(), "required".to_owned(), about]
    });
    table(HEAD, common.into_iter().chain(rows(objects, object)))
}

fn rows(objects: &Objects<'_>, object: &Object<'_>) -> impl Iterator<Item = [String; 4]> {
    let required = object.schema["required"].as_array().cloned().unwrap_or_default();
    let is_kind = object.path == object.kind;
    let shown = fields(object.schema).filter(move |(name, _)| !is_kind || !COMMON_FIELDS.contains(name));
    shown.map(move |(name, schema)| {
        let path = format!("{}.{name}", object.path);
        let required = required.iter().any(|known| known == name);
        Field { name, schema, path: &path, required }.row(objects)
    })
}
