//! Operators that end at any time: the next one continues.

use k8s_openapi::api::{apps::v1::Deployment, policy::v1::PodDisruptionBudget};
use kubewright_apiserver::{Fault, Requests, Verb};
use logger_operator::status::PROGRESSING;

use crate::fixture::{Cluster, child, logger};

/// The requests at which an operator is killed, in the order of a reconciliation.
fn requests() -> [Requests; 4] {
    let patches = |resource: &str| Requests::to(resource).verb(Verb::Patch);
    [
        patches("services"),
        patches("poddisruptionbudgets"),
        patches("deployments"),
        patches("loggers").subresource("status"),
    ]
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_is_killed_while_it_reconciles_is_continued_by_the_next_one() {
    for requests in requests() {
        let cluster = Cluster::new();
        let operator = cluster.operator();
        cluster.clientset.faults().always(requests.clone(), Fault::hang());
        cluster.create(&logger("audit")).await;
        cluster.clientset.faults().until(requests, 1).await;
        operator.kill().await;
        cluster.clientset.faults().heal();

        let operator = cluster.operator();
        cluster.wait_for_condition("audit", PROGRESSING, "True", "RollingOut").await;
        assert_eq!(cluster.list::<Deployment>().await.len(), 1);
        assert_eq!(cluster.list::<PodDisruptionBudget>().await.len(), 1);
        assert!(cluster.get::<Deployment>(&child("audit")).await.is_some());
        operator.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_changes_no_object_and_no_status() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.run_agents("audit", 2).await;
    let logger = cluster.wait_for_condition("audit", PROGRESSING, "False", "RolloutComplete").await;
    cluster.settle().await;
    let deployment = cluster.get::<Deployment>(&child("audit")).await.unwrap();
    let (status_writes, events) = (status_writes(&cluster), cluster.event_reasons("audit"));
    operator.stop().await;

    let operator = cluster.operator();
    cluster.settle().await;
    let after = cluster.get::<Deployment>(&child("audit")).await.unwrap();
    assert_eq!(after.metadata.resource_version, deployment.metadata.resource_version);
    let restarted = cluster.get::<logger_types::v2::Logger>("audit").await.unwrap();
    assert_eq!(restarted.status, logger.status);
    assert_eq!(self::status_writes(&cluster), status_writes);
    assert_eq!(cluster.event_reasons("audit"), events);
    operator.stop().await;
}

fn status_writes(cluster: &Cluster) -> usize {
    cluster.writes().iter().filter(|write| write.contains("loggers/status")).count()
}

#[tokio::test(start_paused = true)]
async fn failed_requests_are_retried() {
    for requests in requests() {
        let cluster = Cluster::new();
        cluster.clientset.faults().next(2, requests, Fault::status(503, "ServiceUnavailable", "no"));
        let operator = cluster.operator();
        cluster.create(&logger("audit")).await;
        cluster.run_agents("audit", 2).await;
        cluster.wait_for_condition("audit", PROGRESSING, "False", "RolloutComplete").await;
        operator.stop().await;
    }
}
