//! Children that the API server rejects.

use k8s_openapi::{
    api::{
        admissionregistration::v1::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding},
        apps::v1::Deployment,
        core::v1::Service,
        networking::v1::NetworkPolicyPeer,
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kubewright_runtime::kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use logger_operator::status::{AVAILABLE, DEGRADED, PROGRESSING};
use logger_types::v2::LoggerSource;
use serde_json::json;

use crate::fixture::{Cluster, child, logger};

/// Forbids Deployments whose number of replicas is odd.
async fn forbid_odd_replicas(cluster: &Cluster) {
    forbid(cluster, ["apps", "deployments"], "object.spec.replicas % 2 == 0", "an odd number of replicas").await;
}

/// Forbids the objects of a resource for which an expression is false.
async fn forbid(cluster: &Cluster, [group, resource]: [&str; 2], expression: &str, message: &str) {
    let client = cluster.clientset.server().client();
    let rule = json!({"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
        "resources": [resource]});
    let policy = json!({
        "metadata": {"name": "rule"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression, "message": message}],
        },
    });
    let binding = json!({"metadata": {"name": "rule"}, "spec": {"policyName": "rule", "validationActions": ["Deny"]}});
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    policies.create(&PostParams::default(), &serde_json::from_value(policy).unwrap()).await.unwrap();
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(client);
    bindings.create(&PostParams::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();
}

async fn allow_all(cluster: &Cluster) {
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(cluster.clientset.server().client());
    bindings.delete("rule", &DeleteParams::default()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_rejected_child_is_reported_and_tried_again_with_back_off() {
    let cluster = Cluster::new();
    forbid_odd_replicas(&cluster).await;
    let operator = cluster.operator();
    let mut audit = logger("audit");
    audit.spec.replicas = Some(3);
    cluster.create(&audit).await;
    let degraded = cluster.wait_for_condition("audit", DEGRADED, "True", "ChildRejected").await;
    let conditions = degraded.status.unwrap().conditions.unwrap();
    let message = &conditions.iter().find(|condition| condition.type_ == DEGRADED).unwrap().message;
    assert!(message.starts_with(&format!("Deployment `{}` is rejected: ", child("audit"))), "{message}");
    assert!(message.contains("an odd number of replicas"), "{message}");
    cluster.wait_for_condition("audit", AVAILABLE, "False", "ChildRejected").await;
    cluster.wait_for_condition("audit", PROGRESSING, "False", "ChildRejected").await;
    assert!(cluster.event_reasons("audit").contains(&"ChildRejected".to_owned()));
    assert!(cluster.get::<Service>(&child("audit")).await.is_some(), "other children are applied");

    cluster.settle().await;
    let attempts = operator.metric("controller_runtime_reconcile_total", &[r#"result="error""#]).unwrap();
    assert!((5.0..30.0).contains(&attempts), "{attempts} attempts within minutes");
    allow_all(&cluster).await;
    cluster.wait_for_condition("audit", PROGRESSING, "True", "RollingOut").await;
    cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn agents_do_not_start_without_their_network_policy() {
    let cluster = Cluster::new();
    forbid(&cluster, ["networking.k8s.io", "networkpolicies"], "false", "no policies").await;
    let operator = cluster.operator();
    let mut audit = logger("audit");
    let from = Some(vec![NetworkPolicyPeer { pod_selector: Some(LabelSelector::default()), ..Default::default() }]);
    audit.spec.source = Some(LoggerSource { from, ..LoggerSource::default() });
    cluster.create(&audit).await;
    cluster.wait_for_condition("audit", DEGRADED, "True", "ChildRejected").await;
    cluster.settle().await;
    assert!(cluster.get::<Deployment>(&child("audit")).await.is_none(), "everyone could connect to them");
    allow_all(&cluster).await;
    cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await;
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rejected_change_deletes_no_running_agent() {
    let cluster = Cluster::new();
    forbid_odd_replicas(&cluster).await;
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    let before = cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await.unwrap();
    cluster.patch::<logger_types::v2::Logger>("audit", json!({"spec": {"replicas": 3}})).await;
    cluster.wait_for_condition("audit", DEGRADED, "True", "ChildRejected").await;
    cluster.settle().await;
    let after = cluster.get::<Deployment>(&child("audit")).await.unwrap();
    assert_eq!((after.metadata.uid, after.spec), (before.metadata.uid, before.spec));
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rejected_pods_are_reported() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.wait::<Deployment>(&child("audit"), |child| child.is_some()).await;
    let status = |status: &str| {
        let condition = json!({"type": "ReplicaFailure", "status": status, "reason": "FailedCreate",
            "message": "pods \"a-1\" is forbidden: exceeded quota: small"});
        json!({"status": {"conditions": [condition]}})
    };
    cluster.patch_status::<Deployment>(&child("audit"), status("True")).await;
    let degraded = cluster.wait_for_condition("audit", DEGRADED, "True", "ChildRejected").await;
    let conditions = degraded.status.unwrap().conditions.unwrap();
    let message = &conditions.iter().find(|condition| condition.type_ == DEGRADED).unwrap().message;
    assert!(message.starts_with("agents cannot be created: pods \"a-1\" is forbidden: exceeded quota"), "{message}");
    cluster.patch_status::<Deployment>(&child("audit"), status("False")).await;
    cluster.wait_for_condition("audit", AVAILABLE, "False", "AgentsNotReady").await;
    operator.stop().await;
}
