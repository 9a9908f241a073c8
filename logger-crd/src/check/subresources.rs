//! The scale subresource: where the replicas and the selector are.

use super::{definition::Fields, json_path, path::Path};
use crate::finding::Finding;

pub(super) fn check(subresources: Fields<'_>, at: &Path<'_>) -> Vec<Finding> {
    let Some(scale) = subresources.child("scale") else {
        return Vec::new();
    };
    let at = at.child("scale");
    let required = |name, prefix: &[&str], under: &str| match scale.text(name) {
        "" => Some(Finding::required(at.child(name), "")),
        path => under_prefix(path, at.child(name), prefix, under),
    };
    let paths =
        [required("specReplicasPath", &[".spec."], ".spec"), required("statusReplicasPath", &[".status."], ".status")];
    let selector = match scale.text("labelSelectorPath") {
        "" => None,
        path => under_prefix(path, at.child("labelSelectorPath"), &[".spec.", ".status."], "either .spec or .status"),
    };
    paths.into_iter().flatten().chain(selector).collect()
}

fn under_prefix(path: &str, at: Path<'_>, prefixes: &[&str], under: &str) -> Option<Finding> {
    json_path::check(path, at).or_else(|| {
        let is_under = prefixes.iter().any(|prefix| path.starts_with(prefix));
        (!is_under).then(|| Finding::invalid(at, path, format!("should be a json path under {under}")))
    })
}
