//! Pod evictions, as far as the PodDisruptionBudget of the pod allows them.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde_json::{Value, json};

use super::set_condition;
use crate::{
    api::{
        error::{ApiError, Result},
        object::{Object, Stored, now},
    },
    handlers::{
        delete,
        request::{ResourceRequest, is_dry_run},
    },
    lifecycle::deletion,
    resource::selector,
    storage::state::State,
};

const BUDGETS: &str = "poddisruptionbudgets.policy";

/// Deletes a pod, unless its budget does not allow it.
pub(super) fn evict(state: &mut State, request: &ResourceRequest, eviction: &Value, dry_run: bool) -> Result<()> {
    let options: DeleteOptions = match &eviction["deleteOptions"] {
        Value::Null => DeleteOptions::default(),
        options => serde_json::from_value(options.clone()).map_err(|error| ApiError::bad_request(error.to_string()))?,
    };
    let dry_run = is_dry_run(options.dry_run.as_deref().unwrap_or_default(), "DeleteOptions")? || dry_run;
    let pod = request.existing(state)?;
    if !can_ignore_budget(&pod) {
        consume_disruption(state, &pod, dry_run)?;
    }
    delete::check_preconditions(&request.kind, &pod, &options)?;
    if dry_run {
        return Ok(());
    }
    let evicted = mark_disruption_target(state, request, &pod);
    deletion::delete(state, &request.kind, &evicted, &options)?;
    Ok(())
}

/// Returns whether a pod is not running, so that no budget applies to it.
fn can_ignore_budget(pod: &Object) -> bool {
    let phase = pod.field("status.phase").and_then(Value::as_str);
    pod.is_terminating() || matches!(phase, Some("Pending" | "Succeeded" | "Failed"))
}

/// Sets the condition that reports the reason of the deletion.
fn mark_disruption_target(state: &mut State, request: &ResourceRequest, pod: &Stored) -> Stored {
    let mut evicted = Object::clone(pod);
    let condition = json!({
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    });
    set_condition(&mut evicted, condition);
    request.kind.default_built_in(&mut evicted.body);
    state.store.put(&request.kind.group_resource(), evicted)
}

/// Decrements the allowed disruptions of the budget of a pod, if it has one.
fn consume_disruption(state: &mut State, pod: &Object, dry_run: bool) -> Result<()> {
    let budgets = state.store.list(BUDGETS, Some(pod.namespace())).into_iter();
    let budgets: Vec<Stored> = budgets.filter(|budget| matches(budget, pod)).collect();
    let budget = match budgets.as_slice() {
        [] => return Ok(()),
        [budget] => budget,
        _ => {
            let detail =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(ApiError::internal(detail));
        }
    };
    if !is_ready(pod) && allows_unhealthy_eviction(budget) {
        return Ok(());
    }
    let allowed = disruptions_allowed(budget)?;
    if !dry_run {
        let updated = record_disruption(budget, allowed, pod.name());
        state.store.put(BUDGETS, updated);
    }
    Ok(())
}

/// Returns whether the budget selects the pod. An empty selector selects all pods, a missing one none.
fn matches(budget: &Object, pod: &Object) -> bool {
    let Some(selector) = budget.field("spec.selector") else {
        return false;
    };
    let labels: BTreeMap<String, String> = pod.metadata.labels.clone().unwrap_or_default();
    selector.as_object().is_some_and(serde_json::Map::is_empty) || selector::selects(selector, &json!(labels))
}

fn is_ready(pod: &Object) -> bool {
    let conditions = pod.field("status.conditions").and_then(Value::as_array).into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn allows_unhealthy_eviction(budget: &Object) -> bool {
    let always = budget.field("spec.unhealthyPodEvictionPolicy").is_some_and(|policy| policy == "AlwaysAllow");
    let (current, desired) = (number(budget, "currentHealthy"), number(budget, "desiredHealthy"));
    always || current >= desired && desired > 0
}

/// Returns the number of allowed disruptions, which is at least one.
fn disruptions_allowed(budget: &Object) -> Result<i64> {
    const RETRY_AFTER_SECONDS: i32 = 10;
    let name = budget.name();
    if number(budget, "observedGeneration") < budget.metadata.generation.unwrap_or_default() {
        let detail = format!("The disruption budget {name} is still being processed by the server.");
        return Err(ApiError::over_budget(detail, Some(RETRY_AFTER_SECONDS)));
    }
    let (allowed, current, desired) =
        (number(budget, "disruptionsAllowed"), number(budget, "currentHealthy"), number(budget, "desiredHealthy"));
    if allowed > 0 {
        return Ok(allowed);
    }
    let detail = if current <= desired {
        format!("needs {desired} healthy pods and has {current} currently")
    } else {
        "does not allow evicting pods currently".to_owned()
    };
    Err(ApiError::over_budget(format!("The disruption budget {name} {detail}"), None))
}

fn record_disruption(budget: &Object, allowed: i64, pod: &str) -> Object {
    let mut budget = budget.clone();
    let generation = budget.metadata.generation;
    if let Some(status) = budget.body.get_mut("status") {
        status["disruptionsAllowed"] = json!(allowed - 1);
        status["disruptedPods"][pod] = json!(now());
    }
    if allowed == 1 {
        let condition = json!({
            "type": "DisruptionAllowed",
            "status": "False",
            "reason": "InsufficientPods",
            "message": "",
            "observedGeneration": generation,
        });
        set_condition(&mut budget, condition);
    }
    budget
}

fn number(budget: &Object, field: &str) -> i64 {
    budget.body.get("status").and_then(|status| status[field].as_i64()).unwrap_or_default()
}
