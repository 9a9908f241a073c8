//! Server-side apply beyond the topics `applies` and `managed_fields` of the conformance suite.

use kube::Client;
use serde_json::{Value, json};

use crate::support::*;

const APPLY: &str = "application/apply-patch+yaml";
const PATH: &str = "/apis/example.com/v1/namespaces/default/widgets/a?fieldManager=me";

async fn apply_text(client: &Client, query: &str, body: &str) -> (u16, Value) {
    let (code, answer) = raw(client, "PATCH", &format!("{PATH}{query}"), APPLY, body).await;
    (code, serde_json::from_str(&answer).unwrap())
}

#[tokio::test]
async fn the_last_duplicate_field_wins() {
    let client = client().await;
    let body = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {name: x, name: z}}";
    let (code, made) = apply_text(&client, "", body).await;
    assert_eq!((code, &made["spec"]["name"]), (201, &json!("z")));
}

#[tokio::test]
async fn the_default_field_manager_without_a_user_agent_is_unknown() {
    let client = client().await;
    let made = create(&widgets(&client), &widget("a")).await;
    assert_eq!(made.metadata.managed_fields.unwrap()[0].manager.as_deref(), Some("unknown"));
}

#[tokio::test]
async fn every_field_of_a_wrong_type_is_reported() {
    let client = client().await;
    let body = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {name: 1, tag: x}, other: 1}";
    let (code, status) = apply_text(&client, "", body).await;
    let message = "failed to create typed patch object (/a; example.com/v1, Kind=Widget): errors:\n  \
        .other: field not declared in schema\n  \
        .spec.name: expected string, got &value.valueUnstructured{Value:1}\n  \
        .spec.tag: field not declared in schema";
    assert_eq!((code, status["message"].as_str()), (500, Some(message)));
}
