//! The ReplicaSet controller: it keeps a number of pods running.

use std::sync::Arc;

use futures::future::join_all;
use k8s_openapi::api::{
    apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus},
    core::v1::{Pod, PodTemplateSpec},
};
use kube::ResourceExt;
use kubewright_runtime::{Action, Controller, Error, ReconcileContext, ReconcileError, Store};

use super::children::{self, BURST, count, nonzero};
use crate::{
    environment::{Environment, Recorder, controlled_by},
    model::{
        clock::Clock,
        labels,
        pods::{self, has_finished, is_active, is_available, is_ready, is_terminating},
    },
};

struct State {
    pods: Store<Pod>,
    events: Recorder,
    clock: Clock,
}

pub(super) fn controller(environment: &Environment) -> Controller {
    let (sets, pods) = (environment.factory.informer::<ReplicaSet>(), environment.pods());
    let (events, clock) = (environment.recorder("replicaset-controller"), environment.clock);
    let state = State { pods: pods.store(), events, clock };
    Controller::new("replicaset", &sets)
        .owns(&pods)
        .max_concurrent_reconciles(5)
        .reconcile_with(move |_| state, reconcile)
        .build()
}

async fn reconcile(set: Arc<ReplicaSet>, context: ReconcileContext<State>) -> Result<Action, ReconcileError> {
    let owned = controlled_by(&context.pods, &*set);
    let active: Vec<_> = owned.iter().filter(|pod| is_active(pod)).cloned().collect();
    let failure = match is_terminating(&*set) {
        true => None,
        false => scale(&set, &active, &context).await.err(),
    };
    let status = status(&set, &owned, failure.as_ref(), &context.clock);
    let waits = status.ready_replicas != status.available_replicas;
    context.update_status(&*set, |set| set.status = Some(status)).await?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let min_ready_seconds = set.spec.as_ref().and_then(|spec| spec.min_ready_seconds);
    let next = pods::next_availability(&active, min_ready_seconds, &context.clock);
    Ok(next.filter(|_| waits).map_or(Action::Done, Action::RequeueAfter))
}

/// Creates or deletes pods up to the desired number.
async fn scale(set: &ReplicaSet, active: &[Arc<Pod>], context: &ReconcileContext<State>) -> Result<(), Failure> {
    let (desired, client) = (desired(set), context.typed::<Pod>());
    let missing = desired.saturating_sub(active.len()).min(BURST);
    let pod = pods::from_template(&template(set), set);
    // The first pod shows whether pods can be created at all.
    for batch in [missing.min(1), missing.saturating_sub(1)] {
        let creations = (0..batch).map(|_| children::create(&client, &context.events, set, &pod));
        join_all(creations).await.into_iter().collect::<Result<Vec<_>, _>>().map_err(Failure::Create)?;
    }
    let mut surplus = active.to_vec();
    pods::sort_for_deletion(&mut surplus);
    surplus.truncate(active.len().saturating_sub(desired).min(BURST));
    let deletions = surplus.iter().map(|pod| children::delete(&client, &context.events, set, pod));
    join_all(deletions).await.into_iter().collect::<Result<Vec<_>, _>>().map_err(Failure::Delete)?;
    Ok(())
}

fn desired(set: &ReplicaSet) -> usize {
    usize::try_from(set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)).unwrap_or_default()
}

fn template(set: &ReplicaSet) -> PodTemplateSpec {
    set.spec.as_ref().and_then(|spec| spec.template.clone()).unwrap_or_default()
}

/// Why a set has not the desired number of pods.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("cannot create pods: {0}")]
    Create(#[source] Error),
    #[error("cannot delete pods: {0}")]
    Delete(#[source] Error),
}

fn status(set: &ReplicaSet, owned: &[Arc<Pod>], failure: Option<&Failure>, clock: &Clock) -> ReplicaSetStatus {
    let old = set.status.clone().unwrap_or_default();
    let min_ready_seconds = set.spec.as_ref().and_then(|spec| spec.min_ready_seconds);
    let template_labels = template(set).metadata.and_then(|metadata| metadata.labels).unwrap_or_default();
    let active = || owned.iter().filter(|pod| is_active(pod));
    let ending = owned.iter().filter(|pod| is_terminating(&***pod) && !has_finished(pod)).count();
    let labeled = active().filter(|pod| labels::contains(pod.labels(), &template_labels)).count();
    ReplicaSetStatus {
        replicas: count(active().count()),
        fully_labeled_replicas: nonzero(labeled),
        ready_replicas: nonzero(active().filter(|pod| is_ready(pod)).count()),
        available_replicas: nonzero(active().filter(|pod| is_available(pod, min_ready_seconds, clock)).count()),
        terminating_replicas: Some(count(ending)),
        observed_generation: set.metadata.generation,
        conditions: conditions(&old, failure, clock),
    }
}

fn conditions(old: &ReplicaSetStatus, failure: Option<&Failure>, clock: &Clock) -> Option<Vec<ReplicaSetCondition>> {
    const FAILURE: &str = "ReplicaFailure";
    let mut conditions = old.conditions.clone().unwrap_or_default();
    let known = conditions.iter().find(|condition| condition.type_ == FAILURE).cloned();
    conditions.retain(|condition| condition.type_ != FAILURE);
    if let Some(failure) = failure {
        let reason = match failure {
            Failure::Create(_) => "FailedCreate",
            Failure::Delete(_) => "FailedDelete",
        };
        conditions.push(known.filter(|known| known.reason.as_deref() == Some(reason)).unwrap_or_else(|| {
            ReplicaSetCondition {
                type_: FAILURE.to_owned(),
                status: "True".to_owned(),
                reason: Some(reason.to_owned()),
                message: Some(failure.to_string()),
                last_transition_time: Some(clock.time()),
            }
        }));
    }
    Some(conditions).filter(|conditions| !conditions.is_empty())
}
