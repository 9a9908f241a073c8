//! The namespaces of an installation: it changes and deletes only those that it created.

use std::fmt;

use serde_json::Value;

use super::{
    DeployError, Kubectl,
    cluster::field_manager,
    manifest::{describe, items},
};

/// The kinds that run something or hold data.
const WORKLOADS: &str = "deployments,statefulsets,daemonsets,jobs,cronjobs,pods,persistentvolumeclaims";

/// Who created a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Creator {
    /// It does not exist.
    Missing,
    /// This installation.
    Installation,
    /// Another program or a user.
    Other,
}

/// A namespace that remains after a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptNamespace {
    /// The name.
    pub name: String,
    /// What prevents its deletion, such as `it contains custom resources`.
    pub reason: String,
}

impl fmt::Display for KeptNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "namespace/{} is kept: {}", self.name, self.reason)
    }
}

/// Returns who created a namespace. An installation applies only namespaces that it created, so that it is a field
/// manager of those alone.
pub(super) fn creator(kubectl: &Kubectl, namespace: &str, operator: &str) -> Result<Creator, DeployError> {
    let options = ["--ignore-not-found", "--show-managed-fields", "--output=json"];
    let found = kubectl.json(&[&["get", "namespace", namespace][..], &options].concat())?;
    Ok(found.map_or(Creator::Missing, |found| creator_of(&found, operator)))
}

fn creator_of(namespace: &Value, operator: &str) -> Creator {
    let manager = field_manager(operator);
    let mut entries = namespace["metadata"]["managedFields"].as_array().into_iter().flatten();
    if entries.any(|entry| entry["manager"] == *manager) { Creator::Installation } else { Creator::Other }
}

/// Returns the workloads and claims of a namespace that no other object owns and that are not being deleted.
pub(super) fn foreign_workloads(kubectl: &Kubectl, namespace: &str) -> Result<Vec<String>, DeployError> {
    let namespace = format!("--namespace={namespace}");
    let found = kubectl.json(&["get", WORKLOADS, &namespace, "--ignore-not-found", "--output=json"])?;
    let objects = found.map_or_else(Vec::new, items);
    let remains = |object: &&Value| {
        let metadata = &object["metadata"];
        metadata["deletionTimestamp"].is_null() && metadata["ownerReferences"].as_array().is_none_or(Vec::is_empty)
    };
    Ok(objects.iter().filter(remains).map(describe).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_namespace_with_another_manager_only_is_foreign() {
        let namespace = |manager: &str| json!({"metadata": {"managedFields": [{"manager": manager}]}});
        assert_eq!(creator_of(&namespace("my-deploy"), "my"), Creator::Installation);
        assert_eq!(creator_of(&namespace("kubectl-create"), "my"), Creator::Other);
        assert_eq!(creator_of(&json!({"metadata": {}}), "my"), Creator::Other);
    }
}
