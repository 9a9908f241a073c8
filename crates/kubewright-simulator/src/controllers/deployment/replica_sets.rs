//! The ReplicaSets of a Deployment: the new one, which has its template, and the old ones.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentCondition, ReplicaSet, ReplicaSetSpec},
        core::v1::PodTemplateSpec,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::{Error, Preconditions, ReconcileContext, ReconcileError};
use serde_json::json;

use super::{BY_DEPLOYMENT, State, annotations, desired, limits, progress, spec};
use crate::model::{hash::template_hash, pods::controller_reference, rollout::new_set_replicas};

/// The label that distinguishes the pods of the sets of a Deployment.
const TEMPLATE_HASH: &str = "pod-template-hash";

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
    pub(super) fn of(deployment: Deployment, context: &ReconcileContext<State>) -> Self {
        let mut sets = context.sets.by_index(&BY_DEPLOYMENT, deployment.metadata.uid.as_deref().unwrap_or_default());
        sets.sort_by(|a, b| by_age(a, b));
        let template = hashless(&spec(&deployment).template);
        let is_new = |set: &Arc<ReplicaSet>| {
            set.spec.as_ref().and_then(|spec| spec.template.as_ref()).is_some_and(|one| hashless(one) == template)
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

    /// Updates the revisions of the new set, if it exists, and of the Deployment.
    pub(super) async fn find_new(&mut self, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
        let Some(new) = self.new.clone() else { return Ok(()) };
        let revision = self.next_revision();
        let annotations = annotations::of_new_set(&self.deployment, new.annotations(), revision);
        let min_ready_seconds = spec(&self.deployment).min_ready_seconds;
        let has_changed = new.spec.as_ref().and_then(|spec| spec.min_ready_seconds) != min_ready_seconds;
        if *new.annotations() != annotations || has_changed {
            let patch = json!({
                "metadata": {"annotations": annotations}, "spec": {"minReadySeconds": min_ready_seconds},
            });
            let client = context.typed::<ReplicaSet>();
            let updated = client.patch(&new.name_any(), &Patch::Merge(patch), &PatchParams::default()).await?;
            self.new = Some(Arc::new(updated));
        }
        let revision = self.new.as_deref().map(annotations::revision).unwrap_or_default();
        self.set_revision(revision, context).await?;
        progress::report_found(self, &new.name_any(), context);
        Ok(())
    }

    /// Finds the new set, or creates it.
    pub(super) async fn find_or_create_new(&mut self, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
        if self.new.is_some() {
            return self.find_new(context).await;
        }
        let revision = self.next_revision();
        let mut set = self.desired_set(revision);
        let replicas = new_set_replicas(limits(&self.deployment), 0, self.total());
        if let Some(spec) = &mut set.spec {
            spec.replicas = Some(replicas);
        }
        let client = context.typed::<ReplicaSet>();
        match client.create(&set, &PostParams::default()).await {
            Ok(created) => {
                let name = created.name_any();
                if replicas > 0 {
                    let note = format!("Scaled up replica set {name} from 0 to {replicas}");
                    context.events.normal(&self.deployment, "ScalingReplicaSet", note);
                }
                self.new = Some(Arc::new(created));
                self.set_revision(revision, context).await?;
                progress::report_created(self, &name, context);
                Ok(())
            }
            Err(error) if error.is_already_exists() => self.record_collision(&set.name_any(), error, context).await,
            Err(error) => progress::report_failed_creation(self, &set.name_any(), error, context).await,
        }
    }

    /// Counts a set of the same name with another template, so that the next hash differs. The own set, which the cache
    /// does not contain yet, is no collision.
    async fn record_collision(
        &mut self,
        name: &str,
        error: Error,
        context: &ReconcileContext<State>,
    ) -> Result<(), ReconcileError> {
        let existing = context.typed::<ReplicaSet>().get(name).await?;
        let is_own =
            existing.owner_references().iter().any(|owner| Some(&owner.uid) == self.deployment.metadata.uid.as_ref());
        if !is_own {
            context
                .update_status(&self.deployment, |deployment| {
                    let count = &mut deployment.status.get_or_insert_default().collision_count;
                    *count = Some(count.unwrap_or_default() + 1);
                })
                .await?;
        }
        Err(error.into())
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

    /// Returns the revision of the new set: the largest of the old ones, plus one.
    fn next_revision(&self) -> i64 {
        self.old.iter().map(|set| annotations::revision(&**set)).max().unwrap_or_default() + 1
    }

    /// Returns the new set without replicas.
    fn desired_set(&self, revision: i64) -> ReplicaSet {
        let spec = spec(&self.deployment);
        let collisions = self.deployment.status.as_ref().and_then(|status| status.collision_count);
        let hash = template_hash(&spec.template, collisions);
        let (mut template, mut selector) = (spec.template, spec.selector);
        let metadata = template.metadata.get_or_insert_default();
        metadata.labels.get_or_insert_default().insert(TEMPLATE_HASH.to_owned(), hash.clone());
        let labels = metadata.labels.clone();
        selector.match_labels.get_or_insert_default().insert(TEMPLATE_HASH.to_owned(), hash.clone());
        let mut annotations = annotations::of_new_set(&self.deployment, &BTreeMap::new(), revision);
        annotations.extend(annotations::of_scaling(&self.deployment));
        let metadata = ObjectMeta {
            name: Some(format!("{}-{hash}", self.deployment.name_any())),
            namespace: self.deployment.namespace(),
            labels,
            annotations: Some(annotations),
            owner_references: controller_reference(&self.deployment).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        };
        let min_ready_seconds = spec.min_ready_seconds;
        let spec = ReplicaSetSpec { min_ready_seconds, replicas: None, selector, template: Some(template) };
        ReplicaSet { metadata, spec: Some(spec), status: None }
    }

    /// Records the revision in the Deployment. It is a change of the status, as in kube-controller-manager, so that the
    /// generation remains.
    async fn set_revision(&mut self, revision: i64, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
        if annotations::revision(&self.deployment) != revision {
            let mut updated = self.deployment.clone();
            updated.annotations_mut().insert(annotations::REVISION.to_owned(), revision.to_string());
            self.deployment = context.typed::<Deployment>().update_status(&updated, &PostParams::default()).await?;
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
