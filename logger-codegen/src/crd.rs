//! CustomResourceDefinitions: from kinds and their schemas to YAML.

mod definition;
mod descriptions;
mod judge;
pub(crate) mod kustomization;
pub(crate) mod options;
pub(crate) mod patch;
pub(crate) mod size;
mod version;
mod yaml;

use std::collections::BTreeMap;

use logger_core::meta::{ApiGroup, ApiKind};

use crate::Layout;
use crate::diagnostic::Diagnostics;
use crate::file::File;
pub(crate) use definition::{Definition, Rust};

/// The CRD of every kind with all its versions, one file each, as `<group>_<plural>.yaml`.
pub(crate) fn files(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    yaml::files(&definitions(groups, layout)?, layout)
}

/// The CRD of every kind, by the path of its file.
pub(crate) fn definitions(groups: &[ApiGroup], layout: &Layout) -> Result<BTreeMap<String, Definition>, Diagnostics> {
    let mut kinds: BTreeMap<String, Vec<(&ApiGroup, &'static ApiKind)>> = BTreeMap::new();
    for group in groups {
        for kind in group.kinds().filter(|kind| is_defined_here(group, kind)) {
            let path = format!("{}/{}_{}.yaml", layout.crd_dir, group.group, kind.plural);
            kinds.entry(path).or_default().push((group, kind));
        }
    }
    let mut found = Diagnostics::default();
    let mut definitions = BTreeMap::new();
    for (path, versions) in kinds {
        let Some(definition) = Definition::new(&versions, &layout.crd, &mut found) else { continue };
        judge::judge(&definition, &mut found);
        definitions.insert(path, definition);
    }
    found.or(definitions)
}

/// Whether a CRD is written: not for a kind that is defined elsewhere, nor in a group of Kubernetes' own, which has no dot.
fn is_defined_here(group: &ApiGroup, kind: &ApiKind) -> bool {
    kind.schema.is_some() && group.group.contains('.')
}
