//! The workloads of placements and storages, and the change from one to another.

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{DaemonSet, Deployment, StatefulSet},
        networking::v1::NetworkPolicy,
        policy::v1::PodDisruptionBudget,
    },
};
use kubewright_runtime::{
    ApiObject,
    kube::api::{Patch, PatchParams},
};
use logger_operator::status::PROGRESSING;
use logger_types::v2::{Logger, LoggerWorkload};
use serde_json::{Value, json};

use crate::fixture::{Cluster, child, logger};

impl Cluster {
    /// Reports the status of the workload of the Logger `audit`, for its current generation.
    async fn report_workload<K: ApiObject<Scope = NamespaceResourceScope>>(&self, mut status: Value) {
        let workload = self.wait::<K>(&child("audit"), |workload| workload.is_some()).await.unwrap();
        status["observedGeneration"] = json!(workload.meta().generation);
        let status = Patch::Merge(json!({"status": status}));
        self.api::<K>().patch_status(&child("audit"), &PatchParams::default(), &status).await.unwrap();
    }

    async fn report_nodes(&self, nodes: i32, available: i32) {
        let status = json!({
            "desiredNumberScheduled": nodes, "currentNumberScheduled": nodes, "updatedNumberScheduled": nodes,
            "numberMisscheduled": 0, "numberReady": available, "numberAvailable": available,
        });
        self.report_workload::<DaemonSet>(status).await;
    }

    async fn report_claims(&self, replicas: i32, available: i32) {
        let status = json!({
            "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": available,
            "availableReplicas": available,
        });
        self.report_workload::<StatefulSet>(status).await;
    }

    async fn change(&self, spec: Value) {
        self.patch::<Logger>("audit", json!({"spec": spec})).await;
    }

    async fn wait_for_workload(&self, workload: LoggerWorkload) -> Logger {
        let has_workload = |logger: Option<&Logger>| {
            let status = logger.and_then(|logger| logger.status.as_ref());
            status.is_some_and(|status| status.workload == Some(workload))
        };
        self.wait("audit", has_workload).await.unwrap()
    }

    async fn exists<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> bool {
        self.get::<K>(&child("audit")).await.is_some()
    }
}

#[tokio::test(start_paused = true)]
async fn the_former_workload_remains_until_the_agents_of_the_new_one_are_available() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.run_agents("audit", 2).await;
    cluster.wait_for_workload(LoggerWorkload::Deployment).await;

    cluster.change(json!({"placement": "PerNode"})).await;
    cluster.wait_for_workload(LoggerWorkload::DaemonSet).await;
    cluster.report_nodes(3, 2).await;
    cluster.settle().await;
    assert!(cluster.exists::<Deployment>().await && cluster.exists::<PodDisruptionBudget>().await);
    cluster.report_nodes(3, 3).await;
    cluster.wait::<Deployment>(&child("audit"), |child| child.is_none()).await;
    cluster.wait::<PodDisruptionBudget>(&child("audit"), |child| child.is_none()).await;
    let logger = cluster.wait_for_condition("audit", PROGRESSING, "False", "RolloutComplete").await;
    assert_eq!(logger.status.unwrap().desired_replicas, Some(3));

    cluster.change(json!({"placement": null, "storage": {"volumeClaim": {"size": "1Gi"}}})).await;
    cluster.wait_for_workload(LoggerWorkload::StatefulSet).await;
    cluster.report_claims(2, 1).await;
    cluster.settle().await;
    assert!(cluster.exists::<DaemonSet>().await && cluster.exists::<PodDisruptionBudget>().await);
    cluster.report_claims(2, 2).await;
    cluster.wait::<DaemonSet>(&child("audit"), |child| child.is_none()).await;

    cluster.change(json!({"storage": null})).await;
    cluster.wait_for_workload(LoggerWorkload::Deployment).await;
    cluster.report_rollout("audit", 2).await;
    cluster.wait::<StatefulSet>(&child("audit"), |child| child.is_none()).await;
    assert!(cluster.exists::<Deployment>().await && cluster.exists::<PodDisruptionBudget>().await);
    operator.stop().await;
}

#[tokio::test(start_paused = true)]
async fn reconciliations_of_every_workload_that_change_nothing_write_nothing() {
    for spec in [json!({"placement": "PerNode"}), json!({"storage": {"volumeClaim": {"size": "1Gi"}}})] {
        let cluster = Cluster::new();
        let operator = cluster.operator();
        let mut created = serde_json::to_value(logger("audit")).unwrap();
        created["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        cluster.create::<Logger>(&serde_json::from_value(created).unwrap()).await;
        cluster.wait_for_condition("audit", PROGRESSING, "True", "RollingOut").await;
        cluster.settle().await;
        let writes = cluster.writes();
        for round in ["1", "2"] {
            let before = operator.reconciliations();
            cluster.patch::<Logger>("audit", json!({"metadata": {"annotations": {"round": round}}})).await;
            cluster.settle().await;
            assert!(operator.reconciliations() > before);
        }
        assert_eq!(cluster.writes(), writes, "{spec}");
        operator.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_of_agents_of_nodes_is_rejected() {
    let cluster = Cluster::new();
    let spec = json!({"placement": "PerNode", "storage": {"volumeClaim": {"size": "1Gi"}}});
    cluster.create(&logger("audit")).await;
    let patch = Patch::Merge(json!({"spec": spec}));
    let error = cluster.api::<Logger>().patch("audit", &PatchParams::default(), &patch).await.unwrap_err();
    assert!(error.to_string().contains("a volume claim needs the placement Spread"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_logger_with_peers_has_a_network_policy() {
    let cluster = Cluster::new();
    let operator = cluster.operator();
    cluster.create(&logger("audit")).await;
    cluster.wait_for_workload(LoggerWorkload::Deployment).await;
    assert!(!cluster.exists::<NetworkPolicy>().await, "the address of the API server is not known");

    cluster.change(json!({"source": {"from": [{"podSelector": {"matchLabels": {"app": "shop"}}}]}})).await;
    let policy = cluster.wait::<NetworkPolicy>(&child("audit"), |child| child.is_some()).await.unwrap();
    let rule = &policy.spec.unwrap().ingress.unwrap()[0];
    assert_eq!(rule.from.as_ref().unwrap().len(), 2, "the peer, and the operator");

    cluster.change(json!({"source": null})).await;
    cluster.wait::<NetworkPolicy>(&child("audit"), |child| child.is_none()).await;
    operator.stop().await;
}
