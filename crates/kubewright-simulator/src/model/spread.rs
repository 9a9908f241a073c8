//! Topology spread constraints over zones, hosts and other labels of nodes.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Node, Pod, TopologySpreadConstraint};
use kube::ResourceExt;

use super::{
    affinity::{Placed, with_label_keys},
    labels, nodes,
    pods::is_terminating,
    taints,
};

/// Why a node does not meet a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    MissingLabel,
    Skew,
}

/// Checks the constraints of a pod that must be met on a node.
pub(crate) fn check(pod: &Pod, node: &Node, all: &[&Node], placed: &[Placed<'_>]) -> Option<Violation> {
    let constraints = constraints(pod).iter().filter(|constraint| constraint.when_unsatisfiable == "DoNotSchedule");
    constraints.into_iter().find_map(|constraint| {
        let Some(domain) = node.labels().get(&constraint.topology_key) else { return Some(Violation::MissingLabel) };
        let counts = counts(pod, constraint, all, placed);
        let minimum = match counts.len() < usize::try_from(constraint.min_domains.unwrap_or(1)).unwrap_or(1) {
            true => 0,
            false => counts.values().copied().min().unwrap_or_default(),
        };
        // A pod that its own constraint does not select changes no count.
        let added = i32::from(selects(pod, constraint, pod));
        let skew = counts.get(domain).copied().unwrap_or_default() + added - minimum;
        (skew > constraint.max_skew).then_some(Violation::Skew)
    })
}

/// Returns how many pods share the domains of a node for the constraints that should be met; the smaller, the better.
/// `None` for a node without the label of a constraint.
pub(crate) fn crowding(pod: &Pod, node: &Node, all: &[&Node], placed: &[Placed<'_>]) -> Option<i64> {
    let constraints = constraints(pod).iter().filter(|constraint| constraint.when_unsatisfiable == "ScheduleAnyway");
    let crowding = constraints.map(|constraint| {
        let domain = node.labels().get(&constraint.topology_key)?;
        Some(i64::from(counts(pod, constraint, all, placed).get(domain).copied().unwrap_or_default()))
    });
    crowding.sum()
}

fn constraints(pod: &Pod) -> &[TopologySpreadConstraint] {
    pod.spec.as_ref().and_then(|spec| spec.topology_spread_constraints.as_deref()).unwrap_or_default()
}

/// Returns the number of selected pods in each domain that the pod could use.
fn counts(
    pod: &Pod,
    constraint: &TopologySpreadConstraint,
    all: &[&Node],
    placed: &[Placed<'_>],
) -> BTreeMap<String, i32> {
    let counted: Vec<&&Node> = all.iter().filter(|node| is_counted(pod, constraint, node)).collect();
    let names: BTreeSet<String> = counted.iter().map(|node| node.name_any()).collect();
    let domains = counted.iter().filter_map(|node| node.labels().get(&constraint.topology_key));
    let mut counts: BTreeMap<String, i32> = domains.map(|domain| (domain.clone(), 0)).collect();
    for other in placed.iter().filter(|other| names.contains(&other.node.name_any())) {
        let domain = other.node.labels().get(&constraint.topology_key);
        if let Some(count) = domain.and_then(|domain| counts.get_mut(domain))
            && selects(pod, constraint, other.pod)
            && !is_terminating(other.pod)
        {
            *count += 1;
        }
    }
    counts
}

/// Returns whether the pods of a node are counted: the policies of a constraint can exclude nodes that the pod cannot
/// use. A node must have the labels of all constraints.
fn is_counted(pod: &Pod, constraint: &TopologySpreadConstraint, node: &Node) -> bool {
    let honours_affinity = constraint.node_affinity_policy.as_deref() != Some("Ignore");
    let honours_taints = constraint.node_taints_policy.as_deref() == Some("Honor");
    let same_kind = constraints(pod).iter().filter(|other| other.when_unsatisfiable == constraint.when_unsatisfiable);
    same_kind.into_iter().all(|other| node.labels().contains_key(&other.topology_key))
        && (!honours_affinity || nodes::meets_affinity(pod, node))
        && (!honours_taints || taints::untolerated(pod, node).is_none())
}

/// Returns whether a constraint of a pod selects another pod: by its selector, and by the values of `matchLabelKeys`.
fn selects(pod: &Pod, constraint: &TopologySpreadConstraint, other: &Pod) -> bool {
    let Some(selector) = &constraint.label_selector else { return false };
    let selector = with_label_keys(selector, constraint.match_label_keys.as_deref(), "In", pod.labels());
    pod.namespace() == other.namespace() && labels::matches(&selector, other.labels())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str, zone: &str) -> Node {
        let labels = json!({"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone});
        serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).unwrap()
    }

    fn pod(hash: &str, unsatisfiable: &str) -> Pod {
        let constraint = json!({
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": unsatisfiable,
            "labelSelector": {"matchLabels": {"app": "web"}}, "matchLabelKeys": ["pod-template-hash"],
        });
        let labels = json!({"app": "web", "pod-template-hash": hash});
        let spec = json!({"containers": [], "topologySpreadConstraints": [constraint]});
        serde_json::from_value(json!({"metadata": {"namespace": "default", "labels": labels}, "spec": spec})).unwrap()
    }

    #[test]
    fn the_skew_between_zones_is_limited() {
        let (a, b) = (node("a", "x"), node("b", "y"));
        let (all, web) = ([&a, &b], pod("1", "DoNotSchedule"));
        let placed = [Placed { pod: &web, node: &a }];
        assert_eq!(check(&web, &a, &all, &placed), Some(Violation::Skew));
        assert_eq!(check(&web, &b, &all, &placed), None);
        let unlabelled = serde_json::from_value(json!({"metadata": {"name": "c"}})).unwrap();
        assert_eq!(check(&web, &unlabelled, &all, &placed), Some(Violation::MissingLabel));
    }

    #[test]
    fn pods_with_other_values_of_the_label_keys_are_not_counted() {
        let (a, b) = (node("a", "x"), node("b", "y"));
        let (old, new) = (pod("1", "DoNotSchedule"), pod("2", "DoNotSchedule"));
        let placed = [Placed { pod: &old, node: &a }];
        assert_eq!(check(&new, &a, &[&a, &b], &placed), None);
    }

    #[test]
    fn a_constraint_that_should_be_met_only_prefers_nodes() {
        let (a, b) = (node("a", "x"), node("b", "y"));
        let (all, web) = ([&a, &b], pod("1", "ScheduleAnyway"));
        let placed = [Placed { pod: &web, node: &a }];
        assert_eq!(check(&web, &a, &all, &placed), None);
        assert!(crowding(&web, &b, &all, &placed).unwrap() < crowding(&web, &a, &all, &placed).unwrap());
        let unlabelled = serde_json::from_value(json!({"metadata": {"name": "c"}})).unwrap();
        assert_eq!(crowding(&web, &unlabelled, &all, &placed), None);
    }
}
