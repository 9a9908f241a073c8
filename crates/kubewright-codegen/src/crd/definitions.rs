//! The definitions of all kinds of an API.

use std::collections::BTreeMap;

use kubewright_core::meta::{ApiGroup, ApiKind};

use super::{
    definition::{Definition, Definitions, path},
    validate,
    yaml::{self, CrdFiles},
};
use crate::{diagnostic::Diagnostics, layout::Layout, parallel};

/// Returns one file for the definition of each kind with all its versions, named `<group>_<plural>.yaml`.
pub(crate) fn files(groups: &[ApiGroup], layout: &Layout) -> Result<CrdFiles, Diagnostics> {
    yaml::files(&definitions(groups, layout)?, layout)
}

/// Returns the definition of every kind by the path of its file.
pub(crate) fn definitions(groups: &[ApiGroup], layout: &Layout) -> Result<Definitions, Diagnostics> {
    let mut kinds: BTreeMap<String, Vec<(&ApiGroup, &'static ApiKind)>> = BTreeMap::new();
    for group in groups {
        for kind in group.kinds().filter(|kind| has_definition(group, kind)) {
            kinds.entry(path(group, kind, layout)).or_default().push((group, kind));
        }
    }
    let kinds: Vec<_> = kinds.into_iter().collect();
    let results = parallel::map(&kinds, |(path, versions)| {
        let mut errors = Diagnostics::default();
        let mut definition = Definition::new(versions, &layout.crd, &mut errors);
        if let Some(definition) = &mut definition {
            validate::validate(definition, &mut errors);
        }
        (definition.map(|definition| (path.clone(), definition)), errors)
    });
    let (mut errors, mut definitions) = (Diagnostics::default(), BTreeMap::new());
    for (definition, more) in results {
        definitions.extend(definition);
        errors.0.extend(more.0);
    }
    errors.or(definitions)
}

/// Whether a definition is generated: not for a kind that is defined elsewhere, nor in a group of Kubernetes itself,
/// whose name has no dot.
fn has_definition(group: &ApiGroup, kind: &ApiKind) -> bool {
    kind.schema.is_some() && group.group.contains('.')
}
