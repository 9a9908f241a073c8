//! Objects within a kind: each that has fields gets a section of its own, and fields link to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::field;
use super::text::{code, paragraphs, table};

/// The Rust field, `my_types::v1::WidgetSpec::size`, of each path within a kind whose field is known.
type Rust = BTreeMap<String, String>;

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
    /// The Rust type, if it is known.
    rust: Option<&'a str>,
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
    pub(super) fn of_kind(&mut self, kind: &str, schema: &'a Value, rust: &'a Rust) -> String {
        let slug = self.reserve(kind);
        let [title, path] = [kind.to_owned(), kind.to_owned()];
        let section = Section { kind: kind.to_owned(), title, slug: slug.clone(), path, rust: None, schema };
        self.by_path.insert(kind.to_owned(), self.sections.len());
        self.sections.push(section);
        for (name, field) in fields(schema).filter(|(name, _)| !OF_EVERY_OBJECT.contains(name)) {
            self.find(kind, &format!(".{name}"), field, rust);
        }
        slug
    }

    fn find(&mut self, kind: &str, path: &str, schema: &'a Value, rust: &'a Rust) {
        if fields(schema).next().is_some() {
            let of = rust_type(path, schema, rust);
            let whole_path = format!("{kind}{path}");
            // One type is described once, unless its fields say something else here.
            let is_same = |section: &Section<'_>| of.is_some() && section.rust == of && section.schema == schema;
            if let Some(known) = self.sections.iter().position(is_same) {
                self.by_path.insert(whole_path, known);
            } else {
                let name = of.and_then(|path| path.rsplit("::").next());
                let title = name.map_or_else(|| whole_path.clone(), str::to_owned);
                let slug = self.reserve(&title);
                self.by_path.insert(whole_path.clone(), self.sections.len());
                self.sections.push(Section { kind: kind.to_owned(), title, slug, path: whole_path, rust: of, schema });
            }
        }
        for (name, field) in fields(schema) {
            self.find(kind, &format!("{path}.{name}"), field, rust);
        }
        for (sign, name) in [("[]", "items"), ("{}", "additionalProperties")] {
            if let Some(inner) = schema.get(name) {
                self.find(kind, &format!("{path}{sign}"), inner, rust);
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

/// The type that has the fields of an object; `None` if they are of several.
fn rust_type<'a>(path: &str, schema: &Value, rust: &'a Rust) -> Option<&'a str> {
    let field = |(name, _): (&str, &Value)| rust.get(&format!("{path}.{name}"));
    let mut types = fields(schema).filter_map(field).filter_map(|field| field.rsplit_once("::")).map(|(of, _)| of);
    let first = types.next()?;
    types.all(|of| of == first).then_some(first)
}
