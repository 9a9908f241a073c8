//! One version in a CustomResourceDefinition: its schema, and what columns and selectors show of it.

use logger_core::meta::{ApiGroup, ApiKind, PrintColumn, Scale};
use logger_crd::structural::{self, Structural};
use serde_json::{Map, Value, json};

use super::definition::{Rust, item};
use super::options::CrdOptions;
use crate::deprecation;
use crate::diagnostic::Diagnostics;

/// A version of a kind.
pub(super) struct Version {
    item: String,
    schema: Structural,
    json: Map<String, Value>,
}

impl Version {
    /// What a definition says of this version; `None`, with the reason noted, where its schema was refused.
    pub(super) fn new(group: &ApiGroup, kind: &ApiKind, options: &CrdOptions, found: &mut Diagnostics) -> Option<Self> {
        let item = item(group, kind);
        let schema = schema(kind, &item, options, found)?;
        let mut json = Map::from_iter([
            ("name".to_owned(), json!(group.version)),
            ("served".to_owned(), json!(kind.definition.served)),
            ("schema".to_owned(), json!({"openAPIV3Schema": schema.schema})),
        ]);
        if let Some(warning) = deprecation::text(group, kind) {
            json.insert("deprecated".to_owned(), json!(true));
            if !warning.is_empty() {
                warning_is_accepted_by_the_server(&warning, &item, found);
                json.insert("deprecationWarning".to_owned(), json!(warning));
            }
        }
        let mut version = Version { item, schema, json };
        let columns = version.columns(kind, found);
        let selectable = version.selectable_fields(kind, found);
        for (name, values) in [("additionalPrinterColumns", columns), ("selectableFields", selectable)] {
            if !values.is_empty() {
                version.json.insert(name.to_owned(), json!(values));
            }
        }
        version.json.extend(subresources(kind).map(|value| ("subresources".to_owned(), value)));
        Some(version)
    }

    /// Itself, and whether objects are stored in it.
    pub(super) fn json(&self, storage: bool) -> Value {
        let mut json = self.json.clone();
        json.insert("storage".to_owned(), json!(storage));
        Value::Object(json)
    }

    pub(super) fn rust(self) -> Rust {
        Rust { item: self.item, fields: self.schema.rust }
    }

    /// The columns of the kind, then those of its fields in the order of their paths.
    fn columns(&self, kind: &ApiKind, found: &mut Diagnostics) -> Vec<Value> {
        let mut columns: Vec<Value> = kind.columns.iter().map(column).collect();
        for (path, said) in self.marked("x-logger-column") {
            let (Some(node), Some(path)) = (self.node(path), self.one_value("column", path, found)) else { continue };
            let Some(column_type) = column_type(node) else {
                found.push(self.rust_item(path), "a column shows a scalar; put `column` on a field of one");
                continue;
            };
            let mut column = said.clone();
            column["jsonPath"] = json!(path);
            column["type"] = json!(column_type);
            columns.push(column);
        }
        columns
    }

    fn selectable_fields(&self, kind: &ApiKind, found: &mut Diagnostics) -> Vec<Value> {
        let mut paths: Vec<&str> = kind.definition.selectable_fields.to_vec();
        for (path, _) in self.marked("x-logger-selectable") {
            let Some(path) = self.one_value("selectable", path, found) else { continue };
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        if paths.len() > 8 {
            found.push(&self.item, format!("{} of its fields are selectable, and the API server takes 8", paths.len()));
        }
        paths.iter().map(|path| json!({"jsonPath": path})).collect()
    }

    /// The paths of the fields with a mark, and what it says.
    fn marked<'a>(&'a self, mark: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.schema.marks.get(mark).into_iter().flatten().map(|(path, said)| (path.as_str(), said))
    }

    /// The path, if it is that of one value and no item or entry of many.
    fn one_value<'a>(&self, word: &str, path: &'a str, found: &mut Diagnostics) -> Option<&'a str> {
        let is_one = !path.contains(['[', '{']);
        if !is_one {
            let message = format!(
                "there are as many of it as its list or map has items; `{word}` needs a field that is there once"
            );
            found.push(self.rust_item(path), message);
        }
        is_one.then_some(path)
    }

    /// The schema of a path of fields.
    fn node(&self, path: &str) -> Option<&Value> {
        let fields = path.split('.').filter(|field| !field.is_empty());
        fields
            .map(|field| field.trim_end_matches("[]").trim_end_matches("{}"))
            .try_fold(&self.schema.schema, |node, field| node.get("properties")?.get(field))
    }

    /// The Rust field of a path, or the path below the type.
    fn rust_item(&self, path: &str) -> String {
        self.schema.rust.get(path).cloned().unwrap_or_else(|| format!("{}{path}", self.item))
    }
}

/// What `kubectl get` shows of a value of this schema.
fn column_type(node: &Value) -> Option<&'static str> {
    match (node.get("type")?.as_str()?, node.get("format").and_then(Value::as_str)) {
        ("string", Some("date-time" | "date")) => Some("date"),
        ("string", _) => Some("string"),
        ("integer", _) => Some("integer"),
        ("number", _) => Some("number"),
        ("boolean", _) => Some("boolean"),
        _ => None,
    }
}

fn schema(kind: &ApiKind, item: &str, options: &CrdOptions, found: &mut Diagnostics) -> Option<Structural> {
    let root = structural::Root { docs: kind.docs.to_owned(), status: kind.status };
    let options = structural::Options { root: Some(root), ..options.structural() };
    match structural::of(kind.schema?, &options) {
        Ok(structural) => Some(structural),
        Err(refusals) => {
            for refusal in refusals {
                // Without a path to the type, where it is in the kind tells more.
                let rust = refusal.rust.filter(|rust| rust.matches("::").count() > 1);
                found.push(rust.unwrap_or_else(|| format!("{item}{}", refusal.path)), refusal.message);
            }
            None
        }
    }
}

/// A warning goes into a header of every answer.
fn warning_is_accepted_by_the_server(warning: &str, item: &str, found: &mut Diagnostics) {
    if warning.len() > 256 {
        let message = format!("its deprecation warning has {} bytes, and the API server takes 256", warning.len());
        found.push(item, format!("{message}; shorten the note of `#[deprecated]`: `{warning}`"));
    }
    if warning.contains(char::is_control) {
        found.push(item, "its deprecation warning has a control character; take it out of the note of `#[deprecated]`");
    }
}

fn column(column: &PrintColumn) -> Value {
    let PrintColumn { name, column_type, json_path, description, format, priority } = column;
    let mut value = json!({"name": name, "type": column_type, "jsonPath": json_path});
    if let Some(description) = description {
        value["description"] = json!(description);
    }
    if let Some(format) = format {
        value["format"] = json!(format);
    }
    if *priority != 0 {
        value["priority"] = json!(priority);
    }
    value
}

fn subresources(kind: &ApiKind) -> Option<Value> {
    let mut subresources = Map::new();
    if kind.status {
        subresources.insert("status".to_owned(), json!({}));
    }
    if let Some(Scale { spec_path, status_path, selector_path }) = kind.scale {
        let mut scale = json!({"specReplicasPath": spec_path, "statusReplicasPath": status_path});
        if let Some(path) = selector_path {
            scale["labelSelectorPath"] = json!(path);
        }
        subresources.insert("scale".to_owned(), scale);
    }
    (!subresources.is_empty()).then_some(Value::Object(subresources))
}
