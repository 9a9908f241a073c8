//! What an update may not change.

use serde_json::Value;

use super::{definition::Definition, path::Path};
use crate::finding::Finding;

pub(super) fn check_immutable(new: Definition<'_>, old: Definition<'_>) -> Vec<Finding> {
    let spec = Path::root("spec");
    let names = spec.child("names");
    let fields = [
        (spec.child("scope"), new.spec().text("scope"), old.spec().text("scope"), old.is_established()),
        (names.child("kind"), new.names().text("kind"), old.names().text("kind"), old.is_established()),
        (spec.child("group"), new.spec().text("group"), old.spec().text("group"), true),
        (names.child("plural"), new.names().text("plural"), old.names().text("plural"), true),
    ];
    let changed = fields.into_iter().filter(|(_, new, old, is_immutable)| *is_immutable && new != old);
    changed.map(|(at, new, _, _)| Finding::invalid(at, new, "field is immutable")).collect()
}

/// Versions that objects may be stored in stay. The server keeps their list in the status, and adds the storage version.
pub(super) fn check_stored_versions(new: Definition<'_>, old: Option<Definition<'_>>) -> Vec<Finding> {
    let mut stored: Vec<&str> = old.into_iter().flat_map(|old| old.status().texts("storedVersions")).collect();
    if let Some(version) = new.versions().find(|version| version.flag("storage")) {
        let name = version.text("name");
        if !stored.contains(&name) {
            stored.push(name);
        }
    }
    let status = Path::root("status");
    let at = status.child("storedVersions");
    if stored.is_empty() {
        return vec![Finding::invalid(at, Value::Null, "must have at least one stored version")];
    }
    // A name that is there twice is looked for twice, and found once.
    let names: Vec<&str> = new.versions().map(|version| version.text("name")).collect();
    let is_absent = |index: usize| !stored.contains(&names[index]) || names[..index].contains(&names[index]);
    let storing = new.versions().enumerate().filter(|(index, version)| version.flag("storage") && is_absent(*index));
    let mut findings: Vec<Finding> = storing
        .map(|(index, _)| {
            Finding::invalid(at, stored.clone(), format!("must have the storage version {}", names[index]))
        })
        .collect();
    for (index, version) in stored.iter().enumerate() {
        if new.versions().all(|known| known.text("name") != *version) {
            let detail = format!(
                "missing from spec.versions; {version} was previously a storage version, and must remain in spec.versions \
                 until a storage migration ensures no data remains persisted in {version} and removes {version} from \
                 status.storedVersions"
            );
            findings.push(Finding::invalid(at.index(index), *version, detail));
        }
    }
    findings
}
