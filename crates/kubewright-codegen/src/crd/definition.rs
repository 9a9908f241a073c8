//! One CustomResourceDefinition with all versions of a kind.

use std::collections::BTreeMap;

use kubewright_core::meta::{ApiGroup, ApiKind};
use serde_json::{Map, Value, json};

use super::{conventions, conversion::conversion, overrides::merge, rust_paths::RustPaths, version::Version};
use crate::{
    diagnostic::{Diagnostic, Diagnostics, RustItem},
    layout::{CrdOptions, Layout},
};

/// Definitions by the path of their file.
pub(crate) type Definitions = BTreeMap<String, Definition>;

/// Returns the path of the file of a definition.
pub(crate) fn path(group: &ApiGroup, kind: &ApiKind, layout: &Layout) -> String {
    format!("{}/{}_{}.yaml", layout.crd_dir, group.group, kind.plural)
}

/// A generated definition.
pub(crate) struct Definition {
    /// The Rust type of the storage version, for diagnostics about the complete definition.
    pub(crate) item: RustItem,
    pub(crate) crd: Value,
    /// For each of its versions, the Rust type and the fields of the paths of its schema.
    pub(crate) versions: Vec<RustPaths>,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Definition {
    /// Returns the group.
    pub(crate) fn group(&self) -> &str {
        self.crd["spec"]["group"].as_str().unwrap_or_default()
    }

    /// Creates the definition of a kind from its versions. Returns `None` and adds the errors if one of them is invalid
    /// or they do not agree.
    pub(super) fn new(
        kinds: &[(&ApiGroup, &'static ApiKind)],
        options: &CrdOptions,
        errors: &mut Diagnostics,
    ) -> Option<Self> {
        let before = errors.0.len();
        let mut kinds = kinds.to_vec();
        kinds.sort_by_key(|(group, _)| group.version);
        let storage = storage_version(&kinds, errors);
        check_names(&kinds, errors);
        let versions: Vec<Version> =
            kinds.iter().filter_map(|(group, kind)| Version::new(group, kind, options, errors)).collect();
        let metadata = metadata(&kinds, errors);
        let conversion = conversion(&kinds, &versions, storage, errors);
        let (group, kind) = *kinds.get(storage)?;
        if errors.0.len() > before {
            return None;
        }
        let mut crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": metadata,
            "spec": {
                "group": group.group,
                "names": names(group, kind),
                "scope": kind.scope.as_str(),
                "versions": versions.iter().enumerate().map(|(i, version)| version.json(i == storage)).collect::<Vec<_>>(),
            },
        });
        if let Some(conversion) = conversion {
            crd["spec"]["conversion"] = conversion;
        }
        versions
            .iter()
            .filter_map(|version| version.definition_patch.as_ref())
            .for_each(|patch| merge(&mut crd, patch));
        Some(Definition {
            item: RustItem::from_kind(group, kind),
            crd,
            warnings: not_served(&kinds)
                .into_iter()
                .chain(conventions::version_names(&kinds))
                .chain(versions.iter().flat_map(|version| version.warnings.clone()))
                .collect(),
            versions: versions.into_iter().map(Version::rust_paths).collect(),
        })
    }
}

/// Returns a warning if no version is served. The API server accepts such a definition.
fn not_served(kinds: &[(&ApiGroup, &'static ApiKind)]) -> Option<Diagnostic> {
    let (group, kind) = kinds.first()?;
    let message = "none of its versions is served; remove `unserved` from one";
    let is_served = kinds.iter().any(|(_, kind)| kind.definition.served);
    (!is_served).then(|| RustItem::from_kind(group, kind).diagnostic(message))
}

/// Returns the index of the storage version: the one that is marked as such, or the only one.
fn storage_version(kinds: &[(&ApiGroup, &'static ApiKind)], errors: &mut Diagnostics) -> usize {
    let marked: Vec<usize> = (0..kinds.len()).filter(|i| kinds[*i].1.definition.storage).collect();
    let item = |i: usize| RustItem::from_kind(kinds[i].0, kinds[i].1);
    let paths =
        |indexes: &[usize]| indexes.iter().map(|i| format!("`{}`", item(*i).path)).collect::<Vec<_>>().join(", ");
    match marked.as_slice() {
        [only] => *only,
        [] if kinds.len() == 1 => 0,
        [] => {
            let all: Vec<usize> = (0..kinds.len()).collect();
            let message =
                format!("none of its versions {} is the storage version; mark one with `#[k8s(storage)]`", paths(&all));
            errors.push(item(kinds.len() - 1), message);
            0
        }
        [first, ..] => {
            let message = format!("{} have `#[k8s(storage)]`; only one version is the storage version", paths(&marked));
            errors.push(item(*first).about("storage"), message);
            0
        }
    }
}

/// Checks that all versions have the names and the scope of the definition.
fn check_names(kinds: &[(&ApiGroup, &'static ApiKind)], errors: &mut Diagnostics) {
    for pair in kinds.windows(2) {
        let [(first_group, first), (group, kind)] = pair else { continue };
        let (first_item, item) = (RustItem::from_kind(first_group, first), RustItem::from_kind(group, kind));
        let (first_names, names_of_version) = (names(first_group, first), names(group, kind));
        let differ = |name: &&String| first_names.get(name.as_str()) != names_of_version.get(name.as_str());
        let mut keys: Vec<&String> = first_names.keys().chain(names_of_version.keys()).filter(differ).collect();
        keys.dedup();
        for key in keys {
            let text =
                |names: &Map<String, Value>| names.get(key).map_or_else(|| "not set".to_owned(), Value::to_string);
            let message = format!(
                "its `{key}` is {}, but that of `{}` is {}: all versions of a kind have the same names",
                text(&names_of_version),
                first_item.path,
                text(&first_names)
            );
            errors.push(&item, message);
        }
        if first.scope != kind.scope {
            let message =
                format!("its scope differs from that of its version `{}`; set the same scope on both", first_item.path);
            errors.push(&item, message);
        }
    }
}

fn names(group: &ApiGroup, kind: &ApiKind) -> Map<String, Value> {
    let mut names = Map::from_iter([
        ("kind".to_owned(), json!(kind.kind)),
        ("listKind".to_owned(), json!(group.list_kind(kind))),
        ("plural".to_owned(), json!(kind.plural)),
        ("singular".to_owned(), json!(kind.singular)),
    ]);
    for (name, values) in [("shortNames", kind.short_names), ("categories", kind.categories)] {
        if !values.is_empty() {
            names.insert(name.to_owned(), json!(values));
        }
    }
    names
}

/// Returns the name, and the annotations and labels of all versions.
fn metadata(kinds: &[(&ApiGroup, &'static ApiKind)], errors: &mut Diagnostics) -> Value {
    let mut metadata = json!({});
    for (group, kind) in kinds {
        metadata["name"] = json!(format!("{}.{}", kind.plural, group.group));
        for (field, pairs) in [("annotations", kind.definition.annotations), ("labels", kind.definition.labels)] {
            for (name, value) in pairs {
                let current = &mut metadata[field][*name];
                if !current.is_null() && *current != json!(value) {
                    let message = format!("`{name}` is {current} in another version of it; set the same value in both");
                    errors.push(RustItem::from_kind(group, kind).about(format!("{name}={value}")), message);
                }
                *current = json!(value);
            }
        }
    }
    metadata
}
