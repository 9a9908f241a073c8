//! The effect of a delete on an object: grace periods, and the finalizers of propagation policies.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, Time};
use serde_json::Value;

use crate::{
    api::object::{Object, now},
    resource::{metadata, registry::Resource},
};

/// The finalizer of an owner until its dependents are orphaned.
pub(crate) const ORPHAN: &str = "orphan";
/// The finalizer of an owner until its blocking dependents are deleted.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// The effect of a delete on an object.
#[derive(Debug)]
pub(crate) enum DeleteOutcome {
    /// The object is removed. If this state differs from the stored one, it is stored first.
    Remove(Object),
    /// The object is stored in this state and remains.
    Update(Object),
}

/// Determines the effect of a delete from the object and the options (`rest.BeforeDelete` of kube-apiserver).
pub(crate) fn before_delete(kind: &Resource, object: &Object, options: &DeleteOptions) -> DeleteOutcome {
    let mut terminating = object.clone();
    let grace = grace(kind, &mut terminating, options);
    if grace == Grace::Pending {
        return DeleteOutcome::Update(terminating);
    }
    terminating.metadata.finalizers =
        Some(finalizers(kind, object, options)).filter(|finalizers| !finalizers.is_empty());
    let has_finalizers = !terminating.finalizers().is_empty();
    match grace {
        Grace::Period(seconds) if has_finalizers || seconds > 0 => DeleteOutcome::Update(terminating),
        Grace::None if has_finalizers => {
            metadata::mark_deleted(&mut terminating);
            DeleteOutcome::Update(terminating)
        }
        Grace::None => DeleteOutcome::Remove(object.clone()),
        Grace::Period(_) | Grace::Pending => DeleteOutcome::Remove(terminating),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Grace {
    /// The kind has no grace period.
    None,
    /// The grace period is running and is not shortened.
    Pending,
    /// The grace period starts or is shortened, in seconds.
    Period(i64),
}

/// Returns the grace period. Only pods have one.
fn grace(kind: &Resource, pod: &mut Object, options: &DeleteOptions) -> Grace {
    if !kind.strategy.has_grace_period {
        return Grace::None;
    }
    let requested = options.grace_period_seconds;
    let Some(deletion_time) = pod.metadata.deletion_timestamp.clone() else {
        let period = initial_period(pod, requested);
        pod.metadata.deletion_timestamp = Some(add_seconds(&now(), period));
        pod.metadata.deletion_grace_period_seconds = Some(period);
        pod.metadata.generation = pod.metadata.generation.map(|generation| generation + 1);
        return Grace::Period(period);
    };
    match (pod.metadata.deletion_grace_period_seconds, requested) {
        (None, _) => Grace::None,
        (Some(period), Some(shorter)) if shorter < period => {
            pod.metadata.deletion_timestamp = Some(add_seconds(&deletion_time, shorter.saturating_sub(period)));
            pod.metadata.deletion_grace_period_seconds = Some(shorter);
            Grace::Period(shorter)
        }
        (Some(_), _) => Grace::Pending,
    }
}

/// Returns the grace period in seconds; 0 for pods that are unscheduled or have terminated.
fn initial_period(pod: &Object, requested: Option<i64>) -> i64 {
    let is_unscheduled = pod.field("spec.nodeName").and_then(Value::as_str).is_none_or(str::is_empty);
    let has_terminated = matches!(pod.field("status.phase").and_then(Value::as_str), Some("Failed" | "Succeeded"));
    if is_unscheduled || has_terminated {
        return 0;
    }
    let default_period = || pod.field("spec.terminationGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0);
    let period = requested.unwrap_or_else(default_period);
    if period < 0 { 1 } else { period }
}

/// Returns a time plus a number of seconds, limited to the largest time.
fn add_seconds(time: &Time, seconds: i64) -> Time {
    Time(time.0.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX))
}

/// Returns the finalizers of the object with those of the requested propagation policy.
fn finalizers(kind: &Resource, object: &Object, options: &DeleteOptions) -> Vec<String> {
    let mut finalizers = object.finalizers().to_vec();
    let has = |name: &str| object.finalizers().iter().any(|finalizer| finalizer == name);
    let current = if has(ORPHAN) {
        Some(ORPHAN)
    } else if has(FOREGROUND) {
        Some(FOREGROUND)
    } else {
        None
    };
    let default = if kind.strategy.orphans_dependents { Some(ORPHAN) } else { None };
    let desired = match (options.orphan_dependents, options.propagation_policy.as_deref()) {
        _ if kind.strategy.has_no_dependents => None,
        (Some(true), _) | (_, Some("Orphan")) => Some(ORPHAN),
        (_, Some("Foreground")) => Some(FOREGROUND),
        (Some(false), _) | (_, Some(_)) => None,
        (None, None) => current.or(default),
    };
    if desired == current && !(has(ORPHAN) && has(FOREGROUND)) {
        return finalizers;
    }
    finalizers.retain(|finalizer| finalizer != ORPHAN && finalizer != FOREGROUND);
    finalizers.extend(desired.map(str::to_owned));
    finalizers
}
