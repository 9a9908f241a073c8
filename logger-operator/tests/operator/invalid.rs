//! Specs that no agent can run with.

use k8s_openapi::api::apps::v1::Deployment;
use logger_operator::status::{AVAILABLE, DEGRADED, PROGRESSING};
use logger_types::v2::Logger;
use serde_json::json;

use crate::fixture::{Cluster, child, logger};

#[tokio::test(start_paused = true)]
async fn an_invalid_name_is_reported_and_other_loggers_are_not_affected() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    let mut invalid = logger("broken");
    invalid.spec.name = "../../etc/passwd".to_owned();
    cluster.create(&invalid).await;
    cluster.create(&logger("audit")).await;
    let broken = cluster.wait_for_condition("broken", DEGRADED, "True", "InvalidName").await;
    assert_eq!(broken.status.unwrap().observed_generation, broken.metadata.generation);
    cluster.run_agents("audit", 2).await;
    cluster.wait_for_condition("audit", PROGRESSING, "False", "RolloutComplete").await;
    cluster.settle().await;
    assert!(cluster.get::<Deployment>(&child("broken")).await.is_none());
    assert_eq!(cluster.event_reasons("broken"), ["InvalidName"]);

    cluster.patch::<Logger>("broken", json!({"spec": {"name": "passwd"}})).await;
    cluster.wait_for_condition("broken", DEGRADED, "False", "AsDesired").await;
    cluster.wait::<Deployment>(&child("broken"), |child| child.is_some()).await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn agents_continue_when_a_spec_becomes_invalid() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.run_agents("audit", 2).await;
    cluster.wait_for_condition("audit", AVAILABLE, "True", "AgentsReady").await;
    let before = cluster.get::<Deployment>(&child("audit")).await.unwrap();
    cluster.patch::<Logger>("audit", json!({"spec": {"name": "a/b", "replicas": 5}})).await;
    let degraded = cluster.wait_for_condition("audit", DEGRADED, "True", "InvalidName").await;
    assert_eq!(degraded.status.unwrap().ready_replicas, Some(2));
    cluster.settle().await;
    assert_eq!(cluster.get::<Deployment>(&child("audit")).await.unwrap().spec, before.spec);
    operator.stop().await;
}
