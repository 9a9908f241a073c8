//! From CustomResourceDefinitions to Rust types with this project's derives and attributes.
//!
//! Generating the definition of the types gives the one they come from, but for what [`normal_form`] levels, and for the
//! descriptions in types of Kubernetes' own. What cannot be kept is an error.

mod check;
mod default;
mod definition;
mod docs;
mod emit;
mod facts;
mod kind;
mod kubernetes;
mod names;
mod normal;
mod reader;
mod types;

use std::collections::BTreeMap;

use serde_json::Value;

pub use normal::{differences, normal_form};

use crate::diagnostic::Diagnostics;
use crate::names::{short_group, snake_of_dotted};
use definition::Definition;
use reader::Reader;
use types::{At, Kind, Module};

/// How definitions are imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structs {
    /// An object with the schema of a type of Kubernetes' own is of that type. Its descriptions become those that
    /// k8s-openapi has.
    OfKubernetes,
    /// Every object is a type of the module.
    Own,
}

/// A version of a group in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The name of the module, such as `example_v1`.
    pub module: String,
    /// Its source, formatted.
    pub source: String,
    /// What is to be known of it, for people.
    pub notes: Vec<String>,
}

/// The types of definitions, one module for each version of a group.
///
/// # Errors
/// Everything in the definitions that types cannot say, each with its path.
pub fn import(definitions: &[Value], structs: Structs) -> Result<Vec<Imported>, Diagnostics> {
    let mut found = Diagnostics::default();
    let mut modules: BTreeMap<(String, String), (Reader, Vec<Kind>)> = BTreeMap::new();
    for definition in definitions.iter().map(normal_form) {
        let Some(definition) = Definition::new(&definition, &mut found) else { continue };
        for version in definition.versions() {
            let name = version["name"].as_str().unwrap_or_default();
            let (reader, kinds) = modules
                .entry((definition.group.clone(), name.to_owned()))
                .or_insert_with(|| (Reader::new(structs == Structs::OfKubernetes), Vec::new()));
            kinds.push(kind(&definition, version, reader, &mut found));
        }
    }
    let groups: Vec<String> = modules.keys().map(|(group, _)| group.clone()).collect();
    let mut imported = Vec::new();
    for ((group, version), (reader, kinds)) in modules {
        found.0.extend(reader.found.0);
        let module = Module { group, version, kinds, items: reader.items };
        let source = emit::module(&module, &mut found);
        let notes = reader.described_otherwise.iter().map(|(known, places)| note(known, places)).collect();
        imported.push(Imported { module: module_name(&module, &groups), source, notes });
    }
    found.or(imported)
}

fn note(known: &str, places: &[String]) -> String {
    let places = places.join("\n  ");
    format!("`{known}` has this schema, with other descriptions, which will be in the definition:\n  {places}")
}

/// A version of a kind, its types read.
fn kind(definition: &Definition<'_>, version: &Value, reader: &mut Reader, found: &mut Diagnostics) -> Kind {
    let (name, schema) = (&version["name"], &version["schema"]["openAPIV3Schema"]);
    let shown = format!("{} {}", definition.name, name.as_str().unwrap_or_default());
    let before = found.0.len();
    let mut kind = definition.kind(version, 0, found);
    if found.0.len() == before {
        check::keeps(schema, kind.status, &shown, found);
    }
    let at = At { shown: format!("{shown} "), words: vec![kind.names.kind.clone()] };
    kind.item = reader.root(schema, &at);
    kind
}

/// `example_v1`, or `example_com_v1` where two groups begin alike.
fn module_name(module: &Module, groups: &[String]) -> String {
    let short = short_group(&module.group);
    let clashes = groups.iter().any(|group| *group != module.group && short_group(group) == short);
    let group = if clashes { snake_of_dotted(&module.group) } else { short };
    format!("{group}_{}", module.version)
}
