//! The scopes of quotas: which pods and claims count against them.

use serde_json::{Value, json};

use super::evaluator::Evaluator;
use crate::{api::object::Object, resource::selector};

const PRIORITY_CLASS: &str = "PriorityClass";
const VOLUME_ATTRIBUTES_CLASS: &str = "VolumeAttributesClass";

/// Returns whether all scopes of a quota include an object. Kinds without scopes count against quotas without them.
pub(crate) fn is_selected(quota: &Object, evaluator: &Evaluator, object: &Object) -> bool {
    let list = |path: &str| quota.field(path).and_then(Value::as_array).into_iter().flatten();
    let scopes = list("spec.scopes").map(|scope| json!({ "scopeName": scope, "operator": "Exists" }));
    let expressions = list("spec.scopeSelector.matchExpressions").cloned();
    let mut all = scopes.chain(expressions);
    match evaluator {
        Evaluator::Pods => all.all(|scope| selects_pod(&scope, object)),
        Evaluator::Claims => all.all(|scope| selects_claim(&scope, object)),
        Evaluator::Services | Evaluator::Count(_) => all.next().is_none(),
    }
}

fn selects_pod(scope: &Value, pod: &Object) -> bool {
    let has_deadline =
        || pod.field("spec.activeDeadlineSeconds").and_then(Value::as_i64).is_some_and(|seconds| seconds >= 0);
    let is_best_effort = || pod.field("status.qosClass").is_some_and(|class| class == "BestEffort");
    match scope["scopeName"].as_str().unwrap_or_default() {
        "Terminating" => has_deadline(),
        "NotTerminating" => !has_deadline(),
        "BestEffort" => is_best_effort(),
        "NotBestEffort" => !is_best_effort(),
        PRIORITY_CLASS => matches(scope, PRIORITY_CLASS, pod.field("spec.priorityClassName")),
        "CrossNamespacePodAffinity" => uses_other_namespaces(pod.field("spec.affinity").unwrap_or(&Value::Null)),
        _ => false,
    }
}

fn selects_claim(scope: &Value, claim: &Object) -> bool {
    let class = claim.field("spec.volumeAttributesClassName");
    scope["scopeName"] == VOLUME_ATTRIBUTES_CLASS && matches(scope, VOLUME_ATTRIBUTES_CLASS, class)
}

/// Returns whether a scope matches the name of a class.
fn matches(scope: &Value, key: &str, class: Option<&Value>) -> bool {
    let class = class.filter(|class| class.as_str().is_some_and(|class| !class.is_empty()));
    let labels = class.map_or_else(|| json!({}), |class| json!({ key: class }));
    let requirement = json!({ "key": key, "operator": scope["operator"], "values": scope["values"] });
    selector::selects(&json!({ "matchExpressions": [requirement] }), &labels)
}

/// Returns whether an affinity term refers to other namespaces.
fn uses_other_namespaces(affinity: &Value) -> bool {
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let mut terms = ["podAffinity", "podAntiAffinity"].into_iter().flat_map(|name| {
        let required = items(&affinity[name]["requiredDuringSchedulingIgnoredDuringExecution"]);
        let preferred = items(&affinity[name]["preferredDuringSchedulingIgnoredDuringExecution"]).into_iter();
        required.into_iter().chain(preferred.map(|mut term| term["podAffinityTerm"].take()))
    });
    terms.any(|term| !items(&term["namespaces"]).is_empty() || term["namespaceSelector"].is_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(body: &Value) -> Object {
        Object::from_json(body.as_object().unwrap().clone()).unwrap()
    }

    #[test]
    fn scopes_select_pods() {
        let pod = object(&json!({ "spec": { "priorityClassName": "high" }, "status": { "qosClass": "BestEffort" } }));
        let quota = |spec: Value| object(&json!({ "spec": spec }));
        let priority = |operator: &str, values: Value| {
            let expression = json!({ "scopeName": "PriorityClass", "operator": operator, "values": values });
            quota(json!({ "scopeSelector": { "matchExpressions": [expression] } }))
        };
        for selected in [
            quota(json!({})),
            quota(json!({ "scopes": ["BestEffort", "NotTerminating"] })),
            priority("In", json!(["high"])),
            priority("Exists", Value::Null),
        ] {
            assert!(is_selected(&selected, &Evaluator::Pods, &pod), "{:?}", selected.body);
        }
        for other in [quota(json!({ "scopes": ["NotBestEffort"] })), priority("NotIn", json!(["high"]))] {
            assert!(!is_selected(&other, &Evaluator::Pods, &pod), "{:?}", other.body);
        }
        assert!(!is_selected(&quota(json!({ "scopes": ["BestEffort"] })), &Evaluator::Services, &pod));
    }
}
