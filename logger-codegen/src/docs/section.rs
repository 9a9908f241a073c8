//! Objects within a kind: each that has fields gets a section of its own, and fields link to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::field;
use super::text::{code, paragraphs, table};

/// The mark that names the Rust type of an object, where it is known.
const RUST_TYPE: &str = "x-rust-type";

/// Where the fields of `metadata` are described.
const METADATA: &str = "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/#ObjectMeta";

/// The sections of a page, in order.
#[derive(Default)]
pub(super) struct Sections<'a> {
    sections: Vec<Section<'a>>,
    slugs: BTreeSet<String>,
    /// Which section describes the object at a path, such as `Widget.spec`.
    by_path: BTreeMap<String, usize>,
}

struct Section<'a> {
    kind: String,
    /// The Rust type if it is known, else the path.
    title: String,
    slug: String,
    path: String,
    schema: &'a Value,
}

impl<'a> Sections<'a> {
    /// Notes a heading that is no section; gives what links to it end in.
    pub(super) fn reserve(&mut self, heading: &str) -> String {
        let bare: String = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let numbered = (1..).map(|number| format!("{bare}-{number}"));
        let slug = std::iter::once(bare.clone()).chain(numbered).find(|slug| !self.slugs.contains(slug));
        let slug = slug.unwrap_or(bare);
        self.slugs.insert(slug.clone());
        slug
    }

    /// Finds the objects of a kind; gives what links to the kind end in.
    pub(super) fn of_kind(&mut self, kind: &str, schema: &'a Value) -> String {
        let slug = self.reserve(kind);
        let section = Section {
            kind: kind.to_owned(),
            title: kind.to_owned(),
            slug: slug.clone(),
            path: kind.to_owned(),
            schema,
        };
        self.by_path.insert(kind.to_owned(), self.sections.len());
        self.sections.push(section);
        for (name, field) in fields(schema).filter(|(name, _)| !OF_EVERY_OBJECT.contains(name)) {
            self.find(kind, &format!("{kind}.{name}"), field);
        }
        slug
    }

    fn find(&mut self, kind: &str, path: &str, schema: &'a Value) {
        if fields(schema).next().is_some() {
            let rust_type = schema[RUST_TYPE].as_str().and_then(|path| path.rsplit("::").next());
            let title = rust_type.unwrap_or(path).to_owned();
            // One type is described once, unless its fields say something else here.
            let is_same = |section: &Section<'_>| section.title == title && section.schema == schema;
            if let Some(known) = self.sections.iter().position(is_same) {
                self.by_path.insert(path.to_owned(), known);
                return;
            }
            let slug = self.reserve(&title);
            self.by_path.insert(path.to_owned(), self.sections.len());
            self.sections.push(Section { kind: kind.to_owned(), title, slug, path: path.to_owned(), schema });
        }
        for (name, field) in fields(schema) {
            self.find(kind, &format!("{path}.{name}"), field);
        }
        for (sign, name) in [("[]", "items"), ("{}", "additionalProperties")] {
            if let Some(inner) = schema.get(name) {
                self.find(kind, &format!("{path}{sign}"), inner);
            }
        }
    }

    /// The link to the section that describes the object at a path: its title and what the link ends in.
    pub(super) fn link(&self, path: &str) -> Option<(&str, &str)> {
        let section = self.sections.get(*self.by_path.get(path)?)?;
        Some((&section.title, &section.slug))
    }

    /// The fields of a kind, then a section for each object within.
    pub(super) fn written(&self, kind: &str, api_version: &str) -> String {
        let mut text = String::new();
        for section in self.sections.iter().filter(|section| section.kind == kind) {
            if section.path == section.kind {
                text += &format!("\n{}", self.of_every_object(kind, api_version, section));
                continue;
            }
            let docs = paragraphs(section.schema["description"].as_str().unwrap_or_default());
            let place =
                if section.title == section.path { String::new() } else { format!("{}\n\n", code(&section.path)) };
            text += &format!("\n### {}\n\n{place}{docs}", section.title);
            text += &table(HEAD, self.rows(section));
        }
        text
    }

    fn of_every_object(&self, kind: &str, api_version: &str, section: &Section<'_>) -> String {
        let given = [
            ("apiVersion", format!("{} for this version", code(api_version))),
            ("kind", code(kind)),
            ("metadata", format!("Name, labels and what else [every object]({METADATA}) has")),
        ];
        let given = given.map(|(name, about)| {
            let of = if name == "metadata" { "object" } else { "string" };
            [code(name), of.to_owned(), "required".to_owned(), about]
        });
        table(HEAD, given.into_iter().chain(self.rows(section)))
    }

    fn rows(&self, section: &Section<'_>) -> impl Iterator<Item = [String; 4]> {
        let required = section.schema["required"].as_array().cloned().unwrap_or_default();
        let is_kind = section.path == section.kind;
        let shown = fields(section.schema).filter(move |(name, _)| !is_kind || !OF_EVERY_OBJECT.contains(name));
        shown.map(move |(name, schema)| {
            let path = format!("{}.{name}", section.path);
            let field =
                field::Field { name, schema, path: &path, required: required.iter().any(|known| known == name) };
            field.row(self)
        })
    }
}

const HEAD: [&str; 4] = ["Field", "Type", "", "Description"];
const OF_EVERY_OBJECT: [&str; 3] = ["apiVersion", "kind", "metadata"];

fn fields(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, field)| (name.as_str(), field))
}
