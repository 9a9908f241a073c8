//! What the operator writes: as much as needed, and nothing when nothing has changed.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use logger_operator::status::{DEGRADED, PROGRESSING};
use logger_types::v2::Logger;
use serde_json::json;
use tokio::time::{Duration, sleep, timeout};

use crate::fixture::{Cluster, Operator, child, logger};

async fn wait_for_reconciliation(operator: &Operator, before: f64) {
    let poll = async {
        while operator.reconciliations() <= before {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_mins(10), poll).await.expect("the Logger is reconciled");
}

/// Returns a cluster with a Logger of two ready agents, and its operator. Nothing is pending.
async fn rolled_out() -> (Cluster, Operator) {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.run_agents("audit", 2).await;
    cluster.wait_for_condition("audit", PROGRESSING, "False", "RolloutComplete").await;
    cluster.settle().await;
    (cluster, operator)
}

#[tokio::test(start_paused = true)]
async fn the_first_reconciliation_writes_each_child_and_the_status_once() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.wait_for_condition("audit", PROGRESSING, "True", "RollingOut").await;
    cluster.settle().await;
    let expected = [
        "Patch services/ logger-audit",
        "Patch poddisruptionbudgets/ logger-audit",
        "Patch deployments/ logger-audit",
        "Patch loggers/status audit",
    ];
    assert_eq!(cluster.writes(), expected);
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_reconciliation_that_changes_nothing_writes_nothing() {
    let (cluster, operator) = rolled_out().await;
    let (writes, events) = (cluster.writes(), cluster.event_reasons("audit"));
    for round in ["1", "2", "3"] {
        let before = operator.reconciliations();
        cluster.patch::<Logger>("audit", json!({"metadata": {"annotations": {"round": round}}})).await;
        wait_for_reconciliation(&operator, before).await;
        cluster.settle().await;
    }
    assert_eq!(cluster.writes(), writes);
    assert_eq!(cluster.event_reasons("audit"), events);
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_status_writes_the_status_only() {
    let (cluster, operator) = rolled_out().await;
    let before = cluster.writes().len();
    cluster.report_pod("logger-audit-0", json!({"conditions": [{"type": "Ready", "status": "False"}]})).await;
    cluster.wait::<Logger>("audit", |logger| logger.unwrap().status.as_ref().unwrap().ready_replicas == Some(1)).await;
    cluster.settle().await;
    assert_eq!(cluster.writes()[before..], ["Patch loggers/status audit"]);
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changes_of_other_clients_to_children_are_reverted() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.wait_for_condition("audit", PROGRESSING, "True", "RollingOut").await;
    cluster.settle().await;
    cluster.patch::<Deployment>(&child("audit"), json!({"spec": {"replicas": 7}})).await;
    let has_two = |child: Option<&Deployment>| child.unwrap().spec.as_ref().unwrap().replicas == Some(2);
    cluster.wait::<Deployment>(&child("audit"), has_two).await;
    cluster.delete::<Service>(&child("audit")).await;
    cluster.wait::<Service>(&child("audit"), |child| child.is_some()).await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn events_are_recorded_on_transitions_only() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    let mut single = logger("audit");
    single.spec.replicas = Some(1);
    cluster.create(&single).await;
    cluster.wait_for_condition("audit", DEGRADED, "True", "SingleReplica").await;
    cluster.run_agents("audit", 1).await;
    cluster.wait_for_condition("audit", PROGRESSING, "False", "RolloutComplete").await;
    cluster.settle().await;
    let mut events = cluster.event_reasons("audit");
    events.sort();
    assert_eq!(events, ["AgentsReady", "RollingOut", "RolloutComplete", "SingleReplica"]);
    operator.stop().await;
}
