//! Affinity and anti-affinity between pods.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{Affinity, Node, Pod, PodAffinityTerm},
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};
use kube::ResourceExt;

use super::labels;

/// A pod on its node.
pub(crate) struct Placed<'a> {
    pub(crate) pod: &'a Pod,
    pub(crate) node: &'a Node,
}

/// Why a node does not meet the required terms between pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    Affinity,
    AntiAffinity,
    AntiAffinityOfOthers,
}

/// Checks the required terms between a pod and the pods of a cluster.
pub(crate) fn check(pod: &Pod, node: &Node, placed: &[Placed<'_>]) -> Option<Violation> {
    let is_beside = |term: &PodAffinityTerm, owner: &Pod, other: &Placed<'_>| {
        selects(term, owner, other.pod) && same_domain(term, node, other.node)
    };
    let affinity = required_affinity(pod).iter().all(|term| {
        let is_first = selects(term, pod, pod) && !placed.iter().any(|other| selects(term, pod, other.pod));
        is_first && has_domain(term, node) || placed.iter().any(|other| is_beside(term, pod, other))
    });
    if !affinity {
        return Some(Violation::Affinity);
    }
    if required_anti_affinity(pod).iter().any(|term| placed.iter().any(|other| is_beside(term, pod, other))) {
        return Some(Violation::AntiAffinity);
    }
    let rejects = |other: &Placed<'_>| {
        required_anti_affinity(other.pod)
            .iter()
            .any(|term| selects(term, other.pod, pod) && same_domain(term, node, other.node))
    };
    placed.iter().any(rejects).then_some(Violation::AntiAffinityOfOthers)
}

/// Returns the sum of the weights of the preferred terms that a node meets, minus those of the preferred
/// anti-affinities that it violates.
pub(crate) fn preference(pod: &Pod, node: &Node, placed: &[Placed<'_>]) -> i64 {
    let Some(affinity) = affinity(pod) else { return 0 };
    let count = |term: &PodAffinityTerm| {
        let beside = placed.iter().filter(|other| selects(term, pod, other.pod) && same_domain(term, node, other.node));
        i64::try_from(beside.count()).unwrap_or(i64::MAX)
    };
    let attracted = affinity.pod_affinity.as_ref();
    let attracted =
        attracted.and_then(|affinity| affinity.preferred_during_scheduling_ignored_during_execution.as_ref());
    let repelled = affinity.pod_anti_affinity.as_ref();
    let repelled = repelled.and_then(|affinity| affinity.preferred_during_scheduling_ignored_during_execution.as_ref());
    let weigh = |terms: Option<&Vec<k8s_openapi::api::core::v1::WeightedPodAffinityTerm>>| -> i64 {
        terms.into_iter().flatten().map(|term| i64::from(term.weight) * count(&term.pod_affinity_term)).sum()
    };
    weigh(attracted) - weigh(repelled)
}

fn affinity(pod: &Pod) -> Option<&Affinity> {
    pod.spec.as_ref()?.affinity.as_ref()
}

fn required_affinity(pod: &Pod) -> &[PodAffinityTerm] {
    let terms = affinity(pod).and_then(|affinity| affinity.pod_affinity.as_ref());
    let terms = terms.and_then(|terms| terms.required_during_scheduling_ignored_during_execution.as_deref());
    terms.unwrap_or_default()
}

fn required_anti_affinity(pod: &Pod) -> &[PodAffinityTerm] {
    let terms = affinity(pod).and_then(|affinity| affinity.pod_anti_affinity.as_ref());
    let terms = terms.and_then(|terms| terms.required_during_scheduling_ignored_during_execution.as_deref());
    terms.unwrap_or_default()
}

/// Returns whether a term of a pod selects another pod. A term with a namespace selector selects pods of all
/// namespaces.
fn selects(term: &PodAffinityTerm, owner: &Pod, other: &Pod) -> bool {
    let namespaces = term.namespaces.as_deref().unwrap_or_default();
    let in_namespace = match (&term.namespace_selector, namespaces) {
        (Some(_), _) => true,
        (None, []) => owner.namespace() == other.namespace(),
        (None, names) => names.iter().any(|name| Some(name) == other.namespace().as_ref()),
    };
    let Some(selector) = &term.label_selector else { return false };
    let selector = with_label_keys(selector, term.match_label_keys.as_deref(), "In", owner.labels());
    let selector = with_label_keys(&selector, term.mismatch_label_keys.as_deref(), "NotIn", owner.labels());
    in_namespace && labels::matches(&selector, other.labels())
}

/// Adds the values that a pod has for some label keys to a selector.
pub(crate) fn with_label_keys(
    selector: &LabelSelector,
    keys: Option<&[String]>,
    operator: &str,
    labels: &BTreeMap<String, String>,
) -> LabelSelector {
    let mut selector = selector.clone();
    let values = keys.unwrap_or_default().iter().filter_map(|key| labels.get_key_value(key));
    let requirements = values.map(|(key, value)| LabelSelectorRequirement {
        key: key.clone(),
        operator: operator.to_owned(),
        values: Some(vec![value.clone()]),
    });
    selector.match_expressions.get_or_insert_default().extend(requirements);
    selector
}

fn has_domain(term: &PodAffinityTerm, node: &Node) -> bool {
    node.labels().contains_key(&term.topology_key)
}

fn same_domain(term: &PodAffinityTerm, node: &Node, other: &Node) -> bool {
    let domain = node.labels().get(&term.topology_key);
    domain.is_some() && domain == other.labels().get(&term.topology_key)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(name: &str, zone: &str) -> Node {
        let labels = json!({"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone});
        serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).unwrap()
    }

    fn pod(app: &str, affinity: Value) -> Pod {
        let metadata = json!({"name": app, "namespace": "default", "labels": {"app": app}});
        serde_json::from_value(json!({"metadata": metadata, "spec": {"containers": [], "affinity": affinity}})).unwrap()
    }

    fn required(kind: &str, app: &str, key: &str) -> Value {
        let term = json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key});
        json!({kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    }

    #[test]
    fn anti_affinity_is_symmetric() {
        let (a, b) = (node("a", "x"), node("b", "x"));
        let (lonely, web) =
            (pod("lonely", required("podAntiAffinity", "web", "kubernetes.io/hostname")), pod("web", json!({})));
        let placed = [Placed { pod: &web, node: &a }];
        assert_eq!(check(&lonely, &a, &placed), Some(Violation::AntiAffinity));
        assert_eq!(check(&lonely, &b, &placed), None);
        let placed = [Placed { pod: &lonely, node: &a }];
        assert_eq!(check(&web, &a, &placed), Some(Violation::AntiAffinityOfOthers));
    }

    #[test]
    fn affinity_needs_a_pod_in_the_domain_unless_the_pod_is_the_first() {
        let (a, b) = (node("a", "x"), node("b", "y"));
        let pair = pod("pair", required("podAffinity", "pair", "topology.kubernetes.io/zone"));
        assert_eq!(check(&pair, &a, &[]), None, "the first one");
        let placed = [Placed { pod: &pair, node: &a }];
        assert_eq!(check(&pair, &a, &placed), None);
        assert_eq!(check(&pair, &b, &placed), Some(Violation::Affinity));
    }
}
