//! The state of nodes, how long they can be silent, and the requirements of pods on their labels.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::api::core::v1::{Node, NodeCondition, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod};
use kube::ResourceExt;

pub(crate) const HOSTNAME_LABEL: &str = "kubernetes.io/hostname";
pub(crate) const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
/// The namespace of the leases of nodes.
pub(crate) const LEASES: &str = "kube-node-lease";

/// How long a node can be silent, and the intervals that follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GracePeriod(Duration);

impl GracePeriod {
    /// The intervals must not be zero.
    const MIN: Duration = Duration::from_secs(1);
    const MAX: Duration = Duration::from_secs(86_400);

    pub(crate) fn new(period: Duration) -> Self {
        GracePeriod(period.clamp(Self::MIN, Self::MAX))
    }

    pub(crate) fn duration(self) -> Duration {
        self.0
    }

    /// Returns the interval between two heartbeats: four can be lost.
    pub(crate) fn heartbeat_interval(self) -> Duration {
        self.0 / 5
    }

    /// Returns the duration of the lease of a node, which is renewed after a quarter of it.
    pub(crate) fn lease_duration(self) -> Duration {
        self.heartbeat_interval() * 4
    }

    /// Returns the interval between two checks of all nodes.
    pub(crate) fn monitor_interval(self) -> Duration {
        self.0 / 10
    }
}

impl Default for GracePeriod {
    /// As in Kubernetes, with heartbeats every 10 s, leases of 40 s, and checks every 5 s.
    fn default() -> Self {
        GracePeriod(Duration::from_secs(50))
    }
}

pub(crate) fn condition<'a>(node: &'a Node, type_: &str) -> Option<&'a NodeCondition> {
    node.status.as_ref()?.conditions.as_ref()?.iter().find(|condition| condition.type_ == type_)
}

pub(crate) fn is_ready(node: &Node) -> bool {
    condition(node, "Ready").is_some_and(|ready| ready.status == "True")
}

/// Returns the port of the kubelet of a node, if it serves one.
pub(crate) fn kubelet_port(node: &Node) -> Option<u16> {
    let endpoints = node.status.as_ref()?.daemon_endpoints.as_ref()?;
    let port = u16::try_from(endpoints.kubelet_endpoint.as_ref()?.port).ok();
    port.filter(|port| *port != 0)
}

pub(crate) fn is_cordoned(node: &Node) -> bool {
    node.spec.as_ref().and_then(|spec| spec.unschedulable).unwrap_or_default()
}

/// Returns the zone; empty if the node has none.
pub(crate) fn zone(node: &Node) -> &str {
    node.labels().get(ZONE_LABEL).map_or("", String::as_str)
}

/// Returns whether a node has the labels and fields that a pod requires: its node selector and its required node
/// affinity.
pub(crate) fn meets_affinity(pod: &Pod, node: &Node) -> bool {
    let Some(spec) = &pod.spec else { return true };
    let selected = spec.node_selector.iter().flatten().all(|(key, value)| node.labels().get(key) == Some(value));
    let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let required = affinity.and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref());
    selected && required.is_none_or(|required| matches(required, node))
}

/// Returns the sum of the weights of the preferred node affinities that a node meets.
pub(crate) fn preference(pod: &Pod, node: &Node) -> i64 {
    let affinity = pod.spec.as_ref().and_then(|spec| spec.affinity.as_ref()?.node_affinity.as_ref());
    let preferred =
        affinity.and_then(|affinity| affinity.preferred_during_scheduling_ignored_during_execution.as_ref());
    let met = preferred.into_iter().flatten().filter(|term| matches_term(&term.preference, node));
    met.map(|term| i64::from(term.weight)).sum()
}

/// Returns whether a node meets one of the terms.
fn matches(selector: &NodeSelector, node: &Node) -> bool {
    selector.node_selector_terms.iter().any(|term| matches_term(term, node))
}

/// Returns whether a node meets all requirements of a term. A term without requirements matches nothing.
fn matches_term(term: &NodeSelectorTerm, node: &Node) -> bool {
    let fields = BTreeMap::from([("metadata.name".to_owned(), node.name_any())]);
    let mut expressions = term.match_expressions.iter().flatten().map(|requirement| meets(requirement, node.labels()));
    let mut on_fields = term.match_fields.iter().flatten().map(|requirement| meets(requirement, &fields));
    let is_empty = term.match_expressions.iter().flatten().chain(term.match_fields.iter().flatten()).next().is_none();
    !is_empty && expressions.all(|met| met) && on_fields.all(|met| met)
}

fn meets(requirement: &NodeSelectorRequirement, labels: &BTreeMap<String, String>) -> bool {
    let value = labels.get(&requirement.key);
    let values = requirement.values.as_deref().unwrap_or_default();
    let number = |text: &String| text.parse::<i64>().ok();
    let compared = || value.and_then(number).zip(values.first().and_then(number));
    match requirement.operator.as_str() {
        "In" => value.is_some_and(|value| values.contains(value)),
        "NotIn" => value.is_none_or(|value| !values.contains(value)),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compared().is_some_and(|(value, limit)| value > limit),
        "Lt" => compared().is_some_and(|(value, limit)| value < limit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn intervals_follow_from_the_grace_period_as_in_kubernetes() {
        let intervals = |period: GracePeriod| {
            [period.heartbeat_interval(), period.lease_duration(), period.monitor_interval()]
                .map(|interval| interval.as_millis())
        };
        assert_eq!(intervals(GracePeriod::default()), [10_000, 40_000, 5_000]);
        assert_eq!(intervals(GracePeriod::new(Duration::ZERO)), [200, 800, 100]);
        assert_eq!(GracePeriod::new(Duration::MAX).duration(), GracePeriod::MAX);
    }

    fn node() -> Node {
        let labels = json!({"disk": "ssd", "cores": "8"});
        serde_json::from_value(json!({"metadata": {"name": "a", "labels": labels}})).unwrap()
    }

    fn pod(spec: Value) -> Pod {
        let mut pod = json!({"spec": spec});
        pod["spec"]["containers"] = json!([]);
        serde_json::from_value(pod).unwrap()
    }

    fn requiring(term: Value) -> Pod {
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}});
        pod(json!({"affinity": {"nodeAffinity": required}}))
    }

    #[test]
    fn node_selectors_and_required_affinities_are_met_together() {
        assert!(meets_affinity(&pod(json!({"nodeSelector": {"disk": "ssd"}})), &node()));
        assert!(!meets_affinity(&pod(json!({"nodeSelector": {"disk": "hdd"}})), &node()));
        for (key, operator, values, expected) in [
            ("disk", "In", json!(["ssd", "hdd"]), true),
            ("disk", "NotIn", json!(["ssd"]), false),
            ("gpu", "NotIn", json!(["x"]), true),
            ("gpu", "Exists", json!([]), false),
            ("gpu", "DoesNotExist", json!([]), true),
            ("cores", "Gt", json!(["4"]), true),
            ("cores", "Lt", json!(["4"]), false),
        ] {
            let term = json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
            assert_eq!(meets_affinity(&requiring(term), &node()), expected, "{key} {operator}");
        }
        let named = |name: &str| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]});
        assert!(meets_affinity(&requiring(named("a")), &node()) && !meets_affinity(&requiring(named("b")), &node()));
        assert!(!meets_affinity(&requiring(json!({})), &node()), "an empty term matches nothing");
    }
}
