//! StatefulSets: the order of creations, updates and deletions.

use k8s_openapi::api::apps::v1::StatefulSet;
use serde_json::json;

use super::{
    Cluster,
    objects::{image, is_ready, name},
};

/// The outcome has the order of all creations and deletions.
pub(super) async fn order(cluster: &mut Cluster) {
    let spec = json!({
        "replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
        "template": cluster.template("db"),
    });
    cluster.create::<StatefulSet>(json!({"metadata": {"name": "db"}, "spec": spec})).await;
    cluster
        .wait_for("three ready pods", |objects| {
            let pods = objects.pods("db");
            let before_last = pods.len().saturating_sub(1);
            assert!(
                pods.iter().take(before_last).all(|pod| is_ready(pod)),
                "a pod is created before the others are ready"
            );
            pods.len() == 3 && objects.ready_pods("db").len() == 3
        })
        .await;
    let containers = json!([{"name": "main", "image": "db:2"}]);
    cluster.patch::<StatefulSet>("db", json!({"spec": {"template": {"spec": {"containers": containers}}}})).await;
    cluster
        .wait_for("all pods are updated", |objects| {
            let ready = objects.ready_pods("db");
            ready.len() == 3 && ready.iter().all(|pod| image(pod) == "db:2")
        })
        .await;
    cluster.patch::<StatefulSet>("db", json!({"spec": {"replicas": 1}})).await;
    cluster.wait_for_pods("db", 1).await;
    cluster.wait_for("the first pod remains", |objects| objects.pods("db").iter().all(|pod| name(pod) == "db-0")).await;
}
