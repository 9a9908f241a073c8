//! CustomResourceDefinitions: from kinds and their schemas to YAML.

mod definition;
mod descriptions;
mod judge;
pub(crate) mod kustomization;
pub(crate) mod options;
mod parallel;
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
pub(crate) use yaml::files as files_of;

/// The CRD of every kind with all its versions, one file each, as `<group>_<plural>.yaml`.
pub(crate) fn files(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    yaml::files(&definitions(groups, layout)?, layout)
}

/// All definitions in one file, without descriptions: for servers, not for people.
pub(crate) fn undescribed(
    path: String,
    definitions: &BTreeMap<String, Definition>,
    layout: &Layout,
) -> Result<File, Diagnostics> {
    let mut found = Diagnostics::default();
    let document = |definition: &Definition| {
        let mut crd = definition.crd.clone();
        descriptions::cut(&mut crd, 0);
        yaml::write(&crd, &definition.item, &mut found)
    };
    let documents: Vec<_> = definitions.values().filter_map(document).collect();
    found.or(File::yaml(path, layout, &documents.join("---\n")))
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
    let kinds: Vec<_> = kinds.into_iter().collect();
    let made = parallel::map(&kinds, |(path, versions)| {
        let mut found = Diagnostics::default();
        let definition = Definition::new(versions, &layout.crd, &mut found);
        if let Some(definition) = &definition {
            judge::judge(definition, &mut found);
        }
        (definition.map(|definition| (path.clone(), definition)), found)
    });
    let (mut found, mut definitions) = (Diagnostics::default(), BTreeMap::new());
    for (definition, more) in made {
        definitions.extend(definition);
        found.0.extend(more.0);
    }
    found.or(definitions)
}

/// Whether a CRD is written: not for a kind that is defined elsewhere, nor in a group of Kubernetes' own, which has no dot.
fn is_defined_here(group: &ApiGroup, kind: &ApiKind) -> bool {
    kind.schema.is_some() && group.group.contains('.')
}
