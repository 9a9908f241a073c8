//! Deployments: rollouts, scaling, and an image that cannot be pulled.

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::json;

use super::{
    Cluster,
    objects::{has_condition, image},
};

const COMPLETE: [&str; 3] = ["Progressing", "True", "NewReplicaSetAvailable"];

pub(super) async fn roll_out(cluster: &mut Cluster) {
    cluster.create::<Deployment>(cluster.deployment("web", 3)).await;
    cluster.wait_for_pods("web", 3).await;
    cluster.wait_for_condition("Deployment", "web", COMPLETE).await;
    let container = json!([{"name": "main", "image": "web:2"}]);
    cluster.patch::<Deployment>("web", json!({"spec": {"template": {"spec": {"containers": container}}}})).await;
    let mut least = usize::MAX;
    cluster
        .wait_for("all pods are updated", |objects| {
            let (pods, ready) = (objects.pods("web"), objects.ready_pods("web").len());
            least = least.min(ready);
            pods.len() == 3 && ready == 3 && pods.iter().all(|pod| image(pod) == "web:2")
        })
        .await;
    assert_eq!(least, 3, "a quarter of 3 pods, rounded down, may be unavailable: none");
    cluster.wait_for_condition("Deployment", "web", COMPLETE).await;
}

pub(super) async fn scale(cluster: &mut Cluster) {
    cluster.create::<Deployment>(cluster.deployment("web", 2)).await;
    cluster.wait_for_pods("web", 2).await;
    for replicas in [5, 1] {
        cluster.patch::<Deployment>("web", json!({"spec": {"replicas": replicas}})).await;
        cluster.wait_for_pods("web", replicas).await;
    }
}

pub(super) async fn bad_image(cluster: &mut Cluster) {
    let mut deployment = cluster.deployment("web", 3);
    deployment["spec"]["progressDeadlineSeconds"] = json!(10);
    cluster.create::<Deployment>(deployment).await;
    cluster.wait_for_pods("web", 3).await;
    cluster.wait_for_condition("Deployment", "web", COMPLETE).await;
    let patch = |annotation: &serde_json::Value, image: &str| {
        let metadata = json!({"annotations": {"simulator/missing-image": annotation}});
        let spec = json!({"containers": [{"name": "main", "image": image}]});
        json!({"spec": {"template": {"metadata": metadata, "spec": spec}}})
    };
    cluster.patch::<Deployment>("web", patch(&json!("true"), "web:missing")).await;
    cluster
        .wait_for("the rollout is stuck", |objects| {
            assert_eq!(objects.ready_pods("web").len(), 3, "the old pods remain");
            let is_waiting = |pod: &&serde_json::Value| {
                pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
            };
            let deployment = objects.get("Deployment", "web");
            objects.pods("web").iter().any(is_waiting)
                && deployment.is_some_and(|deployment| {
                    has_condition(deployment, "Progressing", "False", "ProgressDeadlineExceeded")
                })
        })
        .await;
    cluster.patch::<Deployment>("web", patch(&serde_json::Value::Null, "web:3")).await;
    cluster
        .wait_for("the rollout is complete", |objects| {
            let pods = objects.pods("web");
            pods.len() == 3 && objects.ready_pods("web").len() == 3 && pods.iter().all(|pod| image(pod) == "web:3")
        })
        .await;
    cluster.wait_for_condition("Deployment", "web", COMPLETE).await;
}
