//! Requested and allocatable resources.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{Container, Node, Pod},
    apimachinery::pkg::api::resource,
};
use kubewright_crd::quantity::Quantity;

/// Amounts of resources by name, in billionths of their unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resources(BTreeMap<String, i128>);

impl Resources {
    fn from_quantities(quantities: Option<&BTreeMap<String, resource::Quantity>>) -> Self {
        let parse = |quantity: &resource::Quantity| Quantity::parse(&quantity.0).map_or(0, Quantity::nanos);
        Resources(quantities.into_iter().flatten().map(|(name, quantity)| (name.clone(), parse(quantity))).collect())
    }

    /// Returns what the containers of a pod request: their sum, or the largest request of an init container.
    pub(crate) fn requested(pod: &Pod) -> Self {
        let Some(spec) = &pod.spec else { return Self::default() };
        let mut requested = Self::default();
        spec.containers.iter().for_each(|container| requested.add(&of_container(container)));
        for init in spec.init_containers.iter().flatten() {
            for (name, amount) in of_container(init).0 {
                let total = requested.0.entry(name).or_default();
                *total = amount.max(*total);
            }
        }
        requested.add(&Self::from_quantities(spec.overhead.as_ref()));
        requested
    }

    /// Returns what pods can request on a node.
    pub(crate) fn allocatable(node: &Node) -> Self {
        Self::from_quantities(node.status.as_ref().and_then(|status| status.allocatable.as_ref()))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            *self.0.entry(name.clone()).or_default() += amount;
        }
    }

    pub(crate) fn get(&self, name: &str) -> i128 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Returns the resources of a request that do not fit, given those that are used.
    pub(crate) fn lacking(&self, used: &Self, requested: &Self) -> Vec<String> {
        let exceeds = |name: &String, amount: i128| amount > 0 && used.get(name) + amount > self.get(name);
        requested.0.iter().filter(|(name, amount)| exceeds(name, **amount)).map(|(name, _)| name.clone()).collect()
    }

    /// Returns the part of a resource that is free after a request, from 0 to 100; 0 for a resource that the node
    /// lacks.
    pub(crate) fn free_percent(&self, used: &Self, requested: &Self, name: &str) -> i128 {
        let total = self.get(name);
        let free = total - used.get(name) - requested.get(name);
        if total > 0 { (free.max(0) * 100) / total } else { 0 }
    }
}

fn of_container(container: &Container) -> Resources {
    Resources::from_quantities(container.resources.as_ref().and_then(|resources| resources.requests.as_ref()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_requests_the_sum_of_its_containers_or_its_largest_init_container() {
        let container = |name: &str, cpu: &str| json!({"name": name, "resources": {"requests": {"cpu": cpu}}});
        let spec = json!({
            "containers": [container("a", "250m"), container("b", "0.5")], "initContainers": [container("i", "2")],
        });
        let pod: Pod = serde_json::from_value(json!({"spec": spec})).unwrap();
        assert_eq!(Resources::requested(&pod).get("cpu"), 2_000_000_000);
    }

    #[test]
    fn requests_that_exceed_the_free_amount_are_lacking() {
        let node = json!({"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi"}}});
        let allocatable = Resources::allocatable(&serde_json::from_value(node).unwrap());
        let resources = |text: &str| Resources(BTreeMap::from([("cpu".to_owned(), text.parse().unwrap())]));
        let used = resources("750000000");
        assert!(allocatable.lacking(&used, &resources("250000000")).is_empty());
        assert_eq!(allocatable.lacking(&used, &resources("250000001")), ["cpu"]);
        assert_eq!(allocatable.free_percent(&used, &Resources::default(), "cpu"), 25);
    }
}
