//! Amounts of resources: those of lists such as `resources.requests`, and the sums over the containers of a pod.

use std::collections::BTreeMap;

use kubewright_crd::quantity::Quantity;
use serde_json::{Map, Value};

/// Amounts by the name of the resource.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// Returns the amounts of a list. Values that are not quantities are omitted.
pub(crate) fn parse(list: &Value) -> Amounts {
    let entries = list.as_object().into_iter().flatten();
    entries.filter_map(|(name, amount)| Some((name.clone(), Quantity::from_json(amount)?))).collect()
}

/// Returns the JSON of amounts.
pub(crate) fn to_json(amounts: &Amounts) -> Value {
    let entries = amounts.iter().map(|(name, amount)| (name.clone(), Value::from(amount.to_string())));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// Adds amounts to others.
pub(crate) fn add(total: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        total.entry(name.clone()).and_modify(|sum| *sum = sum.plus(*amount)).or_insert(*amount);
    }
}

/// Subtracts amounts from others. A missing amount is zero.
pub(crate) fn subtract(total: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let zero = Quantity::from_integer(0);
        total.entry(name.clone()).and_modify(|rest| *rest = rest.minus(*amount)).or_insert(zero.minus(*amount));
    }
}

/// Sets each amount to the larger one.
fn raise(total: &mut Amounts, other: Amounts) {
    for (name, amount) in other {
        total.entry(name).and_modify(|max| *max = if amount > *max { amount } else { *max }).or_insert(amount);
    }
}

/// Returns the `requests` or the `limits` of a pod spec: the sum over its containers, or the largest sum while it is
/// initialised. Amounts of the complete pod replace them.
pub(crate) fn of_pod(spec: &Value, list: &str) -> Amounts {
    let mut total = Amounts::new();
    for container in containers(spec, "containers") {
        add(&mut total, &parse(&container["resources"][list]));
    }
    let (mut sidecars, mut initial) = (Amounts::new(), Amounts::new());
    for container in containers(spec, "initContainers") {
        let mut container_amounts = parse(&container["resources"][list]);
        if container["restartPolicy"] == "Always" {
            add(&mut total, &container_amounts);
            add(&mut sidecars, &container_amounts);
            container_amounts.clone_from(&sidecars);
        } else {
            add(&mut container_amounts, &sidecars);
        }
        raise(&mut initial, container_amounts);
    }
    raise(&mut total, initial);
    total.extend(parse(&spec["resources"][list]).into_iter().filter(|(name, _)| is_pod_level(name)));
    total
}

/// Returns the `requests` or the `limits` of a pod spec with its overhead. The overhead limits only what is limited.
pub(crate) fn of_pod_with_overhead(spec: &Value, list: &str) -> Amounts {
    let mut total = of_pod(spec, list);
    let mut overhead = parse(&spec["overhead"]);
    if list == "limits" {
        overhead.retain(|name, _| total.contains_key(name));
    }
    add(&mut total, &overhead);
    total
}

/// Returns the containers of a list of a pod spec.
pub(crate) fn containers<'a>(spec: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    spec[list].as_array().into_iter().flatten()
}

/// Returns whether a resource can be requested for a complete pod.
fn is_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn container(cpu: &str) -> Value {
        json!({ "resources": { "requests": { "cpu": cpu } } })
    }

    #[test]
    fn a_pod_requests_the_larger_of_its_containers_and_their_initialisation() {
        let mut sidecar = container("100m");
        sidecar["restartPolicy"] = json!("Always");
        let cases = [
            (json!({ "containers": [container("1"), container("500m")] }), "1500m"),
            (json!({ "containers": [container("1")], "initContainers": [container("2")] }), "2"),
            (json!({ "containers": [container("1")], "initContainers": [sidecar, container("2")] }), "2100m"),
            (json!({ "containers": [container("1")], "initContainers": [container("1"), sidecar] }), "1100m"),
            (json!({ "containers": [container("1")], "resources": { "requests": { "cpu": "3" } } }), "3"),
        ];
        for (spec, expected) in cases {
            assert_eq!(to_json(&of_pod(&spec, "requests")), json!({ "cpu": expected }), "{spec}");
        }
    }

    #[test]
    fn overhead_is_added_to_requests_and_to_existing_limits() {
        let spec = json!({ "containers": [container("1")], "overhead": { "cpu": "250m", "memory": "1Mi" } });
        let requests = of_pod_with_overhead(&spec, "requests");
        assert_eq!(to_json(&requests), json!({ "cpu": "1250m", "memory": "1Mi" }));
        assert!(of_pod_with_overhead(&spec, "limits").is_empty());
    }
}
