//! The Deployment controller: it rolls out new templates by scaling ReplicaSets.

mod annotations;
mod new_replica_set;
mod progress;
mod replica_sets;
mod scaling;

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentSpec, ReplicaSet},
    core::v1::Pod,
};
use kubewright_runtime::{Action, Controller, Index, ReconcileContext, ReconcileError, Store};

use crate::{
    environment::{Environment, Recorder, controlled_by},
    model::{
        clock::Clock,
        int_or_percent::resolve_fenceposts,
        pods::{controller_of, has_finished, is_terminating},
        rollout::{Limits, Replicas, new_set_replicas, scale_down_old_sets},
    },
};
use replica_sets::Sets;

/// The ReplicaSets by the UID of their Deployment.
const BY_DEPLOYMENT: Index<ReplicaSet> =
    Index::new("by_deployment", |set| controller_of(set).map(|owner| owner.uid.clone()).into_iter().collect());

struct State {
    sets: Store<ReplicaSet>,
    pods: Store<Pod>,
    events: Recorder,
    clock: Clock,
}

pub(super) fn controller(environment: &Environment) -> Controller {
    let deployments = environment.factory.informer::<Deployment>();
    let sets = environment.factory.indexed_informer(&[BY_DEPLOYMENT]);
    let pods = environment.pods();
    let (events, clock) = (environment.recorder("deployment-controller"), environment.clock);
    let state = State { sets: sets.store(), pods: pods.store(), events, clock };
    let owners = sets.store();
    // The end of the last old pod continues the strategy `Recreate`.
    let deployment_of = move |pod: &Pod| {
        let owner = controller_of(pod).filter(|owner| owner.kind == "ReplicaSet");
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
        let set = owner.and_then(|owner| owners.get(namespace, &owner.name));
        let deployment = set.as_deref().and_then(controller_of);
        deployment.map(|owner| kubewright_runtime::ObjectKey::namespaced(namespace, &owner.name))
    };
    Controller::new("deployment", &deployments)
        .owns(&sets)
        .watches(&pods, deployment_of)
        .max_concurrent_reconciles(5)
        .reconcile_with(move |_| state, reconcile)
        .build()
}

async fn reconcile(deployment: Arc<Deployment>, context: ReconcileContext<State>) -> Result<Action, ReconcileError> {
    let mut sets = Sets::from_cache(Deployment::clone(&deployment), &context);
    if is_terminating(&*deployment) {
        return progress::update_status(&sets, &context).await;
    }
    progress::update_pause(&mut sets, &context);
    if spec(&deployment).paused == Some(true) || scaling::is_requested(&sets) {
        sets.find_new(&context).await?;
        scaling::scale(&mut sets, &context).await?;
        return progress::update_status(&sets, &context).await;
    }
    match is_recreated(&deployment) {
        true => recreate(&mut sets, &context).await?,
        false => roll(&mut sets, &context).await?,
    }
    progress::update_rollout_status(&sets, &context).await
}

/// Scales the new set up and the old ones down, within the limits.
async fn roll(sets: &mut Sets, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
    sets.find_or_create_new(context).await?;
    let limits = limits(&sets.deployment);
    let Some(new) = sets.new.clone() else { return Ok(()) };
    let desired = match desired(&new) > limits.replicas {
        true => limits.replicas,
        false => new_set_replicas(limits, desired(&new), sets.total()),
    };
    if sets.scale(&new, desired, context).await? {
        return Ok(());
    }
    let old: Vec<_> = sets.old.clone();
    let replicas: Vec<_> = old.iter().map(|set| replicas(set)).collect();
    let scaled = scale_down_old_sets(limits, self::replicas(&new), &replicas);
    let mut has_scaled = false;
    for (set, number) in old.iter().zip(scaled).filter(|(set, _)| self::desired(set) > 0) {
        has_scaled |= sets.scale(set, number, context).await?;
    }
    if !has_scaled && progress::is_complete(sets) {
        sets.delete_history(context).await?;
    }
    Ok(())
}

/// Stops all old pods before the new set is created.
async fn recreate(sets: &mut Sets, context: &ReconcileContext<State>) -> Result<(), ReconcileError> {
    sets.find_new(context).await?;
    let mut has_scaled = false;
    for set in &sets.active_old() {
        has_scaled |= sets.scale(set, 0, context).await?;
    }
    let runs = |set: &Arc<ReplicaSet>| controlled_by(&context.pods, &**set).iter().any(|pod| !has_finished(pod));
    if has_scaled || sets.old.iter().any(runs) {
        return Ok(());
    }
    sets.find_or_create_new(context).await?;
    if let Some(new) = sets.new.clone() {
        let replicas = limits(&sets.deployment).replicas;
        sets.scale(&new, replicas, context).await?;
    }
    if progress::is_complete(sets) {
        sets.delete_history(context).await?;
    }
    Ok(())
}

fn spec(deployment: &Deployment) -> DeploymentSpec {
    deployment.spec.clone().unwrap_or_default()
}

fn is_recreated(deployment: &Deployment) -> bool {
    let strategy = deployment.spec.as_ref().and_then(|spec| spec.strategy.as_ref());
    strategy.is_some_and(|strategy| strategy.type_.as_deref() == Some("Recreate"))
}

/// Returns the limits of a rolling update. The strategy `Recreate` has neither surge nor unavailable pods.
fn limits(deployment: &Deployment) -> Limits {
    let spec = spec(deployment);
    let replicas = spec.replicas.unwrap_or(1);
    if is_recreated(deployment) {
        return Limits { replicas, max_surge: 0, max_unavailable: 0 };
    }
    let rolling = spec.strategy.and_then(|strategy| strategy.rolling_update).unwrap_or_default();
    let (max_surge, max_unavailable) =
        resolve_fenceposts(rolling.max_surge.as_ref(), rolling.max_unavailable.as_ref(), replicas);
    Limits { replicas, max_surge, max_unavailable: max_unavailable.min(replicas) }
}

/// Returns the desired number of pods of a set.
fn desired(set: &ReplicaSet) -> i32 {
    set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
}

fn replicas(set: &ReplicaSet) -> Replicas {
    let available = set.status.as_ref().and_then(|status| status.available_replicas).unwrap_or_default();
    Replicas { desired: desired(set), available }
}
