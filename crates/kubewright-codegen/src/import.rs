//! Imports CustomResourceDefinitions as Rust types with the derives and attributes of this project.
//!
//! The imported types generate a definition that equals the original after [`normalize`], except for descriptions
//! within Kubernetes types. Everything that the types cannot express is preserved by overrides, and reported.

mod default;
mod definition;
mod emit;
mod fit;
mod kubernetes;
mod locate;
mod model;
mod names;
mod normalize;
mod predict;
mod reader;

use std::collections::BTreeMap;

use kubewright_crd::{definition as crd, field::FieldError};
use serde_json::Value;

pub use normalize::{differences, normalize};

use crate::{
    diagnostic::Diagnostics,
    names::{short_group, snake_group, snake_version},
};
use definition::Definition;
use model::{Kind, Module};
use names::TypeNames;
use reader::Reader;

/// Whether Kubernetes types are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KubernetesTypes {
    /// An object with the schema of a Kubernetes type has that type. Its descriptions become those of k8s-openapi.
    Reuse,
    /// Every object is a type of the module.
    Generate,
}

/// An imported version of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedModule {
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kinds, sorted.
    pub kinds: Vec<String>,
    /// The name of the module, such as `example_v1`.
    pub module: String,
    /// Its formatted source.
    pub source: String,
    /// What the types do not express, for the user.
    pub notes: Vec<String>,
}

/// Imports definitions, one module for each version of a group.
///
/// # Errors
/// The API server would reject a definition, or two groups have the same module name.
pub fn import(definitions: &[Value], kubernetes_types: KubernetesTypes) -> Result<Vec<ImportedModule>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut notes = Vec::new();
    let mut modules: BTreeMap<(String, String), (Reader, Vec<Kind>)> = BTreeMap::new();
    let definitions: Vec<Value> =
        definitions.iter().filter(|definition| is_valid(definition, &mut errors)).map(normalize).collect();
    let mut type_names = TypeNames::new(&definitions);
    for definition in &definitions {
        let definition = Definition::new(definition, &mut type_names, &mut notes);
        for version in definition.versions() {
            let name = version["name"].as_str().unwrap_or_default();
            let (reader, kinds) = modules
                .entry((definition.group.clone(), name.to_owned()))
                .or_insert_with(|| (Reader::new(kubernetes_types == KubernetesTypes::Reuse), Vec::new()));
            kinds.push(definition.kind(version, reader, &mut notes));
        }
    }
    let names = module_names(modules.keys(), &mut errors);
    let mut imported = Vec::new();
    for (((group, version), (reader, kinds)), name) in modules.into_iter().zip(names) {
        let mut notes = std::mem::take(&mut notes);
        notes.extend(reader.described_otherwise.iter().map(|(known, paths)| description_note(known, paths)));
        let mut module = Module { group, version, kinds, types: reader.types };
        notes.extend(fit::fit(&mut module));
        let source = emit::module(&module, &mut errors);
        let mut kinds: Vec<String> = module.kinds.iter().map(|kind| kind.names.kind.clone()).collect();
        kinds.sort();
        let Module { group, version, .. } = module;
        imported.push(ImportedModule { group, version, kinds, module: name, source, notes });
    }
    errors.or(imported)
}

/// Whether the API server accepts the definition. Its errors are added.
fn is_valid(definition: &Value, errors: &mut Diagnostics) -> bool {
    let name = definition["metadata"]["name"].as_str().unwrap_or("(unnamed)");
    let before = errors.0.len();
    for finding in crd::validate(definition).into_iter().filter(FieldError::is_error) {
        errors.push(name, format!("the API server would reject it: {finding}"));
    }
    errors.0.len() == before
}

fn description_note(known: &str, paths: &[String]) -> String {
    let paths = paths.join("\n  ");
    format!("`{known}` has this schema with different descriptions, which replace those of:\n  {paths}")
}

/// Returns a module name for each version of a group: `example_v1`, or `example_com_v1` if several groups share the
/// first label.
fn module_names<'a>(
    versions: impl Iterator<Item = &'a (String, String)> + Clone,
    errors: &mut Diagnostics,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (group, version) in versions.clone() {
        let short = short_group(group);
        let is_shared = versions.clone().any(|(other, _)| other != group && short_group(other) == short);
        let group_name = if is_shared { snake_group(group) } else { short };
        let name = format!("{group_name}_{}", snake_version(version));
        if names.contains(&name) {
            errors.push(
                format!("{group}/{version}"),
                format!("another group has the module name `{name}`; import it separately"),
            );
        }
        names.push(name);
    }
    names
}
