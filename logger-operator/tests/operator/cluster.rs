//! From a Logger to its children, and from the observed objects to its status.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Pod, Service},
    policy::v1::PodDisruptionBudget,
};
use logger_operator::{
    OperatorOptions,
    names::LOGGER_ANNOTATION,
    status::{AVAILABLE, DEGRADED, PROGRESSING},
};
use logger_types::v2::{Logger, LoggerState};
use serde_json::json;

use crate::fixture::{Cluster, IMAGE, Operator, child, logger};

fn image(deployment: &Deployment) -> Option<&str> {
    let containers = &deployment.spec.as_ref()?.template.spec.as_ref()?.containers;
    containers.first()?.image.as_deref()
}

#[tokio::test(start_paused = true)]
async fn a_logger_gets_its_children() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    let created = cluster.create(&logger("audit")).await;
    let deployment = cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await.unwrap();
    cluster.wait::<Service>(&child("audit"), |child| child.is_some()).await;
    cluster.wait::<PodDisruptionBudget>(&child("audit"), |child| child.is_some()).await;
    assert_eq!(image(&deployment), Some(IMAGE));
    let owners = deployment.metadata.owner_references.as_deref().unwrap();
    let [owner] = owners else { panic!("{owners:?}") };
    assert_eq!((Some(&owner.uid), owner.controller), (created.metadata.uid.as_ref(), Some(true)));
    assert_eq!(owner.block_owner_deletion, Some(true));
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_status_follows_the_deployment_and_the_pods() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    let starting = cluster.wait_for_condition("audit", PROGRESSING, "True", "RollingOut").await;
    let status = starting.status.unwrap();
    assert_eq!((status.state, status.ready_replicas), (Some(LoggerState::Unavailable), Some(0)));

    // The Deployment declares nothing: Pods do.
    cluster.run_agents("audit", 2).await;
    let available = cluster.wait_for_condition("audit", PROGRESSING, "False", "RolloutComplete").await;
    let status = available.status.unwrap();
    assert_eq!((status.state, status.ready_replicas), (Some(LoggerState::Available), Some(2)));
    assert_eq!(status.observed_generation, available.metadata.generation);
    let labels = [r#"logger="audit""#];
    assert_eq!(operator.metric("logger_agents_ready", &labels), Some(2.0));

    let unready = json!({"conditions": [{"type": "Ready", "status": "False"}]});
    cluster.report_pod("logger-audit-0", unready.clone()).await;
    cluster.wait::<Logger>("audit", |logger| logger.unwrap().status.as_ref().unwrap().ready_replicas == Some(1)).await;
    cluster.report_pod("logger-audit-1", unready).await;
    cluster.wait_for_condition("audit", AVAILABLE, "False", "AgentsNotReady").await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_image_that_cannot_be_pulled_degrades_the_logger_and_records_one_event() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.run_agents("audit", 2).await;
    cluster.wait_for_condition("audit", DEGRADED, "False", "AsDesired").await;
    for reason in ["ErrImagePull", "ImagePullBackOff", "ErrImagePull"] {
        let container = json!({
            "name": "agent", "image": IMAGE, "imageID": "", "ready": false, "restartCount": 0,
            "state": {"waiting": {"reason": reason}},
        });
        let conditions = json!([{"type": "Ready", "status": "False"}]);
        cluster.report_pod("logger-audit-0", json!({"conditions": conditions, "containerStatuses": [container]})).await;
        cluster.wait_for_condition("audit", DEGRADED, "True", "ImageUnavailable").await;
        cluster.settle().await;
    }
    let events = cluster.event_reasons("audit");
    assert_eq!(events.iter().filter(|reason| *reason == "ImageUnavailable").count(), 1, "{events:?}");
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_image_reaches_the_deployment_and_its_selector_does_not_change() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    let before = cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await.unwrap();
    operator.stop().await;
    let operator = Operator::start(&cluster, &OperatorOptions::new("registry.example.com/logger-agent:2.0.0"));
    let is_new = |child: Option<&Deployment>| child.and_then(image) == Some("registry.example.com/logger-agent:2.0.0");
    let after = cluster.wait::<Deployment>(&child("audit"), is_new).await.unwrap();
    assert_eq!(after.metadata.uid, before.metadata.uid);
    assert_eq!(after.spec.unwrap().selector, before.spec.unwrap().selector);
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn two_loggers_do_not_share_a_selector_or_agents() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    for name in ["audit", "access"] {
        cluster.create(&logger(name)).await;
    }
    cluster.run_agents("audit", 2).await;
    cluster.wait_for_condition("audit", PROGRESSING, "False", "RolloutComplete").await;
    let [audit, access] = [child("audit"), child("access")];
    let [audit, access] = [cluster.get::<Deployment>(&audit).await, cluster.get::<Deployment>(&access).await];
    assert_ne!(audit.unwrap().spec.unwrap().selector, access.unwrap().spec.unwrap().selector);
    cluster.settle().await;
    let access = cluster.get::<Logger>("access").await.unwrap().status.unwrap();
    assert_eq!((access.state, access.ready_replicas), (Some(LoggerState::Unavailable), Some(0)));
    let pods = cluster.list::<Pod>().await;
    let owner = |pod: &Pod| pod.metadata.annotations.as_ref().unwrap()[LOGGER_ANNOTATION].clone();
    assert_eq!(pods.iter().map(owner).collect::<Vec<_>>(), ["audit", "audit"]);
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn scaling_to_zero_deletes_the_disruption_budget_and_is_reported() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.wait::<PodDisruptionBudget>(&child("audit"), |child| child.is_some()).await;
    cluster.patch::<Logger>("audit", json!({"spec": {"replicas": 0}})).await;
    cluster.wait_for_condition("audit", DEGRADED, "True", "NoReplicas").await;
    cluster.wait::<PodDisruptionBudget>(&child("audit"), |child| child.is_none()).await;
    let deployment = cluster.get::<Deployment>(&child("audit")).await.unwrap();
    assert_eq!(deployment.spec.unwrap().replicas, Some(0));
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_children_of_a_deleted_logger_are_garbage_collected() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await;
    cluster.delete::<Logger>("audit").await;
    cluster.wait::<Deployment>(&child("audit"), |child| child.is_none()).await;
    cluster.settle().await;
    assert!(cluster.list::<Deployment>().await.is_empty());
    assert!(cluster.list::<PodDisruptionBudget>().await.is_empty());
    assert!(cluster.get::<Service>(&child("audit")).await.is_none());
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_metrics_of_a_deleted_logger_are_removed() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    for name in ["audit", "other"] {
        cluster.create(&logger(name)).await;
        cluster.wait_for_condition(name, PROGRESSING, "True", "RollingOut").await;
    }
    let metrics = ["logger_agents_ready", "logger_agents_desired", "logger_interval_seconds"];
    let values = |name: &str| {
        let label = format!("logger=\"{name}\"");
        metrics.map(|metric| operator.metric(metric, &[r#"logger_namespace="default""#, &label]))
    };
    let reported = [Some(0.0), Some(2.0), Some(60.0)];
    assert_eq!((values("audit"), values("other")), (reported, reported));
    cluster.delete::<Logger>("audit").await;
    cluster.settle().await;
    assert_eq!((values("audit"), values("other")), ([None; 3], reported));
    operator.stop().await;
}
