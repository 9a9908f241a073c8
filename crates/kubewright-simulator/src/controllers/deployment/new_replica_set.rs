//! The new ReplicaSet of a Deployment: finds or creates it, and records its revision.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_runtime::{Error, ReconcileContext, ReconcileError};
use serde_json::json;

use super::{
    State, annotations, limits, progress,
    replica_sets::{Sets, TEMPLATE_HASH},
    spec,
};
use crate::model::{hash::template_hash, pods::controller_reference, rollout::new_set_replicas};

impl Sets {
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
