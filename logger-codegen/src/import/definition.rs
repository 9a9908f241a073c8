//! What a definition says of its kind, beside schemas.

use serde_json::{Map, Value};

use super::types::{Column, Kind, Names};
use crate::diagnostic::Diagnostics;

/// Words that are read in an object; anything else cannot be kept.
fn only(known: &[&str], value: &Value, at: &str, found: &mut Diagnostics) {
    for key in value.as_object().into_iter().flat_map(Map::keys).filter(|key| !known.contains(&key.as_str())) {
        let message = match key.as_str() {
            "conversion" => {
                "types have no word for how versions are converted; take it out here, and add it where the definition is installed"
            }
            "preserveUnknownFields" => "unknown fields of all kinds are kept; say so of each type instead",
            _ => "the generator has no word for it; remove it",
        };
        found.push(format!("{at}.{key}"), message);
    }
}

/// A definition: its names, and its versions.
pub(super) struct Definition<'a> {
    /// `widgets.example.com`.
    pub(super) name: String,
    pub(super) group: String,
    spec: &'a Value,
    metadata: &'a Value,
    names: Names,
}

impl<'a> Definition<'a> {
    /// `definition` is in its normal form.
    pub(super) fn new(definition: &'a Value, found: &mut Diagnostics) -> Option<Self> {
        let (spec, metadata) = (&definition["spec"], &definition["metadata"]);
        let name = text(&metadata["name"]);
        only(&["apiVersion", "kind", "metadata", "spec"], definition, &name, found);
        only(&["group", "names", "scope", "versions"], spec, &format!("{name} .spec"), found);
        let names = names(&spec["names"], &name, found);
        let group = text(&spec["group"]);
        let is_kind = |name: &str| {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric());
            name.starts_with(|c: char| c.is_ascii_uppercase()) && is_plain && name != "Self"
        };
        for kind in [&names.kind, &names.list_kind] {
            if !is_kind(kind) {
                let message = format!("`{kind}` is no name of a Rust type: letters and digits, a capital first");
                found.push(format!("{name} .spec.names"), message);
                return None;
            }
        }
        if name != format!("{}.{group}", names.plural) {
            let message = format!(
                "the server takes the name `{}.{group}` only, which is what the generator writes",
                names.plural
            );
            found.push(format!("{name} .metadata.name"), message);
        }
        if !["Cluster", "Namespaced"].contains(&text(&spec["scope"]).as_str()) {
            found.push(format!("{name} .spec.scope"), "expected `Cluster` or `Namespaced`");
        }
        Some(Definition { name, group, spec, metadata, names })
    }

    pub(super) fn versions(&self) -> impl Iterator<Item = &'a Value> {
        self.spec["versions"].as_array().into_iter().flatten()
    }

    /// A version of the kind, whose type is this item. What is said of the whole definition stands on the stored one.
    pub(super) fn kind(&self, version: &Value, item: usize, found: &mut Diagnostics) -> Kind {
        let at = format!("{} {}", self.name, text(&version["name"]));
        let known = [
            "additionalPrinterColumns",
            "deprecated",
            "deprecationWarning",
            "name",
            "schema",
            "selectableFields",
            "served",
            "storage",
            "subresources",
        ];
        only(&known, version, &at, found);
        only(&["openAPIV3Schema"], &version["schema"], &at, found);
        let is_stored = version["storage"] == true;
        let pairs = |of: &Value| match is_stored {
            true => of.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), text(value))).collect(),
            false => Vec::new(),
        };
        Kind {
            names: self.names.clone(),
            namespaced: self.spec["scope"] == "Namespaced",
            storage: is_stored && self.versions().count() > 1,
            served: version["served"] == true,
            deprecated: deprecated(version, &at, found),
            status: version["subresources"].get("status").is_some(),
            scale: scale(&version["subresources"], &at, found),
            columns: columns(version, &at, found),
            selectable: selectable(version),
            labels: pairs(&self.metadata["labels"]),
            annotations: pairs(&self.metadata["annotations"]),
            item,
        }
    }
}

fn names(names: &Value, name: &str, found: &mut Diagnostics) -> Names {
    let known = ["categories", "kind", "listKind", "plural", "shortNames", "singular"];
    only(&known, names, &format!("{name} .spec.names"), found);
    Names {
        kind: text(&names["kind"]),
        list_kind: text(&names["listKind"]),
        plural: text(&names["plural"]),
        singular: text(&names["singular"]),
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
    }
}

/// The warning; the generator writes it on one line.
fn deprecated(version: &Value, at: &str, found: &mut Diagnostics) -> Option<String> {
    let warning = text(&version["deprecationWarning"]);
    let is_deprecated = version["deprecated"] == true;
    if !is_deprecated && !warning.is_empty() {
        found
            .push(format!("{at} .deprecationWarning"), "the version is not deprecated; say that it is, or remove this");
    }
    if warning.split_whitespace().collect::<Vec<_>>().join(" ") != warning {
        found.push(format!("{at} .deprecationWarning"), "words are one space apart in a warning; take out the rest");
    }
    is_deprecated.then_some(warning)
}

fn scale(subresources: &Value, at: &str, found: &mut Diagnostics) -> Option<(String, String, Option<String>)> {
    let at = format!("{at} .subresources");
    only(&["scale", "status"], subresources, &at, found);
    let scale = subresources.get("scale")?;
    only(&["labelSelectorPath", "specReplicasPath", "statusReplicasPath"], scale, &format!("{at}.scale"), found);
    let selector = text(&scale["labelSelectorPath"]);
    let selector = Some(selector).filter(|path| !path.is_empty());
    Some((text(&scale["specReplicasPath"]), text(&scale["statusReplicasPath"]), selector))
}

fn columns(version: &Value, at: &str, found: &mut Diagnostics) -> Vec<Column> {
    let columns = version["additionalPrinterColumns"].as_array().into_iter().flatten();
    let mut read = Vec::new();
    for column in columns {
        let at = format!("{at} .additionalPrinterColumns");
        only(&["description", "format", "jsonPath", "name", "priority", "type"], column, &at, found);
        let optional = |key: &str| column.get(key).map(text);
        let column = Column {
            column_type: text(&column["type"]),
            name: text(&column["name"]),
            path: text(&column["jsonPath"]),
            description: optional("description"),
            format: optional("format"),
            priority: column["priority"].as_i64().unwrap_or(0),
        };
        if !["boolean", "date", "integer", "number", "string"].contains(&column.column_type.as_str()) {
            found.push(&at, format!("`{}` is no type of a column", column.column_type));
            continue;
        }
        if !column.path.starts_with('.') || column.priority < 0 {
            let message =
                format!("the column `{}` needs a path that starts with a dot, and a priority from 0", column.name);
            found.push(&at, message);
        }
        read.push(column);
    }
    read
}

fn selectable(version: &Value) -> Vec<String> {
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    fields.map(|field| text(&field["jsonPath"])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(values: &Value) -> Vec<String> {
    values.as_array().into_iter().flatten().map(text).collect()
}
