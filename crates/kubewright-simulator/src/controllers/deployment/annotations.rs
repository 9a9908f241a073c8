//! The annotations of a Deployment and its ReplicaSets: revisions, and the replicas at the last scaling.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::{Resource, ResourceExt};

use super::limits;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations of a Deployment that its sets do not get.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
];

/// Returns the revision of a set; 0 if it has none.
pub(super) fn revision<K: Resource>(object: &K) -> i64 {
    object.annotations().get(REVISION).and_then(|revision| revision.parse().ok()).unwrap_or_default()
}

/// Returns the number of replicas that a Deployment had when this set was scaled the last time.
pub(super) fn desired_replicas(set: &ReplicaSet) -> Option<i32> {
    set.annotations().get(DESIRED_REPLICAS)?.parse().ok()
}

/// Returns the maximum number of replicas of a Deployment when this set was scaled the last time.
pub(super) fn max_replicas(set: &ReplicaSet) -> Option<i32> {
    set.annotations().get(MAX_REPLICAS)?.parse().ok()
}

/// Returns the annotations that record a scaling.
pub(super) fn of_scaling(deployment: &Deployment) -> [(String, String); 2] {
    let limits = limits(deployment);
    let max = limits.replicas + limits.max_surge;
    [(DESIRED_REPLICAS.to_owned(), limits.replicas.to_string()), (MAX_REPLICAS.to_owned(), max.to_string())]
}

/// Returns the annotations of the new set of a Deployment: those of the Deployment, and the revision. A revision that
/// the set had before is added to its history.
pub(super) fn of_new_set(
    deployment: &Deployment,
    present: &BTreeMap<String, String>,
    new_revision: i64,
) -> BTreeMap<String, String> {
    let mut annotations = present.clone();
    let copied = deployment.annotations().iter().filter(|(name, _)| !NOT_COPIED.contains(&name.as_str()));
    annotations.extend(copied.map(|(name, value)| (name.clone(), value.clone())));
    let old = present.get(REVISION).and_then(|revision| revision.parse::<i64>().ok());
    if old.is_none_or(|old| old < new_revision) {
        if let Some(old) = old {
            let history = annotations.entry(REVISION_HISTORY.to_owned()).or_default();
            *history = if history.is_empty() { old.to_string() } else { format!("{history},{old}") };
        }
        annotations.insert(REVISION.to_owned(), new_revision.to_string());
    }
    annotations
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rollback_adds_the_old_revision_to_the_history() {
        let annotations = json!({"team": "a", "deployment.kubernetes.io/revision": "3"});
        let deployment: Deployment =
            serde_json::from_value(json!({"metadata": {"name": "web", "annotations": annotations}})).unwrap();
        let first = of_new_set(&deployment, &BTreeMap::new(), 1);
        assert_eq!((first[REVISION].as_str(), first["team"].as_str()), ("1", "a"));
        let again = of_new_set(&deployment, &first, 4);
        assert_eq!((again[REVISION].as_str(), again[REVISION_HISTORY].as_str()), ("4", "1"));
        assert_eq!(of_new_set(&deployment, &again, 4), again);
    }
}
