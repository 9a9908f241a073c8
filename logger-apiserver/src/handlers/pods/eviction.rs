//! A pod is evicted, if the budget it belongs to has a disruption left.

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

/// Deletes a pod, unless its budget forbids it.
pub(super) fn evict(state: &mut State, request: &ResourceRequest, eviction: &Value, dry_run: bool) -> Result<()> {
    let options: DeleteOptions = match &eviction["deleteOptions"] {
        Value::Null => DeleteOptions::default(),
        options => serde_json::from_value(options.clone()).map_err(|error| ApiError::bad_request(error.to_string()))?,
    };
    let dry_run = is_dry_run(options.dry_run.as_deref().unwrap_or_default(), "DeleteOptions")? || dry_run;
    let pod = request.existing(state)?;
    if !is_free(&pod) {
        spend(state, &pod, dry_run)?;
    }
    delete::check_preconditions(&request.kind, &pod, &options)?;
    if dry_run {
        return Ok(());
    }
    let evicted = note(state, request, &pod);
    deletion::delete(state, &request.kind, &evicted, &options)?;
    Ok(())
}

/// A pod that does not run counts for no budget.
fn is_free(pod: &Object) -> bool {
    let phase = pod.field("status.phase").and_then(Value::as_str);
    pod.is_terminating() || matches!(phase, Some("Pending" | "Succeeded" | "Failed"))
}

/// Says in the status why the pod goes.
fn note(state: &mut State, request: &ResourceRequest, pod: &Stored) -> Stored {
    let mut evicted = Object::clone(pod);
    let condition = json!({
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    });
    set_condition(&mut evicted, condition);
    request.kind.default(&mut evicted.body);
    state.store.put(&request.kind.group_resource(), &evicted)
}

/// Takes a disruption from the budget of a pod, if it has one.
fn spend(state: &mut State, pod: &Object, dry_run: bool) -> Result<()> {
    let budgets = state.store.list(BUDGETS, Some(pod.namespace())).into_iter();
    let budgets: Vec<Stored> = budgets.filter(|budget| covers(budget, pod)).collect();
    let budget = match budgets.as_slice() {
        [] => return Ok(()),
        [budget] => budget,
        _ => {
            let why =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(ApiError::internal(why));
        }
    };
    if !is_ready(pod) && spares_what_is_not_ready(budget) {
        return Ok(());
    }
    let left = check(budget)?;
    if !dry_run {
        let spent = with_one_less(budget, left, pod.name());
        state.store.put(BUDGETS, &spent);
    }
    Ok(())
}

/// A selector that is empty is for all pods, one that is not there for none.
fn covers(budget: &Object, pod: &Object) -> bool {
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

fn spares_what_is_not_ready(budget: &Object) -> bool {
    let always = budget.field("spec.unhealthyPodEvictionPolicy").is_some_and(|policy| policy == "AlwaysAllow");
    let (current, desired) = (number(budget, "currentHealthy"), number(budget, "desiredHealthy"));
    always || current >= desired && desired > 0
}

/// How many disruptions are left, which is at least one.
fn check(budget: &Object) -> Result<i64> {
    const SECONDS: i32 = 10;
    let name = budget.name();
    if number(budget, "observedGeneration") < budget.metadata.generation.unwrap_or_default() {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(ApiError::over_budget(why, Some(SECONDS)));
    }
    let (left, current, desired) =
        (number(budget, "disruptionsAllowed"), number(budget, "currentHealthy"), number(budget, "desiredHealthy"));
    if left > 0 {
        return Ok(left);
    }
    let why = if current <= desired {
        format!("needs {desired} healthy pods and has {current} currently")
    } else {
        "does not allow evicting pods currently".to_owned()
    };
    Err(ApiError::over_budget(format!("The disruption budget {name} {why}"), None))
}

fn with_one_less(budget: &Object, left: i64, pod: &str) -> Object {
    let mut budget = budget.clone();
    let generation = budget.metadata.generation;
    if let Some(status) = budget.body.get_mut("status") {
        status["disruptionsAllowed"] = json!(left - 1);
        status["disruptedPods"][pod] = json!(now());
    }
    if left == 1 {
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
