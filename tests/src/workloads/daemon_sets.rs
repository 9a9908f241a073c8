//! DaemonSets: one pod on each node, also on a new one.

use k8s_openapi::api::apps::v1::DaemonSet;
use serde_json::json;

use super::{Cluster, objects::node};

pub(super) async fn new_node(cluster: &mut Cluster) {
    let spec = json!({"selector": {"matchLabels": {"app": "agent"}}, "template": cluster.template("agent")});
    cluster.create::<DaemonSet>(json!({"metadata": {"name": "agent"}, "spec": spec})).await;
    cluster.wait_for_pods("agent", 3).await;
    cluster.add_node("b", 2).await;
    let expected = [("a", 1), ("a", 2), ("b", 1), ("b", 2)].map(|(zone, number)| cluster.node(zone, number));
    cluster
        .wait_for("each node has a ready pod", |objects| {
            let mut nodes: Vec<_> = objects.ready_pods("agent").into_iter().map(node).collect();
            nodes.sort_unstable();
            nodes == expected
        })
        .await;
}
