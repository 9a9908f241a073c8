//! The ReplicaSets of a Deployment: the new one, which has its template, and the old ones.

use std::{cmp::Ordering, sync::Arc};

use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentCondition, ReplicaSet},
    core::v1::PodTemplateSpec,
};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use kubewright_runtime::{Preconditions, ReconcileContext, ReconcileError};
use serde_json::json;

use super::{BY_DEPLOYMENT, State, annotations, desired, spec};

/// The label that distinguishes the pods of the sets of a Deployment.
pub(super) const TEMPLATE_HASH: &str = "pod-template-hash";

/// A Deployment with its sets.
pub(super) struct Sets {
    pub(super) deployment: Deployment,
    /// The set with the template of the Deployment.
    pub(super) new: Option<Arc<ReplicaSet>>,
    /// The other sets, the oldest first.
    pub(super) old: Vec<Arc<ReplicaSet>>,
    /// The conditions that the next status has.
    pub(super) conditions: Option<Vec<DeploymentCondition>>,
}

impl Sets {
    /// Returns the sets in the cache.
    pub(super) fn from_cache(deployment: Deployment, context: &ReconcileContext<State>) -> Self {
        let mut sets = context.sets.by_index(&BY_DEPLOYMENT, deployment.metadata.uid.as_deref().unwrap_or_default());
        sets.sort_by(|a, b| by_age(a, b));
        let template = hashless(&spec(&deployment).template);
        let is_new = |set: &Arc<ReplicaSet>| {
            set.spec.as_ref().and_then(|spec| spec.template.as_ref()).is_some_and(|other| hashless(other) == template)
        };
        let new = sets.iter().position(is_new).map(|index| sets.remove(index));
        let conditions = deployment.status.as_ref().and_then(|status| status.conditions.clone());
        Sets { deployment, new, old: sets, conditions }
    }

    /// Returns all sets, the new one first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<ReplicaSet>> {
        self.new.iter().chain(&self.old)
    }

    /// Returns the old sets that should have pods. The others are not written anymore.
    pub(super) fn active_old(&self) -> Vec<Arc<ReplicaSet>> {
        self.old.iter().filter(|set| desired(set) > 0).cloned().collect()
    }

    /// Returns the desired number of pods of all sets.
    pub(super) fn total(&self) -> i32 {
        self.all().map(|set| desired(set)).sum()
    }

    /// Scales a set, unless it has this number. Returns whether it was scaled.
    pub(super) async fn scale(
        &mut self,
        set: &Arc<ReplicaSet>,
        replicas: i32,
        context: &ReconcileContext<State>,
    ) -> Result<bool, ReconcileError> {
        let (before, mut annotations) = (desired(set), set.annotations().clone());
        annotations.extend(annotations::of_scaling(&self.deployment));
        if before == replicas && *set.annotations() == annotations {
            return Ok(false);
        }
        let name = set.name_any();
        let patch = json!({"metadata": {"annotations": annotations}, "spec": {"replicas": replicas}});
        let client = context.typed::<ReplicaSet>();
        let scaled = Arc::new(client.patch(&name, &Patch::Merge(patch), &PatchParams::default()).await?);
        let known = self.new.iter_mut().chain(&mut self.old).find(|known| known.metadata.uid == scaled.metadata.uid);
        if let Some(known) = known {
            *known = scaled;
        }
        if before != replicas {
            let direction = if before < replicas { "up" } else { "down" };
            let note = format!("Scaled {direction} replica set {name} from {before} to {replicas}");
            context.events.normal(&self.deployment, "ScalingReplicaSet", note);
        }
        Ok(before != replicas)
    }

    /// Deletes the oldest sets without pods that exceed the limit of the history.
    pub(super) async fn delete_history(&self, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
        let limit = spec(&self.deployment).revision_history_limit.unwrap_or(10);
        let mut old: Vec<_> = self.old.iter().filter(|set| set.metadata.deletion_timestamp.is_none()).collect();
        old.sort_by_key(|set| annotations::revision(&***set));
        let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or_default());
        for set in old.into_iter().take(surplus) {
            let status = set.status.clone().unwrap_or_default();
            if status.replicas == 0 && desired(set) == 0 && status.observed_generation >= set.metadata.generation {
                let params = Preconditions::uid(&**set).apply_to(DeleteParams::default());
                match context.typed::<ReplicaSet>().delete(&set.name_any(), &params).await {
                    Err(error) if !error.is_not_found() => return Err(error.into()),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Orders sets by their age, the oldest first.
fn by_age(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    let key = |set: &ReplicaSet| (set.creation_timestamp(), annotations::revision(set), set.name_any());
    key(a).cmp(&key(b))
}

/// Returns a template without its hash.
fn hashless(template: &PodTemplateSpec) -> PodTemplateSpec {
    let mut template = template.clone();
    let metadata = template.metadata.get_or_insert_default();
    if let Some(labels) = &mut metadata.labels {
        labels.remove(TEMPLATE_HASH);
    }
    metadata.creation_timestamp = None;
    template
}
