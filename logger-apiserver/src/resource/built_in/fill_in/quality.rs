//! The quality of service of a pod: by what its containers ask for and what they are limited to.

use logger_crd::quantity::Quantity;
use serde_json::Value;

const RESOURCES: [&str; 2] = ["cpu", "memory"];

/// `Guaranteed`, if every container has limits and asks for no less; `BestEffort`, if none has or asks for anything.
pub(super) fn of(spec: &Value) -> &'static str {
    let containers = ["containers", "initContainers"].map(|list| spec[list].as_array());
    let containers: Vec<&Value> = containers.into_iter().flatten().flatten().collect();
    let amount = |container: &Value, list: &str, resource: &str| {
        Quantity::from_json(&container["resources"][list][resource]).filter(|amount| amount.nanos() != 0)
    };
    let asks =
        |container: &&Value, list: &str| RESOURCES.iter().any(|resource| amount(container, list, resource).is_some());
    if !containers.iter().any(|container| asks(container, "requests") || asks(container, "limits")) {
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
