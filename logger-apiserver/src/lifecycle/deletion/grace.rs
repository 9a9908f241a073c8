//! What a delete makes of an object: grace periods, and the finalizers that propagation policies stand for

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, Time};
use serde_json::Value;

use crate::{
    api::object::{Object, now},
    resource::{metadata, registry::Resource},
};

/// Holds an owner until nobody says any more that he is owned by it.
pub(crate) const ORPHAN: &str = "orphan";
/// Holds an owner until the dependents that block it are gone.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// What becomes of an object that is deleted.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It goes, and is stored in this state before if it is another.
    Goes(Object),
    /// It stays in this state.
    Stays(Object),
}

/// Decides by the object and what is asked for.
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
    /// The kind knows none.
    None,
    /// It runs, and is not made shorter.
    Pending,
    /// It begins, or is made shorter; in seconds.
    Period(i64),
}

/// Only pods are given time.
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

/// In seconds; one that is on no node or has ended needs none.
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

/// A time so many seconds after another; as late as times can be if there is none.
fn later(time: &Time, seconds: i64) -> Time {
    Time(time.0.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX))
}

/// The finalizers it is to have: those of policies come and go with what is asked for.
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
