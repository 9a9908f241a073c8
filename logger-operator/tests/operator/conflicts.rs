//! Objects of others with the name of a child.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use logger_operator::status::DEGRADED;
use serde_json::json;

use crate::fixture::{Cluster, child, logger};

#[tokio::test(start_paused = true)]
async fn an_object_of_others_is_not_changed_and_is_reported() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    let service = json!({
        "metadata": {"name": child("audit")}, "spec": {"selector": {"app": "other"}, "ports": [{"port": 80}]},
    });
    let other: Service = cluster.create(&serde_json::from_value(service).unwrap()).await;
    cluster.create(&logger("audit")).await;
    let degraded = cluster.wait_for_condition("audit", DEGRADED, "True", "NameConflict").await;
    let conditions = degraded.status.unwrap().conditions.unwrap();
    assert!(conditions.iter().any(|condition| condition.message.contains("Service")), "{conditions:?}");
    cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await;
    cluster.settle().await;
    assert_eq!(cluster.get::<Service>(&child("audit")).await, Some(other));

    cluster.delete::<Service>(&child("audit")).await;
    cluster.wait_for_condition("audit", DEGRADED, "False", "AsDesired").await;
    cluster.wait::<Service>(&child("audit"), |child| child.is_some()).await;
    operator.stop().await;
}
