//! Scheduling: spread over zones, anti-affinity, resources, and pods that do not fit.

use std::collections::BTreeMap;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
use kube::ResourceExt;
use kubewright_simulator::NodeConfig;
use serde_json::{Value, json};

use crate::fixture::{Fixture, deployment, node};

fn pod_spec(spec: Value) -> Value {
    json!({"spec": {"template": {"spec": spec}}})
}

#[tokio::test(start_paused = true)]
async fn pods_spread_over_zones() {
    let fixture = Fixture::two_zones().await;
    let constraint = json!({
        "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}}, "matchLabelKeys": ["pod-template-hash"],
    });
    let pods = fixture.deploy("web", 6, pod_spec(json!({"topologySpreadConstraints": [constraint]}))).await;
    let mut zones: BTreeMap<String, usize> = BTreeMap::new();
    for pod in &pods {
        *zones.entry(node(pod)[..1].to_owned()).or_default() += 1;
    }
    assert_eq!(zones, BTreeMap::from([("a".to_owned(), 3), ("b".to_owned(), 3)]));
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_does_not_fit_is_scheduled_on_a_new_node() {
    let fixture = Fixture::two_zones().await;
    let term = json!({"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"});
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    let more = pod_spec(json!({"affinity": {"podAntiAffinity": required}}));
    fixture.create::<Deployment>(deployment("web", 4, more)).await;
    let message = |pod: &Pod| {
        let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let unscheduled =
            conditions.find(|condition| condition.type_ == "PodScheduled" && condition.status == "False")?;
        unscheduled.message.clone()
    };
    let pods =
        fixture.wait_for::<Pod>("a pod does not fit", |pods| pods.iter().any(|pod| message(pod).is_some())).await;
    let unscheduled = pods.iter().find(|pod| message(pod).is_some()).unwrap();
    let expected = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.";
    assert_eq!(message(unscheduled).as_deref(), Some(expected));
    fixture.event(&unscheduled.name_any(), "FailedScheduling").await;
    fixture.cluster.add_node(NodeConfig::new("b-2").zone("b")).await.unwrap();
    fixture.ready_pods("web", 4).await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn requests_and_taints_limit_the_nodes() {
    let fixture = Fixture::start(&["small", "tainted"], |cluster| {
        let tainted = NodeConfig::new("tainted").taint("team", "a", "NoSchedule");
        cluster.node(NodeConfig::new("small").capacity("cpu", "1")).node(tainted)
    })
    .await;
    let container = json!({"name": "main", "image": "web:1", "resources": {"requests": {"cpu": "600m"}}});
    let more = pod_spec(json!({"containers": [container]}));
    fixture.create::<Deployment>(deployment("web", 2, more)).await;
    let fits =
        |pods: &[std::sync::Arc<Pod>]| pods.len() == 2 && pods.iter().filter(|pod| node(pod) == "small").count() == 1;
    fixture.wait_for::<Pod>("one pod fits", fits).await;
    let tolerations = json!([{"key": "team", "operator": "Exists"}]);
    fixture.patch::<Deployment>("web", pod_spec(json!({"tolerations": tolerations}))).await;
    fixture.ready_pods("web", 2).await;
    fixture.stop().await;
}
