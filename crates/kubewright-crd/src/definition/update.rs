//! Validation of updates: immutable fields and stored versions.

use serde_json::Value;

use super::crd::Crd;
use crate::field::{FieldError, Path};

pub(super) fn validate_immutable_fields(new: Crd<'_>, old: Crd<'_>) -> Vec<FieldError> {
    let spec = Path::root("spec");
    let names = spec.child("names");
    let fields = [
        (spec.child("scope"), new.spec().string("scope"), old.spec().string("scope"), old.is_established()),
        (names.child("kind"), new.names().string("kind"), old.names().string("kind"), old.is_established()),
        (spec.child("group"), new.spec().string("group"), old.spec().string("group"), true),
        (names.child("plural"), new.names().string("plural"), old.names().string("plural"), true),
    ];
    let changed = fields.into_iter().filter(|(_, new, old, is_immutable)| *is_immutable && new != old);
    changed.map(|(at, new, _, _)| FieldError::invalid(at, new, "field is immutable")).collect()
}

/// Validates that stored versions are not removed. The server keeps their list in the status, and adds the storage
/// version.
pub(super) fn validate_stored_versions(new: Crd<'_>, old: Option<Crd<'_>>) -> Vec<FieldError> {
    let mut stored: Vec<&str> = old.into_iter().flat_map(|old| old.status().strings("storedVersions")).collect();
    if let Some(version) = new.versions().find(|version| version.flag("storage")) {
        let name = version.string("name");
        if !stored.contains(&name) {
            stored.push(name);
        }
    }
    let status = Path::root("status");
    let at = status.child("storedVersions");
    if stored.is_empty() {
        return vec![FieldError::invalid(at, Value::Null, "must have at least one stored version")];
    }
    // The server finds each name once, so the second of two equal names counts as missing.
    let names: Vec<&str> = new.versions().map(|version| version.string("name")).collect();
    let is_absent = |index: usize| !stored.contains(&names[index]) || names[..index].contains(&names[index]);
    let storing = new.versions().enumerate().filter(|(index, version)| version.flag("storage") && is_absent(*index));
    let mut errors: Vec<FieldError> = storing
        .map(|(index, _)| {
            FieldError::invalid(at, stored.clone(), format!("must have the storage version {}", names[index]))
        })
        .collect();
    for (index, version) in stored.iter().enumerate() {
        if new.versions().all(|known| known.string("name") != *version) {
            let detail = format!(
                "missing from spec.versions; {version} was previously a storage version, and must remain in \
                 spec.versions until a storage migration ensures no data remains persisted in {version} and removes \
                 {version} from status.storedVersions"
            );
            errors.push(FieldError::invalid(at.index(index), *version, detail));
        }
    }
    errors
}
