//! Each entry of *Not implemented* in the documentation of the crate has a check here, which fails when the entry is no
//! longer true.

use kube::Client;
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::raw;

const DOCUMENTATION: &str = include_str!("../../src/lib.rs");
const PODS: &str = "/api/v1/namespaces/default/pods";
const REGISTRATIONS: &str = "/apis/admissionregistration.k8s.io/v1";

/// The checks below, in the order of the entries, by the first words of these.
const CHECKED: [&str; 13] = [
    "Kinds and paths:",
    "Controllers other than",
    "Services: cluster IPs",
    "Aggregated API servers",
    "Certificates are not parsed",
    "Validation beyond the schemas",
    "Duplicate fields:",
    "OpenAPI version 2:",
    "Updates of existing pods",
    "Admission policies are evaluated, except",
    "Times are returned as",
    "Kubelets:",
    "Subresources other than",
];

fn client() -> Client {
    ApiServer::new().client()
}

/// Creates an object, which the server accepts.
async fn create(client: &Client, path: &str, body: Value) {
    let (code, response) = raw(client, "POST", path, "application/json", &body.to_string()).await;
    assert_eq!(code, 201, "{path}: {response}");
}

async fn get(client: &Client, path: &str) -> (u16, Value) {
    let (code, response) = raw(client, "GET", path, "application/json", "").await;
    (code, serde_json::from_str(&response).unwrap_or_default())
}

async fn create_pod(client: &Client, mut spec: Value) {
    spec["containers"] = json!([{ "name": "c", "image": "i" }]);
    create(client, PODS, json!({ "metadata": { "name": "a" }, "spec": spec })).await;
}

#[test]
fn every_entry_has_a_check() {
    let section = DOCUMENTATION.split("//! # Not implemented\n").nth(1).unwrap().split("//! # ").next().unwrap();
    let entries: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("//! - ")).collect();
    assert_eq!(entries.len(), CHECKED.len(), "{entries:#?}");
    for (entry, checked) in entries.into_iter().zip(CHECKED) {
        assert!(entry.starts_with(checked), "`{entry}` is not `{checked}`");
    }
}

#[tokio::test]
async fn some_kinds_and_paths_are_not_served() {
    let client = client();
    let groups = ["/apis/flowcontrol.apiserver.k8s.io/v1", "/apis/autoscaling/v1"];
    for path in ["/api/v1/componentstatuses", "/metrics"].into_iter().chain(groups) {
        assert_eq!(get(&client, path).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn a_deployment_has_no_pods() {
    let client = client();
    let template =
        json!({ "metadata": { "labels": { "l": "x" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } });
    let spec = json!({ "selector": { "matchLabels": { "l": "x" } }, "template": template });
    let deployment = json!({ "metadata": { "name": "a" }, "spec": spec });
    create(&client, "/apis/apps/v1/namespaces/default/deployments", deployment).await;
    assert_eq!(get(&client, PODS).await.1["items"], json!([]));
}

#[tokio::test]
async fn a_service_has_no_address_object() {
    let client = client();
    let service = json!({ "metadata": { "name": "a" }, "spec": { "ports": [{ "port": 80 }] } });
    create(&client, "/api/v1/namespaces/default/services", service).await;
    for resource in ["ipaddresses", "servicecidrs"] {
        assert_eq!(get(&client, &format!("/apis/networking.k8s.io/v1/{resource}")).await.1["items"], json!([]));
    }
}

#[tokio::test]
async fn the_version_of_an_aggregated_server_is_not_served() {
    const PATH: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
    let client = client();
    assert_eq!(get(&client, PATH).await.1["items"], json!([]));
    let spec = json!({
        "group": "metrics.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
        "insecureSkipTLSVerify": true, "service": { "namespace": "default", "name": "metrics" },
    });
    let service = json!({ "metadata": { "name": "v1.metrics.example.com" }, "spec": spec });
    create(&client, PATH, service).await;
    assert_eq!(get(&client, "/apis/metrics.example.com/v1").await.0, 404);
}

#[tokio::test]
async fn a_request_without_a_certificate_is_accepted() {
    let spec = json!({ "request": "Yg==", "signerName": "signer", "usages": ["any text"] });
    let request = json!({ "metadata": { "name": "a" }, "spec": spec });
    create(&client(), "/apis/certificates.k8s.io/v1/certificatesigningrequests", request).await;
}

#[tokio::test]
async fn a_topology_spread_without_a_skew_is_accepted() {
    let spread = json!({ "maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule" });
    create_pod(&client(), json!({ "topologySpreadConstraints": [spread] })).await;
}

#[tokio::test]
async fn duplicate_fields_are_accepted() {
    let client = client();
    let path = "/api/v1/namespaces/default/configmaps?fieldValidation=Strict";
    let body = r#"{ "metadata": { "name": "a" }, "data": { "k": "1", "k": "2" } }"#;
    let (code, response) = raw(&client, "POST", path, "application/json", body).await;
    assert!(code == 201 && response.contains(r#""k":"2""#), "{code} {response}");
}

#[tokio::test]
async fn version_2_of_openapi_has_no_kinds() {
    let (code, document) = get(&client(), "/openapi/v2").await;
    assert_eq!((code, &document["swagger"], &document["paths"]), (200, &json!("2.0"), &json!({})));
    assert!(document["definitions"].is_null(), "{document}");
}

#[tokio::test]
async fn the_error_of_a_changed_pod_does_not_show_the_difference() {
    let client = client();
    create_pod(&client, json!({})).await;
    let patch = json!({ "spec": { "hostNetwork": true } }).to_string();
    let (code, response) = raw(&client, "PATCH", &format!("{PODS}/a"), "application/merge-patch+json", &patch).await;
    assert_eq!(code, 422, "{response}");
    assert!(!response.contains("PodSpec{"), "{response}");
}

#[tokio::test]
async fn policies_do_not_apply_to_evictions() {
    let client = client();
    let rule = json!({
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"],
    });
    let spec = json!({
        "matchConstraints": { "resourceRules": [rule] },
        "validations": [{ "expression": "false" }],
    });
    let policy = json!({ "metadata": { "name": "a" }, "spec": spec });
    create(&client, &format!("{REGISTRATIONS}/validatingadmissionpolicies"), policy).await;
    let binding = json!({ "metadata": { "name": "a" }, "spec": { "policyName": "a", "validationActions": ["Deny"] } });
    create(&client, &format!("{REGISTRATIONS}/validatingadmissionpolicybindings"), binding).await;
    create_pod(&client, json!({})).await;
    let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": "a" } });
    create(&client, &format!("{PODS}/a/eviction"), eviction).await;
}

#[tokio::test]
async fn times_are_returned_as_they_were_written() {
    let client = client();
    create_pod(&client, json!({})).await;
    let condition = json!({ "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05.000Z" });
    let patch = json!({ "status": { "conditions": [condition] } }).to_string();
    let path = format!("{PODS}/a/status");
    let (code, response) = raw(&client, "PATCH", &path, "application/merge-patch+json", &patch).await;
    assert_eq!(code, 200, "{response}");
    assert!(response.contains("2026-01-02T03:04:05.000Z"), "{response}");
}

#[tokio::test]
async fn a_deleted_pod_of_a_node_remains() {
    let client = client();
    create_pod(&client, json!({ "nodeName": "n" })).await;
    let (code, response) = raw(&client, "DELETE", &format!("{PODS}/a"), "application/json", "").await;
    assert_eq!(code, 200, "{response}");
    assert_eq!(get(&client, &format!("{PODS}/a")).await.0, 200);
}

#[tokio::test]
async fn a_pod_has_neither_logs_in_process_nor_resizes() {
    let client = client();
    create_pod(&client, json!({ "nodeName": "n" })).await;
    for subresource in ["log", "resize"] {
        assert_eq!(get(&client, &format!("{PODS}/a/{subresource}")).await.0, 404, "{subresource}");
    }
}
