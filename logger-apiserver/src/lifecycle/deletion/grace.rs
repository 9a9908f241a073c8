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
pub(crate) enum Fate {
    /// The object is removed; it is stored in this state first if that differs.
    Goes(Object),
    /// The object remains in this state.
    Stays(Object),
}

/// Determines the effect from the object and the options.
pub(crate) fn decide(kind: &Resource, object: &Object, options: &DeleteOptions) -> Fate {
    let mut ending = object.clone();
    let grace = grace(kind, &mut ending, options);
    if grace == Grace::Pending {
        return Fate::Stays(ending);
    }
    ending.metadata.finalizers = Some(finalizers(kind, object, options)).filter(|finalizers| !finalizers.is_empty());
    let is_held = !ending.finalizers().is_empty();
    match grace {
        Grace::Period(seconds) if is_held || seconds > 0 => Fate::Stays(ending),
        Grace::None if is_held => {
            metadata::mark_deleted(&mut ending);
            Fate::Stays(ending)
        }
        Grace::None => Fate::Goes(object.clone()),
        Grace::Period(_) | Grace::Pending => Fate::Goes(ending),
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
    let asked = options.grace_period_seconds;
    let Some(end) = pod.metadata.deletion_timestamp.clone() else {
        let period = first_period(pod, asked);
        pod.metadata.deletion_timestamp = Some(later(&now(), period));
        pod.metadata.deletion_grace_period_seconds = Some(period);
        pod.metadata.generation = pod.metadata.generation.map(|generation| generation + 1);
        return Grace::Period(period);
    };
    match (pod.metadata.deletion_grace_period_seconds, asked) {
        (None, _) => Grace::None,
        (Some(period), Some(shorter)) if shorter < period => {
            pod.metadata.deletion_timestamp = Some(later(&end, shorter.saturating_sub(period)));
            pod.metadata.deletion_grace_period_seconds = Some(shorter);
            Grace::Period(shorter)
        }
        (Some(_), _) => Grace::Pending,
    }
}

/// Returns the grace period in seconds; 0 for pods that are unscheduled or have terminated.
fn first_period(pod: &Object, asked: Option<i64>) -> i64 {
    let is_unscheduled = pod.field("spec.nodeName").and_then(Value::as_str).is_none_or(str::is_empty);
    let has_ended = matches!(pod.field("status.phase").and_then(Value::as_str), Some("Failed" | "Succeeded"));
    if is_unscheduled || has_ended {
        return 0;
    }
    let usual = || pod.field("spec.terminationGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0);
    let period = asked.unwrap_or_else(usual);
    if period < 0 { 1 } else { period }
}

/// Returns a time plus a number of seconds, limited to the largest time.
fn later(time: &Time, seconds: i64) -> Time {
    Time(time.0.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX))
}

/// Returns the finalizers of the object with those of the requested propagation policy.
fn finalizers(kind: &Resource, object: &Object, options: &DeleteOptions) -> Vec<String> {
    let mut finalizers = object.finalizers().to_vec();
    let has = |name: &str| object.finalizers().iter().any(|finalizer| finalizer == name);
    let kept = if has(ORPHAN) {
        Some(ORPHAN)
    } else if has(FOREGROUND) {
        Some(FOREGROUND)
    } else {
        None
    };
    let by_default = if kind.strategy.orphans_dependents { Some(ORPHAN) } else { None };
    let wanted = match (options.orphan_dependents, options.propagation_policy.as_deref()) {
        _ if kind.strategy.has_no_dependents => None,
        (Some(true), _) | (_, Some("Orphan")) => Some(ORPHAN),
        (_, Some("Foreground")) => Some(FOREGROUND),
        (Some(false), _) | (_, Some(_)) => None,
        (None, None) => kept.or(by_default),
    };
    if wanted == kept && !(has(ORPHAN) && has(FOREGROUND)) {
        return finalizers;
    }
    finalizers.retain(|finalizer| finalizer != ORPHAN && finalizer != FOREGROUND);
    finalizers.extend(wanted.map(str::to_owned));
    finalizers
}
