//! The rollout of a Deployment, and why it does not progress.

use serde_json::Value;

use super::{
    DeployError, Kubectl, Timeout,
    manifest::{items, name, namespace},
};

/// The number of events in an error.
const MAX_EVENTS: usize = 10;

/// Waits until all replicas are available.
pub(super) fn wait(kubectl: &Kubectl, deployment: &Value, timeout: &Timeout) -> Result<(), DeployError> {
    let resource = format!("deployment/{}", name(deployment));
    let (namespace, timeout) = (in_namespace(deployment), format!("--timeout={timeout}"));
    kubectl.show(&["rollout", "status", &resource, &namespace, &timeout])
}

/// Returns the conditions of the Deployment that are not met, the reasons of its pods, and warnings of its namespace.
pub(super) fn reasons(kubectl: &Kubectl, deployment: &Value) -> Result<Vec<String>, DeployError> {
    let namespace = in_namespace(deployment);
    let found = kubectl.json(&["get", "deployment", name(deployment), &namespace, "--output=json"])?;
    let mut reasons = conditions(&found.unwrap_or_default());
    let selector = format!("--selector={}", selector(deployment));
    let pods = kubectl.json(&["get", "pods", &namespace, &selector, "--output=json"])?;
    let pods = pods.map_or_else(Vec::new, items);
    if pods.is_empty() {
        reasons.push("no pod exists; check that the controllers of the cluster run, and its quotas".to_owned());
    }
    reasons.extend(pods.iter().flat_map(of_pod));
    let warnings = ["get", "events", &namespace, "--field-selector=type=Warning", "--output=json"];
    let mut events: Vec<_> = kubectl.json(&warnings)?.map_or_else(Vec::new, items).iter().map(event).collect();
    events.sort();
    events.dedup();
    reasons.extend(events.into_iter().take(MAX_EVENTS));
    Ok(reasons)
}

fn in_namespace(object: &Value) -> String {
    format!("--namespace={}", namespace(object).unwrap_or("default"))
}

/// Returns the labels of the pods.
fn selector(deployment: &Value) -> String {
    let labels = deployment["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
    let labels: Vec<_> = labels.map(|(key, value)| format!("{key}={}", text(value))).collect();
    labels.join(",")
}

fn conditions(deployment: &Value) -> Vec<String> {
    let conditions = list(&deployment["status"]["conditions"]);
    // This one is an error if it is true.
    let expected = |condition: &Value| if condition["type"] == "ReplicaFailure" { "False" } else { "True" };
    let unmet = conditions.filter(|condition| condition["status"] != expected(condition));
    unmet.map(|condition| format!("condition {}: {}", text(&condition["type"]), reason(condition))).collect()
}

/// Returns why a pod is not ready.
fn of_pod(pod: &Value) -> Vec<String> {
    let unscheduled = list(&pod["status"]["conditions"])
        .filter(|condition| condition["type"] == "PodScheduled" && condition["status"] != "True")
        .map(reason);
    let containers = list(&pod["status"]["containerStatuses"]).filter(|container| container["ready"] != true);
    let states = containers.flat_map(|container| {
        let state = &container["state"];
        [&state["waiting"], &state["terminated"], &container["lastState"]["terminated"]]
    });
    let states = states.filter(|state| state.is_object()).map(reason);
    unscheduled.chain(states).map(|reason| format!("pod {}: {reason}", name(pod))).collect()
}

fn event(event: &Value) -> String {
    let object = &event["involvedObject"];
    format!("event of {} {}: {}", text(&object["kind"]), text(&object["name"]), reason(event))
}

/// Returns the reason and the message of a condition, a state or an event.
fn reason(value: &Value) -> String {
    let (reason, message) = (text(&value["reason"]), text(&value["message"]));
    let exit_code = value["exitCode"].as_i64().map_or_else(String::new, |code| format!(" with exit code {code}"));
    if message.is_empty() { format!("{reason}{exit_code}") } else { format!("{reason}{exit_code}: {message}") }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_that_waits_for_its_image_is_a_reason() {
        let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "not found"}});
        let pod = json!({
            "metadata": {"name": "a"},
            "status": {"containerStatuses": [{"ready": false, "state": waiting}, {"ready": true, "state": {}}]},
        });
        assert_eq!(of_pod(&pod), ["pod a: ImagePullBackOff: not found"]);
    }

    #[test]
    fn a_container_that_crashes_and_a_pod_that_is_not_scheduled_are_reasons() {
        let crashed = json!({"ready": false, "lastState": {"terminated": {"reason": "Error", "exitCode": 2}}});
        let unscheduled =
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/0"});
        let pod = json!({
            "metadata": {"name": "a"},
            "status": {"conditions": [unscheduled], "containerStatuses": [crashed]},
        });
        assert_eq!(of_pod(&pod), ["pod a: Unschedulable: 0/0", "pod a: Error with exit code 2"]);
    }

    #[test]
    fn conditions_that_are_not_met_are_reasons() {
        let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "reason": kind});
        let conditions = [condition("Available", "False"), condition("ReplicaFailure", "True")];
        let met = [condition("Progressing", "True"), condition("ReplicaFailure", "False")];
        let deployment = |conditions: &[Value]| json!({"status": {"conditions": conditions}});
        let expected = ["condition Available: Available", "condition ReplicaFailure: ReplicaFailure"];
        assert_eq!(super::conditions(&deployment(&conditions)), expected);
        assert!(super::conditions(&deployment(&met)).is_empty());
    }
}
