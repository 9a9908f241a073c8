//! Limit ranges and resource quotas.

use kube::Client;
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::raw;

const CORE: &str = "/api/v1/namespaces/default";

async fn send(client: &Client, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let content_type = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (code, body) = raw(client, method, &format!("{CORE}/{path}"), content_type, &body).await;
    (code, serde_json::from_str(&body).unwrap())
}

/// Creates an object, and returns the code and the message or the object.
async fn create(client: &Client, plural: &str, name: &str, mut body: Value) -> (u16, Value) {
    body["metadata"] = json!({ "name": name });
    send(client, "POST", plural, &body).await
}

fn pod(resources: Value) -> Value {
    json!({ "spec": { "containers": [{ "name": "c", "image": "i", "resources": resources }] } })
}

/// Returns the usage of the quota `q`.
async fn used(client: &Client) -> Value {
    send(client, "GET", "resourcequotas/q", &Value::Null).await.1["status"]["used"].clone()
}

#[tokio::test]
async fn a_quota_limits_what_a_namespace_uses() {
    let client = ApiServer::new().client();
    let hard = json!({ "pods": "1", "requests.cpu": "1", "count/configmaps": "1", "services.nodeports": "0" });
    create(&client, "resourcequotas", "q", json!({ "spec": { "hard": hard } })).await;
    let none = json!({ "pods": "0", "requests.cpu": "0", "count/configmaps": "0", "services.nodeports": "0" });
    assert_eq!(used(&client).await, none);
    let (code, status) = create(&client, "pods", "a", pod(json!({}))).await;
    let expected = "pods \"a\" is forbidden: failed quota: q: must specify requests.cpu for: c";
    assert_eq!((code, status["message"].as_str()), (403, Some(expected)));
    let half = || pod(json!({ "requests": { "cpu": "500m" } }));
    assert_eq!(create(&client, "pods", "a", half()).await.0, 201);
    assert_eq!(used(&client).await["requests.cpu"], "500m");
    let (code, status) = create(&client, "pods", "b", half()).await;
    let expected = "pods \"b\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1";
    assert_eq!((code, status["message"].as_str()), (403, Some(expected)));
    assert_eq!(send(&client, "DELETE", "pods/a", &Value::Null).await.0, 200);
    assert_eq!(used(&client).await, none);
    assert_eq!(create(&client, "pods", "b", half()).await.0, 201);
}

#[tokio::test]
async fn updates_and_terminated_pods_change_the_usage() {
    let client = ApiServer::new().client();
    let hard = json!({ "pods": "1", "services.nodeports": "1" });
    create(&client, "resourcequotas", "q", json!({ "spec": { "hard": hard } })).await;
    assert_eq!(create(&client, "pods", "a", pod(json!({}))).await.0, 201);
    assert_eq!(send(&client, "PATCH", "pods/a/status", &json!({ "status": { "phase": "Failed" } })).await.0, 200);
    assert_eq!(used(&client).await["pods"], "0");
    let service = json!({ "spec": { "ports": [{ "name": "a", "port": 80 }, { "name": "b", "port": 81 }] } });
    assert_eq!(create(&client, "services", "s", service).await.0, 201);
    let (code, status) = send(&client, "PATCH", "services/s", &json!({ "spec": { "type": "NodePort" } })).await;
    let message = status["message"].as_str().unwrap_or_default();
    assert!(
        code == 403 && message.contains("requested: services.nodeports=2, used: services.nodeports=0"),
        "{message}"
    );
}

#[tokio::test]
async fn dry_runs_are_limited_and_not_counted() {
    let client = ApiServer::new().client();
    create(&client, "resourcequotas", "q", json!({ "spec": { "hard": { "count/secrets": "1" } } })).await;
    assert_eq!(create(&client, "secrets?dryRun=All", "a", json!({})).await.0, 201);
    assert_eq!(used(&client).await, json!({ "count/secrets": "0" }));
    assert_eq!(create(&client, "secrets", "a", json!({})).await.0, 201);
    assert_eq!(create(&client, "secrets?dryRun=All", "b", json!({})).await.0, 403);
}

#[tokio::test]
async fn without_controllers_a_quota_limits_what_its_status_declares() {
    let client = ApiServer::builder().collects_garbage(false).build().client();
    create(&client, "resourcequotas", "q", json!({ "spec": { "hard": { "secrets": "0" } } })).await;
    assert_eq!(create(&client, "secrets", "a", json!({})).await.0, 201);
    let status = json!({ "status": { "hard": { "secrets": "1" } } });
    assert_eq!(send(&client, "PATCH", "resourcequotas/q/status", &status).await.0, 200);
    let (code, answer) = create(&client, "secrets", "b", json!({})).await;
    let expected = "secrets \"b\" is forbidden: status unknown for quota: q, resources: secrets";
    assert_eq!((code, answer["message"].as_str()), (403, Some(expected)));
    let status = json!({ "status": { "used": { "secrets": "0" } } });
    assert_eq!(send(&client, "PATCH", "resourcequotas/q/status", &status).await.0, 200);
    assert_eq!(create(&client, "secrets", "b", json!({})).await.0, 201);
    assert_eq!(used(&client).await, json!({ "secrets": "1" }));
}
