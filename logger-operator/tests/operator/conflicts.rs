//! Objects of others with the name of a child.

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec},
        core::v1::{Pod, Service},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use logger_operator::{
    names::{CONTROLLER, Names},
    status::{AVAILABLE, DEGRADED},
};
use logger_types::v2::Logger;
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

/// Returns a Logger whose name is too long for its children.
fn long_logger() -> Logger {
    let mut long = logger(&"a".repeat(100));
    long.spec.name = "audit".to_owned();
    long
}

#[tokio::test(start_paused = true)]
async fn a_child_that_another_owner_controls_is_not_changed_if_it_has_a_shortened_name() {
    let long = long_logger();
    let (logger_name, child) = ("a".repeat(100), Names::new(&long).child().to_owned());
    assert!(child.len() < logger_name.len(), "{child}");
    // With the label, the object is in the cache of the operator.
    for labels in [json!({}), json!({"app.kubernetes.io/managed-by": CONTROLLER})] {
        let cluster = Cluster::new();
        let operator = cluster.operator();
        let owner = json!({"metadata": {"name": "owner"}, "spec": {"ports": [{"port": 80}]}});
        let owner: Service = cluster.create(&serde_json::from_value(owner).unwrap()).await;
        let reference = json!({
            "apiVersion": "v1", "kind": "Service", "name": "owner", "uid": owner.metadata.uid, "controller": true,
        });
        let template = json!({
            "metadata": {"labels": {"app": "other"}}, "spec": {"containers": [{"name": "other", "image": "other"}]},
        });
        let deployment = json!({
            "metadata": {"name": child, "labels": labels, "ownerReferences": [reference]},
            "spec": {"selector": {"matchLabels": {"app": "other"}}, "template": template},
        });
        let other: Deployment = cluster.create(&serde_json::from_value(deployment).unwrap()).await;
        let created = cluster.create(&long).await;

        let degraded = cluster.wait_for_condition(&logger_name, DEGRADED, "True", "NameConflict").await;
        let condition = degraded.status.unwrap().conditions.unwrap();
        let condition = condition.into_iter().find(|condition| condition.type_ == DEGRADED).unwrap();
        let expected = format!("`{child}` exists and does not belong to this Logger: Deployment;");
        assert!(condition.message.starts_with(&expected), "{}", condition.message);
        cluster.settle().await;
        assert_eq!(cluster.get::<Deployment>(&child).await, Some(other));
        assert!(cluster.event_reasons(&logger_name).contains(&"NameConflict".to_owned()));

        cluster.delete::<Deployment>(&child).await;
        cluster.wait_for_condition(&logger_name, DEGRADED, "False", "AsDesired").await;
        let replaced = cluster.get::<Deployment>(&child).await.unwrap();
        let owners = replaced.metadata.owner_references.unwrap();
        assert_eq!(owners.iter().map(|owner| &owner.uid).collect::<Vec<_>>(), [&created.metadata.uid.unwrap()]);
        operator.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_with_the_labels_of_agents_is_no_agent() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    let deployment = cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await.unwrap();
    let deployment_spec = deployment.spec.unwrap();
    let template = serde_json::to_value(&deployment_spec.template).unwrap();
    let owner = |uid: &str| {
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": child("audit"), "uid": uid,
        "controller": true})
    };
    let (selector, template_spec) = (deployment_spec.selector, Some(deployment_spec.template));
    let spec = ReplicaSetSpec { selector, template: template_spec, ..ReplicaSetSpec::default() };
    let metadata = ObjectMeta { name: Some(child("audit")), ..ObjectMeta::default() };
    let foreign = cluster.create(&ReplicaSet { metadata, spec: Some(spec), status: None }).await;
    // The first has no controller, the second one that the Deployment does not control.
    for (name, owners) in [("orphan", json!([])), ("forged", json!([owner(&foreign.metadata.uid.unwrap())]))] {
        let mut pod = template.clone();
        pod["metadata"]["name"] = json!(name);
        pod["metadata"]["ownerReferences"] = owners;
        cluster.create::<Pod>(&serde_json::from_value(pod).unwrap()).await;
        cluster.report_pod(name, json!({"conditions": [{"type": "Ready", "status": "True"}]})).await;
    }
    cluster.settle().await;
    let logger = cluster.wait_for_condition("audit", AVAILABLE, "False", "AgentsNotReady").await;
    assert_eq!(logger.status.unwrap().replicas, Some(0));
    operator.stop().await;
}
