//! The history of pod templates as ControllerRevisions, for StatefulSets and DaemonSets.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::{apps::v1::ControllerRevision, core::v1::PodTemplateSpec},
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, runtime::RawExtension},
};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::{Error, Store, TypedClient, object::ApiObject};
use serde_json::{Value, json};

use crate::model::{
    hash::text_hash,
    pods::{controller_of, controller_reference},
};

/// The label of pods with the revision of their template.
pub(super) const REVISION_LABEL: &str = "controller-revision-hash";

/// The revisions of an object, the latest last. The latest one has its template.
pub(super) struct Revisions {
    pub(super) all: Vec<Arc<ControllerRevision>>,
}

impl Revisions {
    /// Creates the revision of the template, or makes an older one with this template the latest.
    ///
    /// # Errors
    /// Fails if a request fails.
    pub(super) async fn sync<O: ApiObject>(
        owner: &O,
        template: &PodTemplateSpec,
        store: &Store<ControllerRevision>,
        client: &TypedClient<ControllerRevision>,
    ) -> Result<Self, Error> {
        let mut all = owned(store, owner);
        let next = all.last().map_or(0, |last| last.revision) + 1;
        let revision = new_revision(owner, template, data(template), next);
        // The name contains the hash of the template.
        let known = all.iter().rposition(|known| known.metadata.name == revision.metadata.name);
        let latest = match known {
            Some(index) if index + 1 == all.len() => return Ok(Revisions { all }),
            Some(index) => {
                let name = all.remove(index).name_any();
                let patch = Patch::Merge(json!({"revision": next}));
                client.patch(&name, &patch, &PatchParams::default()).await?
            }
            None => client.create(&revision, &PostParams::default()).await?,
        };
        all.push(Arc::new(latest));
        Ok(Revisions { all })
    }

    /// Returns the name of the latest revision.
    pub(super) fn latest(&self) -> String {
        self.all.last().map(|latest| latest.name_any()).unwrap_or_default()
    }

    /// Returns the template of a revision; `None` if it does not exist anymore.
    pub(super) fn template(&self, name: &str) -> Option<PodTemplateSpec> {
        let revision = self.all.iter().find(|revision| revision.name_any() == name)?;
        let mut template = revision.data.as_ref()?.0["spec"]["template"].clone();
        template.as_object_mut()?.remove("$patch");
        serde_json::from_value(template).ok()
    }

    /// Deletes the oldest revisions that exceed the limit, except those in use.
    ///
    /// # Errors
    /// Fails if a request fails.
    pub(super) async fn delete_history(
        &self,
        limit: Option<i32>,
        in_use: &[String],
        client: &TypedClient<ControllerRevision>,
    ) -> Result<(), Error> {
        let limit = usize::try_from(limit.unwrap_or(10)).unwrap_or_default();
        let history: Vec<_> =
            self.all.iter().rev().skip(1).filter(|revision| !in_use.contains(&revision.name_any())).collect();
        for revision in history.into_iter().skip(limit) {
            match client.delete(&revision.name_any(), &DeleteParams::default()).await {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn owned<O: ApiObject>(store: &Store<ControllerRevision>, owner: &O) -> Vec<Arc<ControllerRevision>> {
    let mut owned = store.list_namespace(owner.meta().namespace.as_deref().unwrap_or_default());
    owned.retain(|revision| controller_of(&**revision).is_some_and(|by| Some(&by.uid) == owner.meta().uid.as_ref()));
    owned.sort_by_key(|revision| revision.revision);
    owned
}

/// Returns the data of a revision: a strategic merge patch that restores the template.
fn data(template: &PodTemplateSpec) -> Value {
    // A template contains no map with keys that are not strings, so that it can be serialized.
    let mut template = serde_json::to_value(template).unwrap_or_default();
    template["$patch"] = json!("replace");
    json!({"spec": {"template": template}})
}

fn new_revision<O: ApiObject>(owner: &O, template: &PodTemplateSpec, data: Value, revision: i64) -> ControllerRevision {
    let hash = text_hash(&data.to_string());
    let mut labels = template.metadata.as_ref().and_then(|metadata| metadata.labels.clone()).unwrap_or_default();
    labels.extend(BTreeMap::from([(REVISION_LABEL.to_owned(), hash.clone())]));
    ControllerRevision {
        metadata: ObjectMeta {
            name: Some(format!("{}-{hash}", owner.name_any())),
            namespace: owner.namespace(),
            labels: Some(labels),
            owner_references: controller_reference(owner).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(RawExtension(data)),
        revision,
    }
}
