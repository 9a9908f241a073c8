//! Taints and tolerations.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod, Taint, Toleration};

use super::clock::seconds;

pub(crate) const NO_SCHEDULE: &str = "NoSchedule";
pub(crate) const NO_EXECUTE: &str = "NoExecute";
pub(crate) const NOT_READY: &str = "node.kubernetes.io/not-ready";
pub(crate) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
pub(crate) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// How long a pod tolerates a lost node by default, as the admission plugin `DefaultTolerationSeconds` declares.
const DEFAULT_TOLERATION: Duration = Duration::from_secs(300);

pub(crate) fn of_node(node: &Node) -> &[Taint] {
    node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default()
}

fn of_pod(pod: &Pod) -> &[Toleration] {
    pod.spec.as_ref().and_then(|spec| spec.tolerations.as_deref()).unwrap_or_default()
}

/// Returns whether a toleration tolerates a taint, for any duration.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (key, effect) = (text(&toleration.key), text(&toleration.effect));
    let has_value = match toleration.operator.as_deref().unwrap_or_default() {
        "Exists" => true,
        "" | "Equal" => text(&toleration.value) == text(&taint.value),
        _ => false,
    };
    (effect.is_empty() || effect == taint.effect) && (key.is_empty() || key == taint.key) && has_value
}

/// Returns the first taint that keeps a pod off a node.
pub(crate) fn untolerated<'a>(pod: &Pod, node: &'a Node) -> Option<&'a Taint> {
    let blocking = of_node(node).iter().filter(|taint| taint.effect == NO_SCHEDULE || taint.effect == NO_EXECUTE);
    blocking.into_iter().find(|taint| !of_pod(pod).iter().any(|toleration| tolerates(toleration, taint)))
}

/// Returns whether a pod can be placed on a node that is cordoned.
pub(crate) fn tolerates_unschedulable(pod: &Pod) -> bool {
    let taint = Taint { key: UNSCHEDULABLE.to_owned(), effect: NO_SCHEDULE.to_owned(), ..Taint::default() };
    of_pod(pod).iter().any(|toleration| tolerates(toleration, &taint))
}

/// Returns the number of taints that a pod prefers to avoid.
pub(crate) fn avoided(pod: &Pod, node: &Node) -> usize {
    let avoided = of_node(node).iter().filter(|taint| taint.effect == "PreferNoSchedule");
    avoided.filter(|taint| !of_pod(pod).iter().any(|toleration| tolerates(toleration, taint))).count()
}

/// How long a pod can remain on a node with taints of the effect `NoExecute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tolerance {
    Forever,
    For(Duration),
}

/// Returns how long a pod tolerates the taints of its node: the shortest of the matching durations, and not at all if a
/// taint is not tolerated. A pod without a toleration for a lost node has the default one: an API server without
/// admission plugins does not add it.
pub(crate) fn tolerance(pod: &Pod, node: &Node) -> Tolerance {
    let mut shortest = Tolerance::Forever;
    for taint in of_node(node).iter().filter(|taint| taint.effect == NO_EXECUTE) {
        let mut matching = of_pod(pod).iter().filter(|toleration| tolerates(toleration, taint)).peekable();
        let tolerance = if matching.peek().is_some() {
            let limits = matching.filter_map(|toleration| toleration.toleration_seconds);
            limits.min().map_or(Tolerance::Forever, |limit| Tolerance::For(seconds(limit)))
        } else if taint.key == NOT_READY || taint.key == UNREACHABLE {
            Tolerance::For(DEFAULT_TOLERATION)
        } else {
            Tolerance::For(Duration::ZERO)
        };
        shortest = match (shortest, tolerance) {
            (Tolerance::For(first), Tolerance::For(second)) => Tolerance::For(first.min(second)),
            (Tolerance::Forever, other) | (other, Tolerance::Forever) => other,
        };
    }
    shortest
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(taints: Value) -> Node {
        serde_json::from_value(json!({"metadata": {"name": "a"}, "spec": {"taints": taints}})).unwrap()
    }

    fn pod(tolerations: Value) -> Pod {
        serde_json::from_value(json!({"spec": {"containers": [], "tolerations": tolerations}})).unwrap()
    }

    #[test]
    fn a_taint_keeps_pods_off_unless_they_tolerate_it() {
        let node = node(json!([{"key": "team", "value": "a", "effect": "NoSchedule"}]));
        assert_eq!(untolerated(&pod(json!([])), &node).map(|taint| taint.key.as_str()), Some("team"));
        for tolerations in [
            json!([{"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}]),
            json!([{"key": "team", "operator": "Exists"}]),
            json!([{"operator": "Exists"}]),
        ] {
            assert!(untolerated(&pod(tolerations.clone()), &node).is_none(), "{tolerations}");
        }
        let other = json!([{"key": "team", "value": "b"}]);
        assert!(untolerated(&pod(other), &node).is_some());
    }

    #[test]
    fn the_shortest_toleration_of_a_lost_node_decides() {
        let lost = node(json!([{"key": UNREACHABLE, "effect": "NoExecute"}]));
        let limited = |limit: i64| json!([{"key": UNREACHABLE, "operator": "Exists", "tolerationSeconds": limit}]);
        assert_eq!(tolerance(&pod(limited(30)), &lost), Tolerance::For(Duration::from_secs(30)));
        assert_eq!(tolerance(&pod(json!([])), &lost), Tolerance::For(Duration::from_secs(300)));
        assert_eq!(tolerance(&pod(json!([{"operator": "Exists"}])), &lost), Tolerance::Forever);
        let other = node(json!([{"key": "maintenance", "effect": "NoExecute"}]));
        assert_eq!(tolerance(&pod(json!([])), &other), Tolerance::For(Duration::ZERO));
        assert_eq!(tolerance(&pod(json!([])), &node(json!([]))), Tolerance::Forever);
    }
}
