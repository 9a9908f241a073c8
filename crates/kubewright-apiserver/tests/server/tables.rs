//! Tables, as kubectl requests them.

use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::{create, create_definition, object, widget_definition, widget_with, widgets};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

async fn get(client: &kube::Client, accept: &str, path: &str) -> (u16, String) {
    let request = http::Request::get(path).header(http::header::ACCEPT, accept);
    let response = client.send(request.body(kube::client::Body::empty()).unwrap()).await.unwrap();
    let code = response.status().as_u16();
    let body = response.into_body().collect_bytes().await.unwrap();
    (code, String::from_utf8(body.to_vec()).unwrap())
}

async fn table(client: &kube::Client, path: &str) -> Value {
    let (code, body) = get(client, TABLE, path).await;
    assert_eq!(code, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

fn cells(table: &Value, row: usize) -> Value {
    table["rows"][row]["cells"].clone()
}

#[tokio::test(start_paused = true)]
async fn custom_columns_show_typed_values_of_their_paths() {
    let client = ApiServer::new().client();
    let mut definition = widget_definition();
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = json!([
        { "name": "Time", "type": "integer", "jsonPath": ".spec.timeInterval", "priority": 1, "description": "how often" },
        { "name": "First", "type": "string", "jsonPath": ".spec.tags[0]" },
        { "name": "Map", "type": "string", "jsonPath": ".spec.labels" },
        { "name": "On", "type": "boolean", "jsonPath": ".spec.on" },
        { "name": "Wrong", "type": "integer", "jsonPath": ".spec.name" },
        { "name": "Late", "type": "date", "jsonPath": ".spec.name" },
    ]);
    create_definition(&client, definition).await;
    let spec = json!({ "name": "x", "tags": ["red"], "labels": { "a": "<b>" }, "on": true });
    create(&widgets(&client), &widget_with("a", spec)).await;
    let table = table(&client, "/apis/example.com/v1/namespaces/default/widgets").await;
    assert_eq!(cells(&table, 0), json!(["a", 5, "red", "{\"a\":\"\\u003cb\\u003e\"}", true, null, "<invalid>"]));
    let column = &table["columnDefinitions"][1];
    assert_eq!(
        *column,
        json!({ "name": "Time", "type": "integer", "format": "", "description": "how often", "priority": 1 })
    );
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
}

#[tokio::test(start_paused = true)]
async fn include_object_selects_the_object_of_a_row() {
    let client = crate::support::client().await;
    create(&widgets(&client), &widget_with("a", json!({ "name": "x" }))).await;
    let path = "/apis/example.com/v1/namespaces/default/widgets";
    let whole = table(&client, &format!("{path}?includeObject=Object")).await;
    assert_eq!(whole["rows"][0]["object"]["spec"]["name"], "x");
    let none = table(&client, &format!("{path}?includeObject=None")).await;
    assert_eq!(none["rows"][0], json!({ "cells": ["a", "0s"], "object": null }));
    assert_eq!(get(&client, TABLE, &format!("{path}?includeObject=Some")).await.0, 400);
}

#[tokio::test(start_paused = true)]
async fn pods_show_the_state_of_their_containers() {
    let server = ApiServer::new();
    let status = json!({
        "phase": "Running", "podIPs": [{ "ip": "10.1.2.3" }],
        "containerStatuses": [
            { "name": "a", "ready": true, "restartCount": 2, "state": { "running": {} }, "image": "", "imageID": "" },
            { "name": "b", "ready": false, "restartCount": 1, "state": { "waiting": { "reason": "CrashLoopBackOff" } },
              "image": "", "imageID": "" },
        ],
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "default" },
        "spec": { "nodeName": "n", "containers": [{ "name": "a", "image": "i" }, { "name": "b", "image": "i" }] },
        "status": status,
    });
    server.load(&object(pod)).unwrap();
    let table = table(&server.client(), "/api/v1/namespaces/default/pods/p").await;
    let shown = cells(&table, 0);
    assert_eq!(shown.as_array().unwrap()[..4], [json!("p"), json!("1/2"), json!("CrashLoopBackOff"), json!("3")]);
    assert_eq!(shown.as_array().unwrap()[5..], [json!("10.1.2.3"), json!("n"), json!("<none>"), json!("<none>")]);
}

#[tokio::test(start_paused = true)]
async fn kinds_without_columns_show_their_creation_time() {
    let client = ApiServer::new().client();
    create_definition(&client, widget_definition()).await;
    let table = table(&client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions").await;
    assert_eq!(table["columnDefinitions"][1]["name"], "Created At");
    assert_eq!(cells(&table, 0)[0], "widgets.example.com");
}

#[tokio::test(start_paused = true)]
async fn a_watch_sends_column_definitions_once() {
    let client = crate::support::client().await;
    create(&widgets(&client), &widget_with("a", json!({ "name": "x" }))).await;
    let query =
        "watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let path = format!("/apis/example.com/v1/namespaces/default/widgets?includeObject=None&{query}");
    let (_, body) = get(&client, TABLE, &path).await;
    let events: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["object"]["columnDefinitions"][0]["name"], "Name");
    assert_eq!((&events[1]["type"], &events[1]["object"]["columnDefinitions"]), (&json!("BOOKMARK"), &Value::Null));
    let end = &events[1]["object"]["rows"][0];
    assert_eq!(end["cells"], json!(["", null]));
    assert_eq!(end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
}

#[tokio::test(start_paused = true)]
async fn a_list_cannot_be_requested_as_the_metadata_of_one_object() {
    let client = crate::support::client().await;
    let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let (code, body) = get(&client, accept, "/api/v1/namespaces/default/configmaps").await;
    assert_eq!(code, 406);
    assert!(
        body.contains("you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)"),
        "{body}"
    );
}
