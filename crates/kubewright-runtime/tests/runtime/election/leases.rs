//! Leases of other clients, and leases that the API server rejects.

use std::time::Duration;

use kube::api::PostParams;
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use kubewright_runtime::leader_election::LeaderElectionError;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::fixture::{LEASE, OnCancel, Running, SECOND, config, leases, spec};

const END: OnCancel = OnCancel::EndAfter(Duration::ZERO);

async fn create(server: &ApiServer, spec: Value) {
    let lease = json!({ "metadata": { "name": LEASE }, "spec": spec });
    let lease = serde_json::from_value(lease).unwrap();
    leases(server).create(&PostParams::default(), &lease).await.unwrap();
}

/// Runs an elector whose requests fail in this way, and returns the error with the time until then.
async fn rejected(requests: impl Into<Requests>, fault: Fault) -> (LeaderElectionError, Duration) {
    let (server, faults) = (ApiServer::new(), Faults::new());
    faults.always(requests, fault);
    let began = Instant::now();
    let error = Running::start_with(&server, config("a"), faults, END).result().await.unwrap_err();
    (error, began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_lease_without_a_spec_or_holder_is_acquired() {
    for spec in [json!({}), json!({ "leaseDurationSeconds": 3600 }), json!({ "holderIdentity": "" }), Value::Null] {
        let server = ApiServer::new();
        create(&server, spec).await;
        let began = Instant::now();
        Running::start(&server, "a").wait_until_leading().await;
        assert!(began.elapsed() < SECOND);
        let spec = self::spec(&server).await;
        assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("a"), Some(1)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_holder_without_a_duration_and_times_is_respected_for_the_own_duration() {
    let server = ApiServer::new();
    create(&server, json!({ "holderIdentity": "b" })).await;
    let began = Instant::now();
    Running::start(&server, "a").wait_until_leading().await;
    assert!(began.elapsed() >= 15 * SECOND && began.elapsed() < 16 * SECOND, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_lease_has_the_labels_and_the_namespace_of_the_options() {
    let server = ApiServer::new();
    let options = config("a").namespace("kube-system").label("app", "operator");
    let mut elector = Running::start_with(&server, options, Faults::new(), END);
    elector.wait_until_leading().await;
    let api = kube::Api::<k8s_openapi::api::coordination::v1::Lease>::namespaced(server.client(), "kube-system");
    let labels = api.get(LEASE).await.unwrap().metadata.labels.unwrap();
    assert_eq!(labels["app"], "operator");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_cannot_be_decoded_is_reported() {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": LEASE },
        "spec": { "holderIdentity": "b", "renewTime": "yesterday" },
    });
    let (error, waited) = rejected(Verb::Get, Fault::answer(200, lease.to_string())).await;
    assert!(matches!(error, LeaderElectionError::Rejected { .. }));
    let text = error.to_string();
    assert!(text.starts_with("leader election by lease `default/lease` failed for 1"), "{text}");
    assert!(
        text.contains("cannot get leases.coordination.k8s.io `lease`: ") && text.contains("failed to parse"),
        "{text}"
    );
    assert!(waited >= 10 * SECOND && waited < 20 * SECOND, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_missing_permission_is_reported_with_its_verb_and_resource() {
    for (verb, name) in [(Verb::Get, "get"), (Verb::Create, "create")] {
        let message = "leases.coordination.k8s.io is forbidden";
        let (error, waited) = rejected(verb, Fault::status(403, "Forbidden", message)).await;
        let text = error.to_string();
        assert!(text.contains(&format!("cannot {name} leases.coordination.k8s.io `lease`: {message}")), "{text}");
        let command = format!("kubectl auth can-i {name} leases.coordination.k8s.io --namespace default");
        assert!(text.contains(&command), "{text}");
        assert!(waited >= 10 * SECOND && waited < 20 * SECOND, "{waited:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_namespace_is_reported() {
    let server = ApiServer::new();
    let elector = Running::start_with(&server, config("a").namespace("missing"), Faults::new(), END);
    let text = elector.result().await.unwrap_err().to_string();
    assert!(text.contains("namespaces \"missing\" not found; create the namespace"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_is_granted_during_the_start_is_sufficient() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let missing = faults.always(Requests::all(), Fault::status(403, "Forbidden", "not yet"));
    let mut elector = Running::start_with(&server, config("a"), faults, END);
    tokio::time::sleep(8 * SECOND).await;
    missing.heal();
    elector.wait_until_leading().await;
}

#[tokio::test(start_paused = true)]
async fn failures_of_the_server_are_retried_for_ever() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let outage = faults.always(Requests::all(), Fault::status(503, "ServiceUnavailable", "starting"));
    let mut elector = Running::start_with(&server, config("a"), faults, END);
    tokio::time::sleep(3600 * SECOND).await;
    outage.heal();
    elector.wait_until_leading().await;
}
