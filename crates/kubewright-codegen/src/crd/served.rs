//! The definitions that the fake clientset serves: those of this API, and those that kube's derive declares for adopted
//! kinds.

use std::{collections::BTreeMap, mem};

use kubewright_core::meta::ApiGroup;
use kubewright_crd::definition as crd;
use kubewright_names::version;
use serde_json::{Value, json};

use super::{
    definition::{Definition, Definitions, path},
    rule_report,
};
use crate::{
    diagnostic::{Diagnostics, RustItem},
    layout::Layout,
};

/// Definitions by the path that the file of a generated one has.
pub(crate) type ServedDefinitions = BTreeMap<String, Served>;

/// A definition that the fake clientset serves.
pub(crate) struct Served {
    /// The Rust type, for diagnostics.
    pub(super) item: RustItem,
    pub(super) crd: Value,
}

/// Returns the generated definitions together with those of adopted kinds. The versions of a kind are in one
/// definition.
///
/// # Errors
/// The API server would reject the definition of an adopted kind.
pub(crate) fn served(
    groups: &[ApiGroup],
    definitions: &Definitions,
    layout: &Layout,
) -> Result<ServedDefinitions, Diagnostics> {
    let mut errors = Diagnostics::default();
    let generated = |definition: &Definition| Served { item: definition.item.clone(), crd: definition.crd.clone() };
    let mut served: ServedDefinitions =
        definitions.iter().map(|(path, definition)| (path.clone(), generated(definition))).collect();
    for (path, declared) in declared(groups, layout, &mut errors) {
        let generated = served.remove(&path);
        let is_generated = generated.is_some();
        if let Some(merged) = merge(generated.into_iter().chain(declared), is_generated) {
            validate(&merged, &mut errors);
            served.insert(path, merged);
        }
    }
    errors.or(served)
}

/// Returns the definitions that kube's derive declares, one for each version of a kind.
fn declared(groups: &[ApiGroup], layout: &Layout, errors: &mut Diagnostics) -> BTreeMap<String, Vec<Served>> {
    let mut declared: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for group in groups {
        for kind in group.kinds() {
            let (item, Some(crd)) = (RustItem::from_kind(group, kind), kind.crd) else { continue };
            match crd() {
                Ok(crd) => declared.entry(path(group, kind, layout)).or_default().push(Served { item, crd }),
                Err(error) => errors.push(item, format!("its CRD cannot be encoded as JSON: {error}")),
            }
        }
    }
    declared
}

/// Merges definitions of one kind: the first one gets the versions of all of them. A generated definition is the first
/// one, and has the storage version. kube's derive marks every version as the storage version unless it has
/// `storage = false`.
fn merge(mut definitions: impl Iterator<Item = Served>, is_generated: bool) -> Option<Served> {
    let mut first = definitions.next()?;
    let mut versions = take_versions(&mut first.crd);
    let generated = if is_generated { versions.len() } else { 0 };
    definitions.for_each(|mut other| versions.extend(take_versions(&mut other.crd)));
    let storage = if is_generated { None } else { preferred_storage(&versions) };
    for (i, version) in versions.iter_mut().enumerate().skip(generated) {
        set(version, "storage", json!(storage == Some(i)));
        if version.pointer("/schema/openAPIV3Schema").is_none() {
            // `#[kube(schema = "disabled")]`: the schema is not known here.
            let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            set(version, "schema", json!({"openAPIV3Schema": schema}));
        }
    }
    if let Some(spec) = first.crd.get_mut("spec") {
        set(spec, "versions", Value::Array(versions));
    }
    Some(first)
}

/// Removes the versions of a definition and returns them.
fn take_versions(crd: &mut Value) -> Vec<Value> {
    crd.pointer_mut("/spec/versions").and_then(Value::as_array_mut).map(mem::take).unwrap_or_default()
}

fn set(object: &mut Value, field: &str, value: Value) {
    if let Value::Object(object) = object {
        object.insert(field.to_owned(), value);
    }
}

/// Returns the index of the storage version: the preferred version of those that are marked, or of all.
fn preferred_storage(versions: &[Value]) -> Option<usize> {
    let is_marked = |i: &usize| versions[*i]["storage"] == true;
    let is_any_marked = (0..versions.len()).any(|i| is_marked(&i));
    let name = |i: &usize| versions[*i]["name"].as_str().unwrap_or_default();
    let candidates = (0..versions.len()).filter(|i| !is_any_marked || is_marked(i));
    candidates.max_by(|a, b| version::compare(name(a), name(b)))
}

/// Adds an error for everything the API server would reject.
fn validate(served: &Served, errors: &mut Diagnostics) {
    for finding in crd::validate(&served.crd).iter().filter(|finding| finding.is_error()) {
        let text = rule_report::describe(&served.crd, finding).replace('\n', "\n  ");
        let message = format!("the API server would reject the CRD that kube's derive declares: {text}");
        errors.push(&served.item, message);
    }
}
