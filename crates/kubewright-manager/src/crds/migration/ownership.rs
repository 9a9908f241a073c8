//! Ownership of fields in versions that are not served.
//!
//! The API server converts the entries of `managedFields` in every write. An entry of a version that it no longer knows
//! is an obstacle, or is lost with the next write.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde_json::{Value, json};

use crate::crds::definition::Definition;

/// The versions in which fields can be owned.
#[derive(Debug)]
pub(in crate::crds) struct Ownership {
    group: String,
    /// The served versions with the group.
    served: Vec<String>,
    /// The version in which the fields of other versions are owned.
    target: Option<String>,
    /// Whether the fields of other versions can have other names.
    has_webhook: bool,
}

impl Ownership {
    /// Returns the versions that a definition of the cluster serves, and that its replacement serves as well.
    pub(in crate::crds) fn new(current: &Definition, next: &Definition) -> Self {
        let with_group = |version: &str| format!("{}/{version}", current.group());
        let served: Vec<String> =
            current.served_versions().filter(|version| next.serves(version)).map(with_group).collect();
        let storage = current.storage_version().map(with_group).ok();
        let target = storage.filter(|storage| served.contains(storage)).or_else(|| served.first().cloned());
        Ownership { group: current.group().to_owned(), served, target, has_webhook: current.has_webhook() }
    }

    /// Returns the entries without those of versions that are not served; `None` if there are none of these.
    ///
    /// Without a webhook, the fields have the same names in all versions, so the entries are moved to a served version.
    pub(super) fn update(&self, entries: &[ManagedFieldsEntry]) -> Option<Vec<ManagedFieldsEntry>> {
        let target = self.target.as_ref()?;
        let first = entries.iter().find(|entry| self.is_outdated(entry))?;
        let mut updated = Vec::new();
        for entry in entries {
            match self.is_outdated(entry) {
                false => add(&mut updated, entry.clone()),
                true if self.has_webhook => {}
                true => add(&mut updated, ManagedFieldsEntry { api_version: Some(target.clone()), ..entry.clone() }),
            }
        }
        if updated.is_empty() {
            // An empty list has no effect.
            let name = FieldsV1(json!({"f:metadata": {"f:name": {}}}));
            let api_version = Some(target.clone());
            updated.push(ManagedFieldsEntry { api_version, fields_v1: Some(name), ..first.clone() });
        }
        Some(updated)
    }

    fn is_outdated(&self, entry: &ManagedFieldsEntry) -> bool {
        let version = entry.api_version.as_deref().unwrap_or_default();
        let is_of_group = version.split_once('/').is_some_and(|(group, _)| group == self.group);
        is_of_group && !self.served.iter().any(|served| served == version)
    }
}

/// Adds an entry, or its fields to those of the same manager.
fn add(entries: &mut Vec<ManagedFieldsEntry>, entry: ManagedFieldsEntry) {
    let is_same = |other: &&mut ManagedFieldsEntry| {
        (&other.manager, &other.operation, &other.subresource, &other.api_version)
            == (&entry.manager, &entry.operation, &entry.subresource, &entry.api_version)
    };
    match entries.iter_mut().find(is_same).and_then(|same| same.fields_v1.as_mut()) {
        Some(FieldsV1(fields)) => {
            if let Some(FieldsV1(others)) = entry.fields_v1 {
                unite(fields, others);
            }
        }
        None => entries.push(entry),
    }
}

/// Adds the fields of one set to another one. The empty set of a field is the field itself.
fn unite(fields: &mut Value, others: Value) {
    let (Value::Object(fields), Value::Object(others)) = (fields, others) else { return };
    let is_itself = fields.is_empty() != others.is_empty();
    for (name, children) in others {
        match fields.get_mut(&name) {
            Some(existing) => unite(existing, children),
            None => {
                fields.insert(name, children);
            }
        }
    }
    if is_itself {
        fields.insert(".".to_owned(), json!({}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(versions: &[(&str, bool)], strategy: &str) -> Definition {
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, served)| json!({"name": name, "served": served, "storage": *name == "v2"}))
            .collect();
        let object = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.org"},
            "spec": {"group": "example.org", "versions": versions, "conversion": {"strategy": strategy}},
        });
        Definition::new(object).unwrap()
    }

    fn entry(manager: &str, api_version: &str, fields: Value) -> ManagedFieldsEntry {
        ManagedFieldsEntry {
            api_version: Some(api_version.to_owned()),
            fields_type: Some("FieldsV1".to_owned()),
            fields_v1: Some(FieldsV1(fields)),
            manager: Some(manager.to_owned()),
            operation: Some("Apply".to_owned()),
            ..ManagedFieldsEntry::default()
        }
    }

    fn ownership(strategy: &str) -> Ownership {
        let current = definition(&[("v1", true), ("v2", true), ("v3", true)], strategy);
        Ownership::new(&current, &definition(&[("v1", false), ("v2", true)], strategy))
    }

    #[test]
    fn entries_of_served_versions_and_of_other_groups_are_kept() {
        let fields = json!({"f:spec": {}});
        let entries = [entry("a", "example.org/v2", fields.clone()), entry("b", "autoscaling/v1", fields)];
        assert_eq!(ownership("None").update(&entries), None);
        assert_eq!(ownership("None").update(&[]), None);
    }

    #[test]
    fn without_a_webhook_fields_are_owned_in_the_storage_version() {
        let entries = [
            entry("a", "example.org/v1", json!({"f:spec": {"f:size": {}, "f:tags": {}}})),
            entry("b", "example.org/v3", json!({"f:spec": {"f:size": {}}})),
            entry("a", "example.org/v2", json!({"f:spec": {"f:tags": {"v:\"x\"": {}}, "f:mode": {}}})),
        ];
        let expected = [
            entry(
                "a",
                "example.org/v2",
                json!({"f:spec": {"f:size": {}, "f:tags": {".": {}, "v:\"x\"": {}}, "f:mode": {}}}),
            ),
            entry("b", "example.org/v2", json!({"f:spec": {"f:size": {}}})),
        ];
        assert_eq!(ownership("None").update(&entries).unwrap(), expected);
    }

    #[test]
    fn with_a_webhook_entries_are_removed_and_the_last_one_keeps_the_name() {
        let old = entry("a", "example.org/v1", json!({"f:spec": {}}));
        let new = entry("b", "example.org/v2", json!({"f:spec": {}}));
        assert_eq!(ownership("Webhook").update(&[old.clone(), new.clone()]).unwrap(), [new]);
        let expected = entry("a", "example.org/v2", json!({"f:metadata": {"f:name": {}}}));
        assert_eq!(ownership("Webhook").update(&[old]).unwrap(), [expected]);
    }

    #[test]
    fn without_a_served_version_nothing_changes() {
        let current = definition(&[("v1", true), ("v2", false)], "None");
        let ownership = Ownership::new(&current, &definition(&[("v2", true)], "None"));
        assert_eq!(ownership.update(&[entry("a", "example.org/v1", json!({"f:spec": {}}))]), None);
    }
}
