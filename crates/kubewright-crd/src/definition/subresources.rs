//! Validation of the scale subresource.

use super::{crd::Fields, json_path};
use crate::field::{FieldError, Path};

pub(super) fn validate(subresources: Fields<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let Some(scale) = subresources.child("scale") else {
        return Vec::new();
    };
    let at = at.child("scale");
    let required = |name, prefix: &[&str], under: &str| match scale.string(name) {
        "" => Some(FieldError::required(at.child(name), "")),
        path => validate_prefix(path, at.child(name), prefix, under),
    };
    let paths =
        [required("specReplicasPath", &[".spec."], ".spec"), required("statusReplicasPath", &[".status."], ".status")];
    let selector = match scale.string("labelSelectorPath") {
        "" => None,
        path => {
            validate_prefix(path, at.child("labelSelectorPath"), &[".spec.", ".status."], "either .spec or .status")
        }
    };
    paths.into_iter().flatten().chain(selector).collect()
}

fn validate_prefix(path: &str, at: Path<'_>, prefixes: &[&str], under: &str) -> Option<FieldError> {
    json_path::validate(path, at).or_else(|| {
        let is_under = prefixes.iter().any(|prefix| path.starts_with(prefix));
        (!is_under).then(|| FieldError::invalid(at, path, format!("should be a json path under {under}")))
    })
}
