//! Failures: drains, budgets, and the loss of nodes and zones.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Node, Pod},
    events::v1::Event,
    policy::v1::PodDisruptionBudget,
};
use kube::ResourceExt;
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use kubewright_simulator::ClusterError;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::fixture::{Fixture, is_ready, names, node};

const MINUTE: Duration = Duration::from_secs(60);

fn nodes(pods: &[Arc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| node(pod)).collect()
}

fn ready(pods: &[Arc<Pod>]) -> Vec<Arc<Pod>> {
    pods.iter().filter(|pod| is_ready(pod)).cloned().collect()
}

fn budget(fixture_spec: serde_json::Value) -> serde_json::Value {
    let mut spec = json!({"selector": {"matchLabels": {"app": "web"}}});
    crate::fixture::merge(&mut spec, fixture_spec);
    json!({"metadata": {"name": "web"}, "spec": spec})
}

#[tokio::test(start_paused = true)]
async fn a_drain_moves_the_pods() {
    let fixture = Fixture::two_zones().await;
    fixture.deploy("web", 3, json!({})).await;
    fixture.create::<PodDisruptionBudget>(budget(json!({"maxUnavailable": 1}))).await;
    fixture.cluster.drain("a-1", 10 * MINUTE).await.unwrap();
    let pods = fixture.ready_pods("web", 3).await;
    assert!(!nodes(&pods).contains(&"a-1".to_owned()), "{:?}", nodes(&pods));
    let drained = fixture.wait_for::<Node>("the node is tainted", |nodes| {
        let taints = nodes.iter().filter_map(|node| node.spec.as_ref()?.taints.clone()).flatten();
        taints.into_iter().any(|taint| taint.key == "node.kubernetes.io/unschedulable")
    });
    assert_eq!(drained.await[0].spec.as_ref().unwrap().unschedulable, Some(true));
    fixture.cluster.uncordon("a-1").await.unwrap();
    fixture.patch::<Deployment>("web", json!({"spec": {"replicas": 9}})).await;
    assert!(nodes(&fixture.ready_pods("web", 9).await).contains(&"a-1".to_owned()));
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_blocks_a_drain() {
    let fixture = Fixture::two_zones().await;
    let pods = fixture.deploy("web", 2, json!({})).await;
    fixture.create::<PodDisruptionBudget>(budget(json!({"minAvailable": 2}))).await;
    let error = fixture.cluster.drain(&node(&pods[0]), MINUTE).await.unwrap_err();
    let ClusterError::NotDrained { pods: remaining, reason, .. } = error else { panic!("{error}") };
    assert_eq!(remaining.len(), pods.iter().filter(|pod| node(pod) == node(&pods[0])).count());
    let reason = reason.unwrap();
    assert!(reason.contains("needs 2 healthy pods and has 2 currently"), "{reason}");
    assert_eq!(names(&fixture.ready_pods("web", 2).await), names(&pods));
    fixture.patch::<PodDisruptionBudget>("web", json!({"spec": {"minAvailable": 1}})).await;
    fixture.cluster.drain(&node(&pods[0]), 10 * MINUTE).await.unwrap();
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_pods_of_a_lost_node_are_replaced_after_their_toleration() {
    let fixture = Fixture::two_zones().await;
    let before = fixture.deploy("web", 3, json!({})).await;
    let lost = node(&before[0]);
    let started = Instant::now();
    fixture.cluster.kill_node(&lost).await.unwrap();
    let replaced = fixture.wait_for::<Pod>("three ready pods on other nodes", |pods| {
        let ready = ready(pods);
        ready.len() == 3 && !nodes(&ready).contains(&lost)
    });
    replaced.await;
    let seconds = started.elapsed().as_secs();
    assert!((330..420).contains(&seconds), "50 s without a heartbeat and 300 s of toleration: {seconds} s");
    fixture.event(&lost, "NodeNotReady").await;
    fixture.event(&before[0].name_any(), "TaintManagerEviction").await;
    let terminating = fixture.list::<Pod>().await.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_some());
    assert!(terminating.count() > 0, "the kubelet does not confirm the deletion");
    fixture.cluster.restore(&lost).await.unwrap();
    fixture.ready_pods("web", 3).await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_short_toleration_is_honoured() {
    let fixture = Fixture::two_zones().await;
    let short = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
    let tolerations = [short("node.kubernetes.io/unreachable"), short("node.kubernetes.io/not-ready")];
    let more = json!({"spec": {"template": {"spec": {"tolerations": tolerations}}}});
    let before = fixture.deploy("web", 2, more).await;
    let (lost, started) = (node(&before[0]), Instant::now());
    fixture.cluster.kill_node(&lost).await.unwrap();
    fixture
        .wait_for::<Pod>("two ready pods on other nodes", |pods| {
            let ready = ready(pods);
            ready.len() == 2 && !nodes(&ready).contains(&lost)
        })
        .await;
    assert!(started.elapsed() < 2 * MINUTE, "{:?}", started.elapsed());
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_cut_off_for_a_short_time_keeps_its_pods() {
    let fixture = Fixture::two_zones().await;
    let before = fixture.deploy("web", 3, json!({})).await;
    let lost = node(&before[0]);
    fixture.cluster.cut_off(&lost).await.unwrap();
    fixture
        .wait_for::<Pod>("the pods of the node are not ready", |pods| {
            pods.iter().filter(|pod| node(pod) == lost).all(|pod| !is_ready(pod))
        })
        .await;
    fixture.cluster.restore(&lost).await.unwrap();
    let after = fixture.ready_pods("web", 3).await;
    assert_eq!(names(&after), names(&before));
    let restarts = after.iter().flat_map(|pod| pod.status.as_ref().unwrap().container_statuses.clone().unwrap());
    assert!(restarts.into_iter().all(|status| status.restart_count == 0), "the containers continued");
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_containers_of_a_killed_node_are_restarted() {
    let fixture = Fixture::two_zones().await;
    let before = fixture.deploy("web", 3, json!({})).await;
    let lost = node(&before[0]);
    fixture.cluster.kill_node(&lost).await.unwrap();
    fixture.cluster.restore(&lost).await.unwrap();
    fixture
        .wait_for::<Pod>("the pods of the node are restarted", |pods| {
            pods.iter().filter(|pod| node(pod) == lost).all(|pod| {
                let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.clone());
                is_ready(pod) && statuses.is_some_and(|statuses| statuses[0].restart_count == 1)
            })
        })
        .await;
    assert_eq!(names(&fixture.ready_pods("web", 3).await), names(&before));
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_other_zone_takes_over_a_lost_zone() {
    let fixture = Fixture::two_zones().await;
    let anyway = json!({
        "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
    });
    let more = json!({"spec": {"template": {"spec": {"topologySpreadConstraints": [anyway]}}}});
    let before = fixture.deploy("web", 4, more).await;
    assert!(nodes(&before).contains(&"b-1".to_owned()));
    fixture.cluster.kill_zone("a").await.unwrap();
    fixture
        .wait_for::<Pod>("four ready pods in zone b", |pods| {
            let ready = ready(pods);
            assert!(!ready.is_empty(), "one pod is always ready");
            ready.len() == 4 && nodes(&ready).iter().all(|node| node == "b-1")
        })
        .await;
    fixture.cluster.restore_zone("a").await.unwrap();
    fixture.ready_pods("web", 4).await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_pod_is_evicted_if_all_nodes_are_lost() {
    let fixture = Fixture::two_zones().await;
    let before = fixture.deploy("web", 3, json!({})).await;
    for zone in ["a", "b"] {
        fixture.cluster.cut_off_zone(zone).await.unwrap();
    }
    tokio::time::sleep(30 * MINUTE).await;
    assert!(fixture.list::<Pod>().await.iter().all(|pod| pod.metadata.deletion_timestamp.is_none()));
    for zone in ["a", "b"] {
        fixture.cluster.restore_zone(zone).await.unwrap();
    }
    assert_eq!(names(&fixture.ready_pods("web", 3).await), names(&before));
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn calls_with_unknown_names_fail() {
    let fixture = Fixture::two_zones().await;
    let error = fixture.cluster.kill_node("c-1").await.unwrap_err();
    assert_eq!(error.to_string(), "the cluster has no node `c-1`; add it with `add_node`");
    assert!(matches!(fixture.cluster.kill_zone("c").await, Err(ClusterError::UnknownZone { .. })));
    let cluster = fixture.cluster.clone();
    fixture.stop().await;
    assert!(matches!(cluster.kill_node("a-1").await, Err(ClusterError::NotRunning)));
    assert!(matches!(cluster.restore("b-1").await, Err(ClusterError::NotRunning)), "the node was on");
}

#[tokio::test(start_paused = true)]
async fn a_call_fails_if_another_one_switches_the_node() {
    let fixture = Fixture::two_zones().await;
    let calls = futures::future::join(fixture.cluster.kill_node("a-1"), fixture.cluster.restore("a-1"));
    let (killed, restored) = timeout(MINUTE, calls).await.unwrap();
    assert!(matches!(killed, Err(ClusterError::Superseded { node }) if node == "a-1"));
    restored.unwrap();
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_stops_while_the_server_does_not_respond() {
    let faults = Faults::new();
    let client = ApiServer::new().client_with(faults.layer());
    let fixture = Fixture::on(client, &["a-1", "a-2"], |cluster| cluster.zone("a", 2)).await;
    let writes = || Requests::to("nodes").verb(Verb::Patch);
    faults.always(writes(), Fault::hang());
    fixture.cluster.kill_node("a-1").await.unwrap();
    tokio::time::sleep(2 * MINUTE).await;
    assert_eq!(faults.waiting(writes()), 1, "the node is marked as not ready");
    timeout(MINUTE, fixture.stop()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_drain_evicts_pods_that_the_cache_does_not_contain() {
    let faults = Faults::new();
    let client = ApiServer::new().client_with(faults.layer());
    let fixture = Fixture::on(client, &["a-1"], |cluster| cluster.zone("a", 1)).await;
    let watches = || Requests::to("pods").verb(Verb::Watch);
    faults.always(watches(), Fault::hang());
    faults.cut(watches());
    let mut pod = json!({"metadata": {"name": "one"}, "spec": crate::fixture::template("one")["spec"]});
    pod["spec"]["nodeName"] = json!("a-1");
    fixture.create::<Pod>(pod).await;
    let error = fixture.cluster.drain("a-1", MINUTE).await.unwrap_err();
    assert!(matches!(error, ClusterError::NotDrained { pods, .. } if pods == ["default/one"]));
    faults.heal();
    faults.cut(watches());
    fixture.cluster.drain("a-1", 10 * MINUTE).await.unwrap();
    assert!(fixture.list::<Pod>().await.is_empty());
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_pods_of_a_missing_node_are_deleted_after_a_quarantine() {
    let fixture = Fixture::two_zones().await;
    let mut pod = json!({"metadata": {"name": "one"}, "spec": crate::fixture::template("one")["spec"]});
    pod["spec"]["nodeName"] = json!("missing");
    fixture.create::<Pod>(pod).await;
    let started = Instant::now();
    fixture.wait_for::<Pod>("the pod exists", |pods| pods.len() == 1).await;
    fixture.wait_for::<Pod>("the pod is deleted", <[Arc<Pod>]>::is_empty).await;
    assert!((40..60).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_have_different_addresses_after_a_restart() {
    let zone = |cluster: kubewright_simulator::ClusterBuilder| cluster.zone("a", 1);
    let fixture = Fixture::start(&["a-1"], zone).await;
    fixture.deploy("web", 2, json!({})).await;
    let client = fixture.client.clone();
    fixture.stop().await;
    let fixture = Fixture::on(client, &["a-1"], zone).await;
    fixture.patch::<Deployment>("web", json!({"spec": {"replicas": 5}})).await;
    let address = |pod: &Arc<Pod>| {
        let status = pod.status.as_ref()?;
        assert_eq!(status.pod_ips.as_ref().map(Vec::len), status.pod_ip.as_ref().map(|_| 1), "{status:?}");
        status.pod_ip.clone()
    };
    let has_restarted = |pod: &Arc<Pod>| {
        let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
        statuses.is_some_and(|statuses| statuses[0].restart_count == 1)
    };
    let pods = fixture.wait_for::<Pod>("all pods are ready", |pods| {
        let restarted = pods.iter().filter(|pod| has_restarted(pod)).count();
        pods.len() == 5 && restarted == 2 && pods.iter().all(|pod| is_ready(pod))
    });
    let mut addresses: Vec<_> = pods.await.iter().filter_map(address).collect();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), 5, "{addresses:?}");
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_cut_off_records_no_events() {
    let fixture = Fixture::two_zones().await;
    let crash = json!({"simulator/exit-after": "100s", "simulator/exit-code": "3"});
    let more = json!({"spec": {"template": {"metadata": {"annotations": crash}}}});
    let pods = fixture.deploy("web", 1, more).await;
    fixture.cluster.cut_off(&node(&pods[0])).await.unwrap();
    // The second restart, after 200 s, is delayed. The pod is evicted after 350 s.
    tokio::time::sleep(5 * MINUTE).await;
    let events = fixture.list::<Event>().await;
    let of_pod =
        |event: &Event| event.regarding.as_ref().and_then(|about| about.name.clone()) == Some(pods[0].name_any());
    let reasons: Vec<_> =
        events.iter().filter(|event| of_pod(event)).filter_map(|event| event.reason.clone()).collect();
    assert!(reasons.contains(&"Started".to_owned()) && !reasons.contains(&"BackOff".to_owned()), "{reasons:?}");
    fixture.cluster.restore(&node(&pods[0])).await.unwrap();
    fixture.event(&pods[0].name_any(), "BackOff").await;
    fixture.stop().await;
}
