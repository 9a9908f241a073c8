//! The objects within a kind: each object with fields gets a section, and fields link to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The Rust field, such as `my_types::v1::WidgetSpec::size`, of each path within a kind whose field is known.
type RustFields = BTreeMap<String, String>;

/// The fields that every object has.
pub(super) const COMMON_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The objects of a page, in order.
#[derive(Default)]
pub(super) struct Objects<'a> {
    all: Vec<Object<'a>>,
    slugs: BTreeSet<String>,
    /// Which object is at a path, such as `Widget.spec`.
    by_path: BTreeMap<String, usize>,
}

/// An object with fields, which has a section.
pub(super) struct Object<'a> {
    pub(super) kind: String,
    /// The name of the Rust type if it is known, or the path.
    pub(super) title: String,
    slug: String,
    pub(super) path: String,
    /// The path of the Rust type, if it is known.
    rust: Option<&'a str>,
    pub(super) schema: &'a Value,
}

impl<'a> Objects<'a> {
    /// Reserves the anchor of a heading and returns it.
    pub(super) fn reserve_slug(&mut self, heading: &str) -> String {
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

    /// Adds a kind and the objects within it; returns the anchor of the kind.
    pub(super) fn add_kind(&mut self, kind: &str, schema: &'a Value, rust: &'a RustFields) -> String {
        let slug = self.reserve_slug(kind);
        let [title, path] = [kind.to_owned(), kind.to_owned()];
        let object = Object { kind: kind.to_owned(), title, slug: slug.clone(), path, rust: None, schema };
        self.by_path.insert(kind.to_owned(), self.all.len());
        self.all.push(object);
        for (name, field) in fields(schema).filter(|(name, _)| !COMMON_FIELDS.contains(name)) {
            self.add(kind, &format!(".{name}"), field, rust);
        }
        slug
    }

    /// Adds the object at a path of a kind and the objects below it.
    fn add(&mut self, kind: &str, path: &str, schema: &'a Value, rust: &'a RustFields) {
        if fields(schema).next().is_some() {
            let ty = rust_type(path, schema, rust);
            let full_path = format!("{kind}{path}");
            // A type gets one section, unless its schema differs here.
            let is_same = |object: &Object<'_>| ty.is_some() && object.rust == ty && object.schema == schema;
            if let Some(known) = self.all.iter().position(is_same) {
                self.by_path.insert(full_path, known);
            } else {
                let name = ty.and_then(|path| path.rsplit("::").next());
                let title = name.map_or_else(|| full_path.clone(), str::to_owned);
                let slug = self.reserve_slug(&title);
                self.by_path.insert(full_path.clone(), self.all.len());
                self.all.push(Object { kind: kind.to_owned(), title, slug, path: full_path, rust: ty, schema });
            }
        }
        for (name, field) in fields(schema) {
            self.add(kind, &format!("{path}.{name}"), field, rust);
        }
        for (suffix, name) in [("[]", "items"), ("{}", "additionalProperties")] {
            if let Some(inner) = schema.get(name) {
                self.add(kind, &format!("{path}{suffix}"), inner, rust);
            }
        }
    }

    /// Returns title and anchor of the section of the object at a path.
    pub(super) fn link(&self, path: &str) -> Option<(&str, &str)> {
        let object = self.all.get(*self.by_path.get(path)?)?;
        Some((&object.title, &object.slug))
    }

    /// Returns the objects of a kind, the kind itself first.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Object<'a>> {
        self.all.iter().filter(move |object| object.kind == kind)
    }
}

/// Returns the fields of an object.
pub(super) fn fields(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, field)| (name.as_str(), field))
}

/// Returns the Rust type of an object; `None` if its fields belong to several types.
fn rust_type<'a>(path: &str, schema: &Value, rust: &'a RustFields) -> Option<&'a str> {
    let field = |(name, _): (&str, &Value)| rust.get(&format!("{path}.{name}"));
    let mut types = fields(schema).filter_map(field).filter_map(|field| field.rsplit_once("::")).map(|(ty, _)| ty);
    let first = types.next()?;
    types.all(|ty| ty == first).then_some(first)
}
