//! The QoS class of a pod, from the requests and limits of its containers.

use kubewright_crd::quantity::Quantity;
use serde_json::Value;

const RESOURCES: [&str; 2] = ["cpu", "memory"];

/// Returns `Guaranteed` if every container has limits and equal requests, `BestEffort` if no container has requests or
/// limits, and `Burstable` otherwise.
pub(super) fn class(spec: &Value) -> &'static str {
    let containers = ["containers", "initContainers"].map(|list| spec[list].as_array());
    let containers: Vec<&Value> = containers.into_iter().flatten().flatten().collect();
    let amount = |container: &Value, list: &str, resource: &str| {
        Quantity::from_json(&container["resources"][list][resource]).filter(|amount| amount.nanos() != 0)
    };
    let sets =
        |container: &&Value, list: &str| RESOURCES.iter().any(|resource| amount(container, list, resource).is_some());
    if !containers.iter().any(|container| sets(container, "requests") || sets(container, "limits")) {
        return "BestEffort";
    }
    let is_guaranteed = |container: &&Value| {
        RESOURCES.iter().all(|resource| {
            let limit = amount(container, "limits", resource);
            limit.is_some() && limit == amount(container, "requests", resource)
        })
    };
    if containers.iter().all(is_guaranteed) { "Guaranteed" } else { "Burstable" }
}
