//! The status of a Deployment: the counts of its sets, and the conditions of its rollout.

use std::time::Duration;

use k8s_openapi::api::apps::v1::{DeploymentCondition, DeploymentStatus, ReplicaSet};
use kube::ResourceExt;
use kubewright_runtime::{Action, Error, ReconcileContext, ReconcileError};

use super::{State, limits, replica_sets::Sets, spec};
use crate::model::clock::{Clock, seconds};

const AVAILABLE: &str = "Available";
const PROGRESSING: &str = "Progressing";
const REPLICA_FAILURE: &str = "ReplicaFailure";
const PAUSED: &str = "DeploymentPaused";
const COMPLETE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

/// Returns whether all replicas are updated and available, and no others exist.
pub(super) fn is_complete(sets: &Sets) -> bool {
    is_complete_status(sets, &counts(sets))
}

fn is_complete_status(sets: &Sets, status: &DeploymentStatus) -> bool {
    let replicas = Some(limits(&sets.deployment).replicas).filter(|replicas| *replicas != 0);
    status.updated_replicas == replicas && status.replicas == replicas && status.available_replicas == replicas
}

/// Writes the counts and the condition `Available`.
pub(super) async fn update_status(sets: &Sets, context: &ReconcileContext<State>) -> Result<Action, ReconcileError> {
    let status = status(sets, &context.clock);
    context.update_status(&sets.deployment, |deployment| deployment.status = Some(status)).await?;
    Ok(Action::Done)
}

/// Writes the counts and all conditions. The deployment is reconciled again when its rollout times out.
pub(super) async fn update_rollout_status(
    sets: &Sets,
    context: &ReconcileContext<State>,
) -> Result<Action, ReconcileError> {
    let (clock, mut status) = (&context.clock, status(sets, &context.clock));
    let deadline = spec(&sets.deployment).progress_deadline_seconds.filter(|deadline| *deadline != i32::MAX);
    let mut next = None;
    match deadline {
        None => remove(&mut status, PROGRESSING),
        Some(deadline) => next = progress(sets, &mut status, seconds(deadline), clock),
    }
    let failure = sets.all().find_map(|set| failure_of(set));
    match failure {
        Some(failure) => set(&mut status, failure, clock),
        None => remove(&mut status, REPLICA_FAILURE),
    }
    status.conditions = status.conditions.filter(|conditions| !conditions.is_empty());
    context.update_status(&sets.deployment, |deployment| deployment.status = Some(status)).await?;
    Ok(next.map_or(Action::Done, Action::RequeueAfter))
}

/// Sets the condition `Progressing`. Returns after which time the rollout times out.
fn progress(sets: &Sets, status: &mut DeploymentStatus, deadline: Duration, clock: &Clock) -> Option<Duration> {
    let known = find(status, PROGRESSING).cloned();
    let was_complete = status.replicas == status.updated_replicas
        && known.as_ref().is_some_and(|known| known.reason.as_deref() == Some(COMPLETE));
    if was_complete {
        return None;
    }
    let subject = match &sets.new {
        Some(new) => format!("ReplicaSet {:?}", new.name_any()),
        None => format!("Deployment {:?}", sets.deployment.name_any()),
    };
    if is_complete_status(sets, status) {
        let message = format!("{subject} has successfully progressed.");
        set(status, condition(PROGRESSING, "True", COMPLETE, message), clock);
        return None;
    }
    if has_progressed(sets, status) {
        // Each progress restarts the deadline.
        let transition = known.filter(|known| known.status == "True").and_then(|known| known.last_transition_time);
        remove(status, PROGRESSING);
        set(status, condition(PROGRESSING, "True", "ReplicaSetUpdated", format!("{subject} is progressing.")), clock);
        let added = status.conditions.iter_mut().flatten().find(|condition| condition.type_ == PROGRESSING);
        if let (Some(added), Some(transition)) = (added, transition) {
            added.last_transition_time = Some(transition);
        }
    }
    let known = find(status, PROGRESSING)?;
    // The time of the last complete rollout is not that of progress of this one.
    if matches!(known.reason.as_deref(), Some(TIMED_OUT | PAUSED | COMPLETE)) {
        return None;
    }
    let remaining = known.last_update_time.as_ref().and_then(|since| clock.remaining(since, deadline));
    if remaining.is_none() {
        let message = format!("{subject} has timed out progressing.");
        set(status, condition(PROGRESSING, "False", TIMED_OUT, message), clock);
    }
    remaining
}

/// Returns whether the counts are closer to the desired ones than those of the last status.
fn has_progressed(sets: &Sets, new: &DeploymentStatus) -> bool {
    let old = sets.deployment.status.clone().unwrap_or_default();
    let number = |number: Option<i32>| number.unwrap_or_default();
    let outdated = |status: &DeploymentStatus| number(status.replicas) - number(status.updated_replicas);
    number(new.updated_replicas) > number(old.updated_replicas)
        || outdated(new) < outdated(&old)
        || number(new.ready_replicas) > number(old.ready_replicas)
        || number(new.available_replicas) > number(old.available_replicas)
}

/// Reports that the new set exists, if no condition reports progress yet.
pub(super) fn report_found(sets: &mut Sets, name: &str, context: &ReconcileContext<State>) {
    let is_known = find(&counts(sets), PROGRESSING).is_some();
    if !is_known && spec(&sets.deployment).progress_deadline_seconds.is_some() {
        let found = condition(PROGRESSING, "True", "FoundNewReplicaSet", format!("Found new replica set {name:?}"));
        record(sets, found, context);
    }
}

/// Reports that the new set was created.
pub(super) fn report_created(sets: &mut Sets, name: &str, context: &ReconcileContext<State>) {
    if spec(&sets.deployment).progress_deadline_seconds.is_some() {
        let message = format!("Created new replica set {name:?}");
        record(sets, condition(PROGRESSING, "True", "NewReplicaSetCreated", message), context);
    }
}

/// Reports that the new set cannot be created, and returns the error.
pub(super) async fn report_failed_creation(
    sets: &mut Sets,
    name: &str,
    error: Error,
    context: &ReconcileContext<State>,
) -> Result<(), ReconcileError> {
    let message = format!("Failed to create new replica set {name:?}: {error}");
    context.events.warning(&sets.deployment, "ReplicaSetCreateError", message.clone());
    record(sets, condition(PROGRESSING, "False", "ReplicaSetCreateError", message), context);
    update_status(sets, context).await?;
    Err(error.into())
}

/// Adds or removes the conditions that report a pause.
pub(super) fn update_pause(sets: &mut Sets, context: &ReconcileContext<State>) {
    let spec = spec(&sets.deployment);
    let status = sets.deployment.status.clone().unwrap_or_default();
    let reason = find(&status, PROGRESSING).and_then(|known| known.reason.clone()).unwrap_or_default();
    let is_paused = spec.paused == Some(true);
    if spec.progress_deadline_seconds.is_none() || reason == TIMED_OUT || is_paused == (reason == PAUSED) {
        return;
    }
    let changed = match is_paused {
        true => condition(PROGRESSING, "Unknown", PAUSED, "Deployment is paused"),
        false => condition(PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed"),
    };
    record(sets, changed, context);
}

/// Sets a condition of the status that is written at the end of the reconciliation.
fn record(sets: &mut Sets, changed: DeploymentCondition, context: &ReconcileContext<State>) {
    let mut status = counts(sets);
    set(&mut status, changed, &context.clock);
    sets.conditions = status.conditions;
}

/// Returns the status of a deployment from those of its sets, with the conditions so far.
fn status(sets: &Sets, clock: &Clock) -> DeploymentStatus {
    let mut status = counts(sets);
    let limits = limits(&sets.deployment);
    let is_available = status.available_replicas.unwrap_or_default() >= limits.replicas - limits.max_unavailable;
    let available = match is_available {
        true => condition(AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
        false => {
            let message = "Deployment does not have minimum availability.";
            condition(AVAILABLE, "False", "MinimumReplicasUnavailable", message)
        }
    };
    set(&mut status, available, clock);
    status
}

fn counts(sets: &Sets) -> DeploymentStatus {
    let old = sets.deployment.status.clone().unwrap_or_default();
    let sum = |count: fn(&ReplicaSet) -> i32| sets.all().map(|set| count(set)).sum::<i32>();
    let nonzero = |number: i32| Some(number).filter(|number| *number != 0);
    let replicas = sum(|set| set.status.as_ref().map_or(0, |status| status.replicas));
    let available = sum(|set| set.status.as_ref().and_then(|status| status.available_replicas).unwrap_or_default());
    let ready = sum(|set| set.status.as_ref().and_then(|status| status.ready_replicas).unwrap_or_default());
    let ending = sum(|set| set.status.as_ref().and_then(|status| status.terminating_replicas).unwrap_or_default());
    let updated = sets.new.as_ref().and_then(|set| set.status.as_ref()).map_or(0, |status| status.replicas);
    DeploymentStatus {
        observed_generation: sets.deployment.metadata.generation,
        replicas: nonzero(replicas),
        updated_replicas: nonzero(updated),
        ready_replicas: nonzero(ready),
        available_replicas: nonzero(available),
        unavailable_replicas: nonzero((replicas - available).max(0)),
        terminating_replicas: Some(ending),
        collision_count: old.collision_count,
        conditions: sets.conditions.clone(),
    }
}

/// Returns the failure that a set reports.
fn failure_of(set: &ReplicaSet) -> Option<DeploymentCondition> {
    let failure = set.status.as_ref()?.conditions.iter().flatten().find(|known| known.type_ == REPLICA_FAILURE)?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Some(condition(REPLICA_FAILURE, &failure.status, &text(&failure.reason), text(&failure.message)))
}

fn condition(type_: &str, status: &str, reason: &str, message: impl Into<String>) -> DeploymentCondition {
    DeploymentCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.into()),
        ..DeploymentCondition::default()
    }
}

fn find<'a>(status: &'a DeploymentStatus, type_: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.as_ref()?.iter().find(|condition| condition.type_ == type_)
}

fn remove(status: &mut DeploymentStatus, type_: &str) {
    status.conditions.get_or_insert_default().retain(|condition| condition.type_ != type_);
}

/// Sets a condition, unless its status and reason are unchanged. The time of the last transition is that of the last
/// change of the status.
fn set(status: &mut DeploymentStatus, mut condition: DeploymentCondition, clock: &Clock) {
    let known = find(status, &condition.type_).cloned();
    if known.as_ref().is_some_and(|known| known.status == condition.status && known.reason == condition.reason) {
        return;
    }
    let same_status = known.filter(|known| known.status == condition.status);
    let transition = same_status.and_then(|known| known.last_transition_time);
    condition.last_transition_time = transition.or_else(|| Some(clock.time()));
    condition.last_update_time = Some(clock.time());
    remove(status, &condition.type_);
    status.conditions.get_or_insert_default().push(condition);
}
