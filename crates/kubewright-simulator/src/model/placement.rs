//! The decision of the scheduler: filters and scores of nodes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;

use super::{
    affinity::{self, Placed},
    nodes::{self, ZONE_LABEL},
    pods::{controller_of, has_finished},
    resources::Resources,
    spread, taints,
};

/// The resource that limits the number of pods of a node.
const PODS: &str = "pods";

/// The nodes and the pods on them.
pub(crate) struct Snapshot<'a> {
    nodes: Vec<&'a Node>,
    placed: Vec<Placed<'a>>,
    used: BTreeMap<&'a str, Used>,
}

#[derive(Default)]
struct Used {
    resources: Resources,
    pods: usize,
}

impl<'a> Snapshot<'a> {
    /// Creates a snapshot from all nodes, and pods with the names of their nodes. Pods on other nodes are ignored.
    pub(crate) fn new(
        nodes: impl IntoIterator<Item = &'a Node>,
        pods: impl IntoIterator<Item = (&'a Pod, String)>,
    ) -> Self {
        let nodes: Vec<&Node> = nodes.into_iter().collect();
        let by_name: BTreeMap<&str, &'a Node> = nodes.iter().copied().map(|node| (name(node), node)).collect();
        let mut used: BTreeMap<&str, Used> = by_name.keys().map(|name| (*name, Used::default())).collect();
        let mut placed = Vec::new();
        for (pod, node_name) in pods.into_iter().filter(|(pod, _)| !has_finished(pod)) {
            let Some(node) = by_name.get(node_name.as_str()).copied() else { continue };
            if let Some(used) = used.get_mut(name(node)) {
                used.resources.add(&Resources::requested(pod));
                used.pods += 1;
            }
            placed.push(Placed { pod, node });
        }
        Snapshot { nodes, placed, used }
    }

    /// Returns the best node for a pod.
    ///
    /// # Errors
    /// Fails with kube-scheduler's message if no node fits.
    pub(crate) fn choose(&self, pod: &Pod) -> Result<&'a Node, String> {
        if self.nodes.is_empty() {
            return Err("no nodes available to schedule pods".to_owned());
        }
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        let mut fitting = Vec::new();
        for node in &self.nodes {
            match self.why_unfit(pod, node) {
                causes if causes.is_empty() => fitting.push(*node),
                causes => causes.into_iter().for_each(|cause| *reasons.entry(cause).or_default() += 1),
            }
        }
        let scored = self.scores(pod, &fitting);
        // Of equal nodes, the one with the fewest pods wins, and then the first one by name.
        let best = scored.into_iter().min_by_key(|&(node, score)| (-score, self.pods_on(node), name(node)));
        best.map(|(node, _)| node).ok_or_else(|| {
            let mut texts: Vec<_> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            texts.sort();
            format!("0/{} nodes are available: {}.", self.nodes.len(), texts.join(", "))
        })
    }

    /// Returns why a node does not fit, in the order of kube-scheduler's filters: the reasons of the first one that
    /// fails.
    fn why_unfit(&self, pod: &Pod, node: &Node) -> Vec<String> {
        let single = |reason: &str| vec![reason.to_owned()];
        if nodes::is_cordoned(node) && !taints::tolerates_unschedulable(pod) {
            return single("node(s) were unschedulable");
        }
        if let Some(taint) = taints::untolerated(pod, node) {
            return single(&format!(
                "node(s) had untolerated taint {{{}: {}}}",
                taint.key,
                taint.value.as_deref().unwrap_or_default()
            ));
        }
        if !nodes::meets_affinity(pod, node) {
            return single("node(s) didn't match Pod's node affinity/selector");
        }
        let lacking = self.lacking(pod, node);
        if !lacking.is_empty() {
            return lacking;
        }
        match spread::check(pod, node, &self.nodes, &self.placed) {
            Some(spread::Violation::Skew) => return single("node(s) didn't match pod topology spread constraints"),
            Some(spread::Violation::MissingLabel) => {
                return single("node(s) didn't match pod topology spread constraints (missing required label)");
            }
            None => {}
        }
        match affinity::check(pod, node, &self.placed) {
            Some(affinity::Violation::Affinity) => single("node(s) didn't match pod affinity rules"),
            Some(affinity::Violation::AntiAffinity) => single("node(s) didn't match pod anti-affinity rules"),
            Some(affinity::Violation::AntiAffinityOfOthers) => {
                single("node(s) didn't satisfy existing pods anti-affinity rules")
            }
            None => Vec::new(),
        }
    }

    fn lacking(&self, pod: &Pod, node: &Node) -> Vec<String> {
        let (allocatable, requested) = (Resources::allocatable(node), Resources::requested(pod));
        let Some(used) = self.used.get(name(node)) else { return Vec::new() };
        let lacking = allocatable.lacking(&used.resources, &requested);
        let mut reasons: Vec<_> = lacking.iter().map(|resource| format!("Insufficient {resource}")).collect();
        let max_pods = allocatable.get(PODS) / 1_000_000_000;
        if i128::try_from(used.pods).unwrap_or(i128::MAX) + 1 > max_pods {
            reasons.insert(0, "Too many pods".to_owned());
        }
        reasons
    }

    fn pods_on(&self, node: &Node) -> usize {
        self.used.get(name(node)).map_or(0, |used| used.pods)
    }

    /// Returns the score of each node: the larger, the better. The weights are those of kube-scheduler.
    fn scores(&self, pod: &Pod, fitting: &[&'a Node]) -> Vec<(&'a Node, i64)> {
        let requested = Resources::requested(pod);
        let free = |node: &Node| {
            let (allocatable, used) = (Resources::allocatable(node), &self.used[name(node)].resources);
            let free = ["cpu", "memory"].map(|resource| allocatable.free_percent(used, &requested, resource));
            i64::try_from((free[0] + free[1]) / 2).unwrap_or_default()
        };
        let avoided = |node: &Node| i64::try_from(taints::avoided(pod, node)).unwrap_or(i64::MAX);
        let parts: [(i64, Vec<i64>); 5] = [
            (1, fitting.iter().map(|node| free(node)).collect()),
            (3, normalized(fitting.iter().map(|node| -avoided(node)).collect())),
            (2, normalized(fitting.iter().map(|node| nodes::preference(pod, node)).collect())),
            (2, normalized(fitting.iter().map(|node| affinity::preference(pod, node, &self.placed)).collect())),
            (2, normalized_present(&fitting.iter().map(|node| Some(-self.crowding(pod, node)?)).collect::<Vec<_>>())),
        ];
        let score = |index: usize| -> i64 { parts.iter().map(|(weight, scores)| weight * scores[index]).sum() };
        fitting.iter().enumerate().map(|(index, node)| (*node, score(index))).collect()
    }

    /// Returns how many similar pods are in the domains of a node. Without constraints, the pods of the same controller
    /// spread over hosts and zones. `None` if the node lacks the label of a constraint.
    fn crowding(&self, pod: &Pod, node: &Node) -> Option<i64> {
        let spec = pod.spec.as_ref();
        if spec.is_some_and(|spec| spec.topology_spread_constraints.as_ref().is_some_and(|list| !list.is_empty())) {
            return spread::crowding(pod, node, &self.nodes, &self.placed);
        }
        let Some(owner) = controller_of(pod) else { return Some(0) };
        let siblings =
            self.placed.iter().filter(|other| controller_of(other.pod).is_some_and(|by| by.uid == owner.uid));
        let (mut on_host, mut in_zone) = (0, 0);
        let zone = node.labels().get(ZONE_LABEL);
        for sibling in siblings {
            on_host += i64::from(name(sibling.node) == name(node));
            in_zone += i64::from(zone.is_some() && zone == sibling.node.labels().get(ZONE_LABEL));
        }
        Some(on_host + in_zone)
    }
}

/// Scales scores so that they are from 0 to 100. Equal scores are all 100.
fn normalized(scores: Vec<i64>) -> Vec<i64> {
    let (min, max) =
        (scores.iter().min().copied().unwrap_or_default(), scores.iter().max().copied().unwrap_or_default());
    let range = max.saturating_sub(min);
    let scale = |score: i64| if range == 0 { 100 } else { score.saturating_sub(min).saturating_mul(100) / range };
    scores.into_iter().map(scale).collect()
}

/// Scales the scores that are present; the others are 0.
fn normalized_present(scores: &[Option<i64>]) -> Vec<i64> {
    let mut scaled = normalized(scores.iter().copied().flatten().collect()).into_iter();
    scores.iter().map(|score| score.and_then(|_| scaled.next()).unwrap_or_default()).collect()
}

fn name(node: &Node) -> &str {
    node.metadata.name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(name: &str, zone: &str, more: Value) -> Node {
        let labels = json!({"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone});
        let status = json!({"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "3"}});
        let node = json!({"metadata": {"name": name, "labels": labels}, "spec": more, "status": status});
        serde_json::from_value(node).unwrap()
    }

    fn pod(cpu: &str) -> Pod {
        let container = json!({"name": "main", "resources": {"requests": {"cpu": cpu}}});
        serde_json::from_value(json!({"metadata": {"namespace": "default"}, "spec": {"containers": [container]}}))
            .unwrap()
    }

    #[test]
    fn the_emptiest_node_is_chosen() {
        let (a, b) = (node("a", "x", json!({})), node("b", "x", json!({})));
        let busy = pod("500m");
        let snapshot = Snapshot::new([&a, &b], [(&busy, "a".to_owned())]);
        assert_eq!(snapshot.choose(&pod("100m")).unwrap().name_any(), "b");
    }

    #[test]
    fn a_node_without_the_label_of_a_constraint_has_the_lowest_score_of_the_spread() {
        let (a, b, mut c) = (node("a", "x", json!({})), node("b", "y", json!({})), node("c", "z", json!({})));
        c.labels_mut().remove(ZONE_LABEL);
        let constraint = json!([{
            "maxSkew": 1, "topologyKey": ZONE_LABEL, "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }]);
        let mut web = pod("100m");
        web.labels_mut().insert("app".to_owned(), "web".to_owned());
        let spec = web.spec.as_mut().unwrap();
        spec.topology_spread_constraints = Some(serde_json::from_value(constraint).unwrap());
        let busy = pod("500m");
        let snapshot = Snapshot::new([&a, &b, &c], [(&web, "a".to_owned()), (&busy, "b".to_owned())]);
        assert_eq!(snapshot.choose(&web).unwrap().name_any(), "b");
    }

    #[test]
    fn the_message_counts_the_reasons() {
        let cordoned = node("a", "x", json!({"unschedulable": true}));
        let tainted = node("b", "x", json!({"taints": [{"key": "team", "value": "t", "effect": "NoSchedule"}]}));
        let (full, small) = (node("c", "x", json!({})), node("d", "x", json!({})));
        let busy = [pod("0"), pod("0"), pod("0")];
        let placed = busy.iter().map(|pod| (pod, "c".to_owned()));
        let snapshot = Snapshot::new([&cordoned, &tainted, &full, &small], placed);
        assert_eq!(
            snapshot.choose(&pod("2")).unwrap_err(),
            "0/4 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint {team: t}, \
             1 node(s) were unschedulable, 2 Insufficient cpu."
        );
        assert_eq!(Snapshot::new([], []).choose(&pod("0")).unwrap_err(), "no nodes available to schedule pods");
    }
}
