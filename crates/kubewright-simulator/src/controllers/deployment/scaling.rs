//! The scaling of a Deployment while no rollout continues: paused ones, and changes of the number of replicas.

use std::{cmp::Reverse, sync::Arc};

use k8s_openapi::api::apps::v1::ReplicaSet;
use kube::ResourceExt;
use kubewright_runtime::{ReconcileContext, ReconcileError};

use super::{State, annotations, desired, is_recreated, limits, replica_sets::Sets, replicas};
use crate::model::rollout::{Proportion, scale_proportionally};

/// Returns whether the number of replicas changed since the active sets were scaled the last time.
pub(super) fn is_requested(sets: &Sets) -> bool {
    let replicas = limits(&sets.deployment).replicas;
    let active = || sets.all().filter(|set| desired(set) > 0);
    active().any(|set| annotations::desired_replicas(set).is_some_and(|before| before != replicas))
}

/// Scales the sets to the number of replicas: the only active one, or all in proportion to their sizes.
pub(super) async fn scale(sets: &mut Sets, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
    let limits = limits(&sets.deployment);
    if let Some(set) = only_active_or_latest(sets) {
        sets.scale(&set, limits.replicas, context).await?;
        return Ok(());
    }
    if is_saturated(sets) {
        for set in sets.active_old() {
            sets.scale(&set, 0, context).await?;
        }
        return Ok(());
    }
    if is_recreated(&sets.deployment) {
        return Ok(());
    }
    let mut active: Vec<Arc<ReplicaSet>> = sets.all().filter(|set| desired(set) > 0).cloned().collect();
    let grows = limits.replicas > 0 && limits.replicas + limits.max_surge > sets.total();
    // Of sets of the same size, the younger one grows first and the older one shrinks first.
    active.sort_by_cached_key(|set| {
        let created = set.creation_timestamp();
        (Reverse(desired(set)), grows.then(|| Reverse(created.clone())), (!grows).then_some(created))
    });
    let proportion = |set: &Arc<ReplicaSet>| {
        let status = || set.status.as_ref().map(|status| status.replicas);
        let max_before = annotations::max_replicas(set).or_else(status).unwrap_or_default();
        Proportion { replicas: desired(set), max_before }
    };
    let proportions: Vec<_> = active.iter().map(proportion).collect();
    for (set, number) in active.iter().zip(scale_proportionally(limits, &proportions)) {
        sets.scale(set, number, context).await?;
    }
    Ok(())
}

/// Returns the only set with replicas, or the latest one if there is none.
fn only_active_or_latest(sets: &Sets) -> Option<Arc<ReplicaSet>> {
    let mut active = sets.all().filter(|set| desired(set) > 0);
    match (active.next(), active.next()) {
        (None, _) => sets.new.as_ref().or(sets.old.last()).cloned(),
        (Some(only), None) => Some(Arc::clone(only)),
        _ => None,
    }
}

/// Returns whether all replicas of the Deployment are available in the new set.
fn is_saturated(sets: &Sets) -> bool {
    let wanted = limits(&sets.deployment).replicas;
    sets.new.as_ref().is_some_and(|new| {
        let new_replicas = replicas(new);
        new_replicas.desired == wanted
            && annotations::desired_replicas(new) == Some(wanted)
            && new_replicas.available == wanted
    })
}
