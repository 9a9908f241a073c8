//! Reads the fields of a definition other than its schemas.

use kubewright_crd::definition::check_json_path;
use serde_json::{Map, Value, json};

use super::{
    model::{Column, Kind, Names, Scale},
    names::TypeNames,
    reader::Reader,
};

/// A definition: its names, metadata and versions.
pub(super) struct Definition<'a> {
    /// Its name, such as `widgets.example.com`.
    pub(super) name: String,
    pub(super) group: String,
    spec: &'a Value,
    metadata: &'a Value,
    names: Names,
    /// Fields without an attribute, as a JSON merge patch.
    patch: Value,
}

impl<'a> Definition<'a> {
    /// Reads a normalized definition that the API server accepts.
    pub(super) fn new(definition: &'a Value, type_names: &mut TypeNames, notes: &mut Vec<String>) -> Self {
        let (spec, metadata) = (&definition["spec"], &definition["metadata"]);
        let (name, group) = (text(&metadata["name"]), text(&spec["group"]));
        report_unknown_fields(
            &["conversion", "group", "names", "scope", "versions"],
            spec,
            &format!("{name} .spec"),
            notes,
        );
        let (names, names_patch) = names(&group, &spec["names"], type_names);
        let mut patch = json!({});
        if let Some(conversion) = spec.get("conversion") {
            patch["spec"]["conversion"] = conversion.clone();
            notes.push(format!("`{name} .spec.conversion` is preserved by an override on the storage version"));
        }
        if !names_patch.is_empty() {
            patch["spec"]["names"] = Value::Object(names_patch);
            notes.push(format!("`{name} .spec.names` is preserved by an override on the storage version"));
        }
        Definition { name, group, spec, metadata, names, patch }
    }

    pub(super) fn versions(&self) -> impl Iterator<Item = &'a Value> {
        self.spec["versions"].as_array().into_iter().flatten()
    }

    /// Reads a version of the kind and its types. Attributes of the complete definition are those of the storage version.
    pub(super) fn kind(&self, version: &Value, reader: &mut Reader, notes: &mut Vec<String>) -> Kind {
        let shown = format!("{} {}", self.name, text(&version["name"]));
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
        report_unknown_fields(&known, version, &shown, notes);
        let is_stored = version["storage"] == true;
        let pairs = |fields: &Value| match is_stored {
            true => fields.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), text(value))).collect(),
            false => Vec::new(),
        };
        let mut patch = Map::new();
        let schema = version["schema"]["openAPIV3Schema"].clone();
        let status = version["subresources"].get("status").is_some();
        let item = reader.root(&schema, &shown, &self.names.type_name, status);
        let kind = Kind {
            names: self.names.clone(),
            namespaced: self.spec["scope"] == "Namespaced",
            storage: is_stored && self.versions().count() > 1,
            served: version["served"] == true,
            deprecated: deprecation_warning(version, &mut patch),
            status,
            scale: scale(version, &schema, &mut patch),
            columns: columns(version, &schema, &mut patch),
            selectable: selectable_fields(version, &schema, &mut patch),
            labels: pairs(&self.metadata["labels"]),
            annotations: pairs(&self.metadata["annotations"]),
            schema,
            item,
            overrides: Default::default(),
            definition_patch: if is_stored { self.patch.clone() } else { json!({}) },
            version_patch: Value::Null,
            shown,
        };
        for field in patch.keys() {
            notes.push(format!("`{} .{field}` is preserved by an override on the kind", kind.shown));
        }
        Kind { version_patch: Value::Object(patch), ..kind }
    }
}

/// Reports fields that are not part of the API. The server prunes them.
fn report_unknown_fields(known: &[&str], value: &Value, path: &str, notes: &mut Vec<String>) {
    for key in value.as_object().into_iter().flat_map(Map::keys).filter(|key| !known.contains(&key.as_str())) {
        notes.push(format!("`{path}.{key}` is not a field of a definition and was ignored"));
    }
}

/// Reads the names. Lists with duplicates have no attribute, and are returned as a patch.
fn names(group: &str, names: &Value, type_names: &mut TypeNames) -> (Names, Map<String, Value>) {
    let mut patch = Map::new();
    let mut list = |key: &str| {
        let mut all = texts(&names[key]);
        let count = all.len();
        let mut seen = Vec::new();
        all.retain(|name| {
            let is_new = !seen.contains(name);
            seen.push(name.clone());
            is_new
        });
        if all.len() < count {
            patch.insert(key.to_owned(), names[key].clone());
        }
        all
    };
    let (short_names, categories) = (list("shortNames"), list("categories"));
    let (kind, list_kind) = (text(&names["kind"]), text(&names["listKind"]));
    let (type_name, list_type_name) = type_names.of_kind(group, &kind, &list_kind);
    let names = Names {
        kind,
        list_kind,
        type_name,
        list_type_name,
        plural: text(&names["plural"]),
        singular: text(&names["singular"]),
        short_names,
        categories,
    };
    (names, patch)
}

/// Returns the warning of a deprecated version. The generator joins its words with single spaces.
fn deprecation_warning(version: &Value, patch: &mut Map<String, Value>) -> Option<String> {
    if version["deprecated"] != true {
        return None;
    }
    let warning = text(&version["deprecationWarning"]);
    if warning.split_whitespace().collect::<Vec<_>>().join(" ") != warning {
        patch.insert("deprecationWarning".to_owned(), json!(warning));
    }
    Some(warning)
}

/// Reads the scale subresource. If one of its paths is not in the schema, the subresources are returned as a patch.
fn scale(version: &Value, schema: &Value, patch: &mut Map<String, Value>) -> Option<Scale> {
    let scale = version["subresources"].get("scale")?;
    let selector = text(&scale["labelSelectorPath"]);
    let scale = Scale {
        spec: text(&scale["specReplicasPath"]),
        status: text(&scale["statusReplicasPath"]),
        selector: Some(selector).filter(|path| !path.is_empty()),
    };
    let is_expressible = check_json_path(schema, &scale.spec, "integer").is_ok()
        && check_json_path(schema, &scale.status, "integer").is_ok()
        && scale.selector.as_ref().is_none_or(|path| check_json_path(schema, path, "selector").is_ok());
    match is_expressible {
        true => Some(scale),
        false => {
            patch.insert("subresources".to_owned(), version["subresources"].clone());
            None
        }
    }
}

/// Reads the columns. If one of them has no attribute, all are returned as a patch.
fn columns(version: &Value, schema: &Value, patch: &mut Map<String, Value>) -> Vec<Column> {
    let columns = version["additionalPrinterColumns"].as_array().into_iter().flatten();
    let columns: Vec<Column> = columns
        .map(|column| {
            let optional = |key: &str| column.get(key).map(text);
            Column {
                column_type: text(&column["type"]),
                name: text(&column["name"]),
                path: text(&column["jsonPath"]),
                description: optional("description"),
                format: optional("format"),
                priority: column["priority"].as_i64().unwrap_or(0),
            }
        })
        .collect();
    let is_expressible = |column: &Column| {
        ["boolean", "date", "integer", "number", "string"].contains(&column.column_type.as_str())
            && column.path.starts_with('.')
            && (0..=i64::from(i32::MAX)).contains(&column.priority)
            && check_json_path(schema, &column.path, &column.column_type).is_ok()
    };
    match columns.iter().all(is_expressible) {
        true => columns,
        false => {
            patch.insert("additionalPrinterColumns".to_owned(), version["additionalPrinterColumns"].clone());
            Vec::new()
        }
    }
}

/// Reads the selectable fields. If one of them has no attribute, all are returned as a patch.
fn selectable_fields(version: &Value, schema: &Value, patch: &mut Map<String, Value>) -> Vec<String> {
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    let paths: Vec<String> = fields.map(|field| text(&field["jsonPath"])).collect();
    let is_expressible = |path: &String| {
        path.starts_with('.') && !path.starts_with(".metadata") && check_json_path(schema, path, "string").is_ok()
    };
    match paths.iter().all(is_expressible) {
        true => paths,
        false => {
            patch.insert("selectableFields".to_owned(), version["selectableFields"].clone());
            Vec::new()
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(values: &Value) -> Vec<String> {
    values.as_array().into_iter().flatten().map(text).collect()
}
