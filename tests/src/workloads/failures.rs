//! Failures: drains, budgets, and the loss of nodes and zones.

use std::time::Duration;

use k8s_openapi::api::{apps::v1::Deployment, policy::v1::PodDisruptionBudget};
use serde_json::{Value, json};

use super::{Cluster, cluster::ZONE, objects};

const HOST: &str = "kubernetes.io/hostname";
/// How long the pods are observed after an eviction that the budget rejects.
const OBSERVATION: Duration = Duration::from_secs(2);

fn budget(limit: &str, pods: usize) -> Value {
    json!({"metadata": {"name": "web"}, "spec": {limit: pods, "selector": {"matchLabels": {"app": "web"}}}})
}

/// Waits until a budget counts all pods, and allows this number of disruptions.
async fn wait_for_budget(cluster: &mut Cluster, healthy: usize, allowed: usize) {
    cluster
        .wait_for(&format!("the budget allows {allowed} disruptions"), |objects| {
            let budget = objects.get("PodDisruptionBudget", "web");
            budget.is_some_and(|budget| {
                let (status, generation) = (&budget["status"], &budget["metadata"]["generation"]);
                status["currentHealthy"] == healthy
                    && status["disruptionsAllowed"] == allowed
                    && status["observedGeneration"] == *generation
            })
        })
        .await;
}

/// Waits until a pod runs on one of these nodes in zone `a`: otherwise their failure has no effect.
async fn wait_for_pod_on(cluster: &mut Cluster, numbers: &[usize]) {
    let nodes: Vec<_> = numbers.iter().map(|number| cluster.node("a", *number)).collect();
    let what = format!("a pod runs on {}", nodes.join(" or "));
    cluster.wait_for(&what, |objects| nodes.iter().any(|node| !objects.on_node(node).is_empty())).await;
}

pub(super) async fn drain(cluster: &mut Cluster) {
    cluster.create::<PodDisruptionBudget>(budget("maxUnavailable", 1)).await;
    // The budget selects no pod yet.
    wait_for_budget(cluster, 0, 0).await;
    cluster.create::<Deployment>(cluster.spread_deployment("web", 3, HOST)).await;
    cluster.wait_for_pods("web", 3).await;
    wait_for_budget(cluster, 3, 1).await;
    let node = cluster.node("a", 1);
    wait_for_pod_on(cluster, &[1]).await;
    cluster.drain(&node).await;
    cluster.wait_for_pods("web", 3).await;
    cluster.wait_for("the pods are on other nodes", |objects| objects.on_node(&node).is_empty()).await;
}

pub(super) async fn budget_blocks_drain(cluster: &mut Cluster) {
    cluster.create::<Deployment>(cluster.spread_deployment("web", 3, HOST)).await;
    cluster.wait_for_pods("web", 3).await;
    cluster.create::<PodDisruptionBudget>(budget("minAvailable", 3)).await;
    wait_for_budget(cluster, 3, 0).await;
    let node = cluster.node("a", 1);
    cluster.cordon(&node).await;
    let pods = cluster.ready_pods("web");
    let rejection = cluster.evict(&node).await.expect("the budget rejects the eviction");
    assert!(rejection.contains("needs 3 healthy pods and has 3 currently"), "{rejection}");
    cluster.observe_for(OBSERVATION).await;
    assert_eq!(cluster.ready_pods("web"), pods, "the pods remain");
    cluster.patch::<PodDisruptionBudget>("web", json!({"spec": {"minAvailable": 2}})).await;
    wait_for_budget(cluster, 3, 1).await;
    cluster.drain(&node).await;
    cluster.wait_for_pods("web", 3).await;
}

pub(super) async fn node_loss(cluster: &mut Cluster) {
    cluster.create::<Deployment>(cluster.spread_deployment("web", 3, HOST)).await;
    cluster.wait_for_pods("web", 3).await;
    wait_for_pod_on(cluster, &[1]).await;
    cluster.cut_off("a", 1).await;
    wait_for_replacements(cluster, 3, |node| node.ends_with("-a-1")).await;
}

pub(super) async fn zone_loss(cluster: &mut Cluster) {
    cluster.create::<Deployment>(cluster.spread_deployment("web", 4, ZONE)).await;
    cluster.wait_for_pods("web", 4).await;
    wait_for_pod_on(cluster, &[1, 2]).await;
    for number in [1, 2] {
        cluster.cut_off("a", number).await;
    }
    wait_for_replacements(cluster, 4, |node| !node.ends_with("-b-1")).await;
}

/// Waits until this number of pods is ready, and all pods on lost nodes are terminating. At least one pod is always
/// ready.
async fn wait_for_replacements(cluster: &mut Cluster, number: usize, is_lost: impl Fn(&str) -> bool) {
    cluster
        .wait_for("the pods of lost nodes are replaced", |objects| {
            let (pods, ready) = (objects.pods("web"), objects.ready_pods("web"));
            assert!(!ready.is_empty(), "one pod is always ready");
            let remaining = pods.iter().filter(|pod| is_lost(objects::node(pod))).count();
            remaining == 0 && pods.len() == number && ready.len() == number
        })
        .await;
}
