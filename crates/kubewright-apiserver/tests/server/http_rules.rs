//! Paths, methods, bodies and discovery.

use kube::{Discovery, discovery::Scope};
use serde_json::Value;

use crate::support::*;

const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

#[tokio::test]
async fn a_malformed_body_is_a_bad_request() {
    let client = client().await;
    for body in ["{bad", "[]", "", r#"{"spec":{"name":"\ud800"}}"#] {
        let (code, body) = raw(&client, "POST", WIDGETS, "application/json", body).await;
        assert_eq!(code, 400);
        assert!(body.contains("the object provided is unrecognized (must be of type Widget)"), "{body}");
    }
}

#[tokio::test]
async fn a_body_that_is_neither_json_nor_yaml_is_an_unsupported_media_type() {
    let (code, body) = raw(&client().await, "POST", WIDGETS, "text/xml", "<widget/>").await;
    assert_eq!(code, 415);
    assert!(body.contains("the body of the request was in an unknown format"), "{body}");
}

#[tokio::test]
async fn a_wrong_method_is_rejected() {
    let client = client().await;
    for (method, path) in
        [("POST", "/version"), ("DELETE", "/api/v1/namespaces"), ("POST", "/api/v1/namespaces/x"), ("OPTIONS", WIDGETS)]
    {
        let (code, body) = raw(&client, method, path, "application/json", "{}").await;
        assert_eq!(code, 405, "{method} {path}");
        assert!(body.contains("\"reason\":\"MethodNotAllowed\""), "{body}");
    }
    let (code, body) = raw(&client, "DELETE", &format!("{WIDGETS}/a/status"), "application/json", "").await;
    assert_eq!(code, 405);
    assert!(body.contains(r#"delete is not supported on resources of kind \"widgets.example.com\""#), "{body}");
    assert_eq!(raw(&client, "PUT", WIDGETS, "application/json", "{}").await.0, 400);
    assert_eq!(raw(&client, "POST", "/apis/example.com/v1/widgets", "application/json", "{}").await.0, 404);
}

#[tokio::test]
async fn health_is_ok() {
    let client = client().await;
    for path in ["/healthz", "/readyz", "/livez"] {
        assert_eq!(raw(&client, "GET", path, "", "").await, (200, "ok".into()));
    }
}

#[tokio::test]
async fn discovery_lists_served_resources() {
    let client = client().await;
    assert_eq!(client.apiserver_version().await.unwrap().minor, "36");
    let discovery = Discovery::new(client.clone()).run().await.unwrap();
    let (kind, capabilities) = discovery.get("example.com").unwrap().recommended_kind("Widget").unwrap();
    assert_eq!((kind.plural.as_str(), &capabilities.scope), ("widgets", &Scope::Namespaced));
    assert!(capabilities.supports_operation("watch"));
    assert_eq!(capabilities.subresources.len(), 1);
    let (_, group) = raw(&client, "GET", "/apis/example.com", "", "").await;
    let group: Value = serde_json::from_str(&group).unwrap();
    assert_eq!(group["preferredVersion"]["groupVersion"], "example.com/v1");
    let core = client.list_core_api_resources("v1").await.unwrap().resources;
    assert!(core.iter().any(|resource| resource.name == "namespaces"));
}
