//! Resource quotas: the usage that counts against them, and the rejection of writes that exceed them, as the admission
//! plugin `ResourceQuota`.
//!
//! A quota limits what its status declares, as on the real server: without the quota controller, it has no effect.

pub(crate) mod evaluator;
mod scopes;

use serde_json::Value;

use self::evaluator::Evaluator;
pub(crate) use self::scopes::is_selected;
use crate::{
    api::{
        error::{ApiError, Result},
        kind::Kind,
        object::{Object, Stored},
    },
    resource::{
        amounts::{self, Amounts},
        strategy::Objects,
    },
};

/// The resource of quotas.
pub(crate) const RESOURCE: &str = "resourcequotas";

/// A quota with its new usage.
pub(crate) struct Charge {
    pub(crate) quota: Stored,
    pub(crate) used: Amounts,
}

/// Returns the quotas whose usage a write changes. `old` is the object that it replaces.
///
/// # Errors
/// The usage exceeds a quota, or cannot be determined.
pub(crate) fn charge(objects: &dyn Objects, kind: &Kind, new: &Object, old: Option<&Object>) -> Result<Vec<Charge>> {
    let Some(evaluator) = Evaluator::from_kind(kind).filter(|evaluator| old.is_none() || evaluator.measures_updates())
    else {
        return Ok(Vec::new());
    };
    let mut quotas = objects.list(RESOURCE, Some(new.namespace()));
    quotas.retain(|quota| measured(&evaluator, quota).next().is_some() && is_selected(quota, &evaluator, new));
    if quotas.is_empty() {
        return Ok(Vec::new());
    }
    let forbidden = |message: String| ApiError::forbidden(kind, new.name(), &message);
    quotas.iter().try_for_each(|quota| check_measurable(&evaluator, quota, new)).map_err(forbidden)?;
    let mut delta = evaluator.usage(new);
    let negative: Vec<&str> =
        delta.iter().filter(|(_, amount)| amount.nanos() < 0).map(|(name, _)| name.as_str()).collect();
    if !negative.is_empty() {
        return Err(forbidden(format!("quota usage is negative for resource(s): {}", negative.join(","))));
    }
    if let Some(old) = old {
        amounts::subtract(&mut delta, &evaluator.usage(old));
    }
    delta.retain(|_, amount| amount.nanos() != 0);
    let charges = quotas.into_iter().map(|quota| charge_quota(quota, &delta)).collect::<Result<Vec<_>, _>>();
    Ok(charges.map_err(forbidden)?.into_iter().flatten().collect())
}

/// Returns the limited resources that an evaluator measures.
fn measured<'a>(evaluator: &'a Evaluator, quota: &'a Object) -> impl Iterator<Item = &'a String> {
    let hard = quota.field("status.hard").and_then(Value::as_object).into_iter().flatten();
    hard.map(|(name, _)| name).filter(move |name| evaluator.measures(name))
}

/// Checks that the usage of an object and of its namespace can be determined.
fn check_measurable(evaluator: &Evaluator, quota: &Object, object: &Object) -> Result<(), String> {
    let names: Vec<&str> = measured(evaluator, quota).map(String::as_str).collect();
    if let Some(message) = evaluator.missing(&names, object) {
        return Err(format!("failed quota: {}: {message}", quota.name()));
    }
    let used = quota.field("status.used").unwrap_or(&Value::Null);
    if names.iter().all(|name| used.get(name).is_some()) {
        return Ok(());
    }
    Err(format!("status unknown for quota: {}, resources: {}", quota.name(), names.join(",")))
}

/// Returns the new usage of a quota, or `None` if it does not change.
fn charge_quota(quota: Stored, delta: &Amounts) -> Result<Option<Charge>, String> {
    let amounts_of = |path: &str| amounts::parse(quota.field(path).unwrap_or(&Value::Null));
    let (hard, used) = (amounts_of("status.hard"), amounts_of("status.used"));
    let requested: Amounts = mask(delta, |name| hard.contains_key(name));
    if requested.is_empty() {
        return Ok(None);
    }
    let mut updated = used.clone();
    amounts::add(&mut updated, &requested);
    let is_exceeded = |name: &String| updated.get(name) > hard.get(name);
    let exceeded = mask(&requested, is_exceeded);
    if exceeded.is_empty() {
        return Ok(Some(Charge { quota, used: updated }));
    }
    let [used, hard] = [&used, &hard].map(|amounts| format(&mask(amounts, |name| exceeded.contains_key(name))));
    let requested = format(&exceeded);
    Err(format!("exceeded quota: {}, requested: {requested}, used: {used}, limited: {hard}", quota.name()))
}

fn mask(amounts: &Amounts, is_included: impl Fn(&String) -> bool) -> Amounts {
    amounts.iter().filter(|(name, _)| is_included(name)).map(|(name, amount)| (name.clone(), *amount)).collect()
}

fn format(amounts: &Amounts) -> String {
    amounts.iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(",")
}
