//! CustomResourceDefinitions: from kinds and their schemas to YAML.

mod yaml;

use std::collections::BTreeMap;

use logger_core::meta::{ApiGroup, ApiKind, PrintColumn, Scale};
use logger_crd::structural;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::Layout;
use crate::deprecation;
use crate::diagnostic::Diagnostics;
use crate::file::File;

/// The CRD of every kind, one file each, as `<group>_<plural>.yaml`.
pub(crate) fn files(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    let mut found = Diagnostics::default();
    let mut files: BTreeMap<String, (String, File)> = BTreeMap::new();
    for group in groups {
        for kind in group.kinds().filter(|kind| is_defined_here(group, kind)) {
            let item = format!("{}::{}", group.module, kind.rust_name);
            let path = format!("{}/{}_{}.yaml", layout.crd_dir, group.group, kind.plural);
            let Some(file) =
                definition(group, kind, &item, &mut found).and_then(|crd| yaml::write(&crd, &item, &mut found))
            else {
                continue;
            };
            let file = File::yaml(path.clone(), layout, &file);
            if let Some((other, _)) = files.insert(path, (item.clone(), file)) {
                found.push(&item, format!("`{other}` is another version of it; several versions of one kind need a storage version, which cannot be said yet; list the kind in one `group_version!`"));
            }
        }
    }
    found.or(files.into_values().map(|(_, file)| file).collect())
}

/// Whether a CRD is written: not for a kind that is defined elsewhere, nor in a group of Kubernetes' own, which has no dot.
fn is_defined_here(group: &ApiGroup, kind: &ApiKind) -> bool {
    kind.schema.is_some() && group.group.contains('.')
}

/// The whole definition; `None` where the schema was refused.
fn definition(group: &ApiGroup, kind: &ApiKind, item: &str, found: &mut Diagnostics) -> Option<Value> {
    let list_kind = group.list_kind(kind);
    let mut names = json!({
        "kind": kind.kind, "listKind": list_kind, "plural": kind.plural, "singular": kind.singular,
    });
    for (name, values) in [("shortNames", kind.short_names), ("categories", kind.categories)] {
        if !values.is_empty() {
            names[name] = json!(values);
        }
    }
    let mut version = json!({
        "name": group.version,
        "served": true,
        "storage": true,
        "schema": {"openAPIV3Schema": schema(kind, item, found)?},
    });
    if let Some(warning) = deprecation::text(group, kind) {
        version["deprecated"] = json!(true);
        if !warning.is_empty() {
            warning_is_accepted_by_the_server(&warning, item, found);
            version["deprecationWarning"] = json!(warning);
        }
    }
    if !kind.columns.is_empty() {
        version["additionalPrinterColumns"] = kind.columns.iter().map(column).collect();
    }
    if let Some(subresources) = subresources(kind) {
        version["subresources"] = subresources;
    }
    Some(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{}", kind.plural, group.group)},
        "spec": {
            "group": group.group,
            "names": names,
            "scope": kind.scope.as_str(),
            "versions": [version],
        },
    }))
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

fn schema(kind: &ApiKind, item: &str, found: &mut Diagnostics) -> Option<Value> {
    let read = contract(kind, SchemaSettings::draft2020_12().for_deserialize())?;
    let written = contract(kind, SchemaSettings::draft2020_12().for_serialize())?;
    let root = structural::Root { docs: kind.docs.to_owned(), status: kind.status };
    let options = structural::Options { root: Some(root), ..structural::Options::default() };
    match structural::structural(&structural::both_contracts(read, &written), &options) {
        Ok(structural) => Some(structural.schema),
        Err(refusals) => {
            for refusal in refusals {
                found.push(refusal.rust.unwrap_or_else(|| format!("{item}{}", refusal.path)), refusal.message);
            }
            None
        }
    }
}

/// The schema of what is read, or of what is written, with the definitions it refers to.
fn contract(kind: &ApiKind, settings: SchemaSettings) -> Option<Value> {
    let mut generator = settings.into_generator();
    let mut schema = kind.schema?(&mut generator).to_value();
    let definitions = generator.take_definitions(true);
    schema.as_object_mut()?.insert("$defs".to_owned(), Value::Object(definitions));
    Some(schema)
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
