//! The observed objects of a scenario, and what conditions ask about them.

use std::collections::BTreeMap;

use serde_json::Value;

/// The current objects, by kind and name.
#[derive(Debug, Default)]
pub struct Objects(pub(super) BTreeMap<(&'static str, String), Value>);

impl Objects {
    /// Returns the object of this kind and name.
    pub(super) fn get(&self, kind: &'static str, name: &str) -> Option<&Value> {
        self.0.get(&(kind, name.to_owned()))
    }

    /// Returns the pods of an app that are neither terminating nor finished, by name.
    pub(super) fn pods(&self, app: &str) -> Vec<&Value> {
        let pods = self.0.iter().filter(|((kind, _), _)| *kind == "Pod").map(|(_, pod)| pod);
        pods.filter(|pod| pod["metadata"]["labels"]["app"] == app && !is_terminating(pod) && !has_finished(pod))
            .collect()
    }

    /// Returns the ready pods of an app, by name.
    pub(super) fn ready_pods(&self, app: &str) -> Vec<&Value> {
        let mut pods = self.pods(app);
        pods.retain(|pod| is_ready(pod));
        pods
    }

    /// Returns the pods on a node that are not finished.
    pub(super) fn on_node(&self, node: &str) -> Vec<&Value> {
        let pods = self.0.iter().filter(|((kind, _), _)| *kind == "Pod").map(|(_, pod)| pod);
        pods.filter(|pod| self::node(pod) == node && !has_finished(pod)).collect()
    }
}

/// Returns the conditions of an object.
pub(super) fn conditions(object: &Value) -> impl Iterator<Item = &Value> {
    object["status"]["conditions"].as_array().into_iter().flatten()
}

/// Reports whether an object has a condition with this status and reason.
pub(super) fn has_condition(object: &Value, type_: &str, status: &str, reason: &str) -> bool {
    conditions(object)
        .any(|condition| condition["type"] == type_ && condition["status"] == status && condition["reason"] == reason)
}

/// Reports whether a pod or a node is ready.
pub(super) fn is_ready(object: &Value) -> bool {
    conditions(object).any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

pub(super) fn is_tainted(node: &Value) -> bool {
    node["spec"]["taints"].as_array().is_some_and(|taints| !taints.is_empty())
}

pub(super) fn is_terminating(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

fn has_finished(pod: &Value) -> bool {
    pod["status"]["phase"] == "Succeeded" || pod["status"]["phase"] == "Failed"
}

pub(super) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// Returns the name of the node of a pod.
pub(super) fn node(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

pub(super) fn image(pod: &Value) -> &str {
    pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default()
}

/// Returns the kind and the name of the controller of an object.
pub(super) fn controller(object: &Value) -> Option<(&str, &str)> {
    let owners = object["metadata"]["ownerReferences"].as_array()?;
    let owner = owners.iter().find(|owner| owner["controller"] == true)?;
    Some((owner["kind"].as_str()?, owner["name"].as_str()?))
}
