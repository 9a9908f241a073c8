//! One CustomResourceDefinition of all versions of a kind.

use std::collections::BTreeMap;

use logger_core::meta::{ApiGroup, ApiKind};
use serde_json::{Map, Value, json};

use super::options::CrdOptions;
use super::version::Version;
use crate::diagnostic::Diagnostics;

/// A CRD that was made.
pub(crate) struct Definition {
    /// The Rust type of the version that is stored, for what is said of the whole.
    pub(crate) item: String,
    pub(crate) crd: Value,
    /// For each of its versions, the Rust type and the fields of its schema's paths.
    pub(crate) versions: Vec<Rust>,
}

/// What in Rust a version is of.
pub(crate) struct Rust {
    /// The path of the type.
    pub(crate) item: String,
    /// The field, `my_types::v1::LoggerSpec::time_interval`, of each path whose field is known.
    pub(crate) fields: BTreeMap<String, String>,
}

impl Definition {
    /// The definition of a kind by its versions; `None`, with the reasons noted, where one was refused or they do not
    /// agree.
    pub(super) fn new(
        kinds: &[(&ApiGroup, &'static ApiKind)],
        options: &CrdOptions,
        found: &mut Diagnostics,
    ) -> Option<Self> {
        let before = found.0.len();
        let mut kinds = kinds.to_vec();
        kinds.sort_by_key(|(group, _)| group.version);
        let stored = stored(&kinds, found);
        names_agree(&kinds, found);
        let versions: Vec<Version> =
            kinds.iter().filter_map(|(group, kind)| Version::new(group, kind, options, found)).collect();
        if let Some((group, kind)) = kinds.first()
            && kinds.iter().all(|(_, kind)| !kind.definition.served)
        {
            found.push(item(group, kind), "none of its versions is served; remove `unserved` from one");
        }
        let metadata = metadata(&kinds, found);
        let (group, kind) = *kinds.get(stored)?;
        if found.0.len() > before {
            return None;
        }
        Some(Definition {
            item: item(group, kind),
            crd: json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": metadata,
                "spec": {
                    "group": group.group,
                    "names": names(group, kind),
                    "scope": kind.scope.as_str(),
                    "versions": versions.iter().enumerate().map(|(i, of)| of.json(i == stored)).collect::<Vec<_>>(),
                },
            }),
            versions: versions.into_iter().map(Version::rust).collect(),
        })
    }
}

/// The path of a kind's type.
pub(super) fn item(group: &ApiGroup, kind: &ApiKind) -> String {
    format!("{}::{}", group.module, kind.rust_name)
}

/// Which version objects are stored in: the one that says so, or the only one.
fn stored(kinds: &[(&ApiGroup, &'static ApiKind)], found: &mut Diagnostics) -> usize {
    let said: Vec<usize> = (0..kinds.len()).filter(|i| kinds[*i].1.definition.storage).collect();
    let paths = |of: &[usize]| {
        of.iter().map(|i| format!("`{}`", item(kinds[*i].0, kinds[*i].1))).collect::<Vec<_>>().join(", ")
    };
    match said.as_slice() {
        [only] => *only,
        [] if kinds.len() == 1 => 0,
        [] => {
            let all: Vec<usize> = (0..kinds.len()).collect();
            let (group, kind) = kinds[kinds.len() - 1];
            let message = format!(
                "objects are stored in one of its versions {}; say in which with `#[k8s(storage)]`",
                paths(&all)
            );
            found.push(item(group, kind), message);
            0
        }
        [first, ..] => {
            let (group, kind) = kinds[*first];
            let message =
                format!("objects are stored in one version only, and {} say `storage`; keep one", paths(&said));
            found.push(item(group, kind), message);
            0
        }
    }
}

/// The names and the scope are those of the whole definition.
fn names_agree(kinds: &[(&ApiGroup, &'static ApiKind)], found: &mut Diagnostics) {
    for pair in kinds.windows(2) {
        let [(first_group, first), (group, kind)] = pair else { continue };
        let (one, other) = (names(first_group, first), names(group, kind));
        let differ = |name: &&String| one.get(name.as_str()) != other.get(name.as_str());
        let mut keys: Vec<&String> = one.keys().chain(other.keys()).filter(differ).collect();
        keys.dedup();
        for key in keys {
            let text = |of: &Map<String, Value>| of.get(key).map_or_else(|| "nothing".to_owned(), Value::to_string);
            let message = format!(
                "its {key} is {}, and that of `{}` is {}: versions of one kind have the same names",
                text(&other),
                item(first_group, first),
                text(&one)
            );
            found.push(item(group, kind), message);
        }
        if first.scope != kind.scope {
            let message =
                format!("`{}`, another version of it, has another scope; give both the same", item(first_group, first));
            found.push(item(group, kind), message);
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

/// The name, and what annotations and labels the versions say together.
fn metadata(kinds: &[(&ApiGroup, &'static ApiKind)], found: &mut Diagnostics) -> Value {
    let mut metadata = json!({});
    for (group, kind) in kinds {
        metadata["name"] = json!(format!("{}.{}", kind.plural, group.group));
        for (word, pairs) in [("annotations", kind.definition.annotations), ("labels", kind.definition.labels)] {
            for (name, value) in pairs {
                let said = &mut metadata[word][*name];
                if !said.is_null() && *said != json!(value) {
                    let message = format!("`{name}` is {said} in another version of it; say the same in both");
                    found.push(item(group, kind), message);
                }
                *said = json!(value);
            }
        }
    }
    metadata
}
