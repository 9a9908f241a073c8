//! Conversion between the versions of a kind by a function, and by a webhook that is called in process.

mod failures;
mod webhooks;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::{Request, Response};
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

const WEBHOOK: &str = "https://converter.example.com/convert";

/// Returns the definition of Widgets in three versions with the field `seconds`, `interval` or `period.seconds`. The
/// first is stored.
fn definition() -> Value {
    let mut definition = widget_definition();
    let integer = || json!({ "type": "integer" });
    let field = |name: &str| match name {
        "v1" => json!({ "seconds": integer() }),
        "v2" => json!({ "interval": { "type": "string" } }),
        _ => json!({ "period": { "type": "object", "properties": { "seconds": integer() } } }),
    };
    let version = |name: &str| {
        let mut properties = field(name);
        properties["replicas"] = integer();
        properties["color"] = json!({ "type": "string" });
        let spec = json!({ "type": "object", "properties": properties });
        let status = json!({ "type": "object", "properties": { "replicas": integer() } });
        let schema = json!({ "type": "object", "properties": { "spec": spec, "status": status } });
        json!({
            "name": name,
            "served": true,
            "storage": name == "v1",
            "schema": { "openAPIV3Schema": schema },
            "subresources": {
                "status": {},
                "scale": { "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas" },
            },
        })
    };
    definition["spec"]["versions"] = json!([version("v1"), version("v2"), version("v3")]);
    let webhook = json!({ "conversionReviewVersions": ["v1"], "clientConfig": { "url": WEBHOOK } });
    definition["spec"]["conversion"] = json!({ "strategy": "Webhook", "webhook": webhook });
    definition
}

/// Converts the interval of a Widget. A negative number of seconds has no other representation.
fn convert(object: &mut Value, api_version: &str) -> Result<(), String> {
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        let seconds = spec.remove("seconds").and_then(|seconds| seconds.as_i64());
        let interval = spec.remove("interval");
        let interval = interval.and_then(|interval| interval.as_str()?.trim_end_matches('s').parse().ok());
        let period = spec.remove("period").and_then(|period| period["seconds"].as_i64());
        match (seconds.or(interval).or(period), api_version) {
            (None, _) => {}
            (Some(seconds), _) if seconds < 0 => return Err(format!("{seconds} seconds are no interval")),
            (Some(seconds), "example.com/v1") => drop(spec.insert("seconds".into(), json!(seconds))),
            (Some(seconds), "example.com/v2") => drop(spec.insert("interval".into(), json!(format!("{seconds}s")))),
            (Some(seconds), _) => drop(spec.insert("period".into(), json!({ "seconds": seconds }))),
        }
    }
    object["apiVersion"] = json!(api_version);
    Ok(())
}

/// Returns the field of the interval in a version.
fn interval(version: &str, seconds: i64) -> Value {
    match version {
        "v1" => json!({ "seconds": seconds }),
        "v2" => json!({ "interval": format!("{seconds}s") }),
        _ => json!({ "period": { "seconds": seconds } }),
    }
}

/// Returns a server whose Widgets are converted by the function.
fn server_with_function() -> ApiServer {
    let server = ApiServer::new();
    server.convert("Widget.example.com", convert);
    server.load(&definition()).unwrap();
    server
}

/// The numbers of objects of the reviews.
type Reviews = Arc<Mutex<Vec<usize>>>;

/// Returns a server whose Widgets are converted by a webhook, and the sizes of its reviews.
fn server_with_webhook() -> (ApiServer, Reviews) {
    let (server, reviews) = (ApiServer::new(), Reviews::default());
    server.load(&definition()).unwrap();
    let seen = Arc::clone(&reviews);
    server.call_webhooks(move |request| {
        let request: Value = serde_json::from_slice(request.body()).unwrap();
        seen.lock().unwrap().push(request["request"]["objects"].as_array().unwrap().len());
        std::future::ready(answer(&converted(&request)))
    });
    (server, reviews)
}

/// Returns the review with the response of the converter.
fn converted(review: &Value) -> Value {
    let request = &review["request"];
    let target = request["desiredAPIVersion"].as_str().unwrap();
    let (mut converted, mut result) = (Vec::new(), json!({ "status": "Success" }));
    for object in request["objects"].as_array().unwrap() {
        let mut object = object.clone();
        match convert(&mut object, target) {
            Ok(()) => converted.push(object),
            Err(error) => result = json!({ "status": "Failed", "message": error }),
        }
    }
    let response = json!({ "uid": request["uid"], "result": result, "convertedObjects": converted });
    json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response })
}

fn answer(review: &Value) -> Response<Bytes> {
    Response::new(review.to_string().into())
}

fn widgets_in(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", version, "Widget"));
    Api::default_namespaced_with(client.clone(), &kind)
}

/// Returns a Widget in a version.
fn widget_in(version: &str, name: &str, spec: Value) -> DynamicObject {
    object(json!({
        "apiVersion": format!("example.com/{version}"),
        "kind": "Widget",
        "metadata": { "name": name },
        "spec": spec,
    }))
}

async fn spec_of(api: &Api<DynamicObject>, name: &str) -> Value {
    api.get(name).await.unwrap().data["spec"].take()
}

const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];

async fn check_reads_and_writes(server: &ApiServer) {
    let client = server.client();
    for (index, version) in (1..).zip(VERSIONS) {
        let created =
            create(&widgets_in(&client, version), &widget_in(version, version, interval(version, index))).await;
        assert_eq!(created.data["spec"], interval(version, index));
        for other in VERSIONS {
            assert_eq!(
                spec_of(&widgets_in(&client, other), version).await,
                interval(other, index),
                "{version} in {other}"
            );
        }
    }
    for version in VERSIONS {
        let api = widgets_in(&client, version);
        let listed = api.list(&ListParams::default()).await.unwrap();
        let listed: Vec<Value> = listed.into_iter().map(|mut widget| widget.data["spec"].take()).collect();
        assert_eq!(listed, [1, 2, 3].map(|seconds| interval(version, seconds)));

        let mut updated = api.get("v1").await.unwrap();
        updated.data["spec"] = interval(version, 7);
        let updated = api.replace("v1", &PostParams::default(), &updated).await.unwrap();
        assert_eq!(updated.data["spec"], interval(version, 7));
        let patch = Patch::Merge(json!({ "spec": interval(version, 1) }));
        let patched = api.patch("v1", &PatchParams::default(), &patch).await.unwrap();
        assert_eq!(patched.data["spec"], interval(version, 1));
    }
    assert_eq!(spec_of(&widgets_in(&client, "v3"), "v1").await, interval("v3", 1));
}

#[tokio::test]
async fn a_function_converts_reads_and_writes() {
    check_reads_and_writes(&server_with_function()).await;
}

#[tokio::test]
async fn a_webhook_converts_reads_and_writes() {
    check_reads_and_writes(&server_with_webhook().0).await;
}

#[tokio::test]
async fn a_function_replaces_the_webhook_of_a_definition_that_exists() {
    let server = ApiServer::new();
    server.load(&definition()).unwrap();
    server.convert("Widget.example.com", convert);
    let client = server.client();
    create(&widgets_in(&client, "v1"), &widget_in("v1", "a", interval("v1", 3))).await;
    assert_eq!(spec_of(&widgets_in(&client, "v2"), "a").await, interval("v2", 3));
}

/// Two managers apply in different versions: each owns its fields in its version.
async fn check_applies(server: &ApiServer) {
    let client = server.client();
    let (first, second) = (widgets_in(&client, "v1"), widgets_in(&client, "v2"));
    let apply = async |api: &Api<DynamicObject>, version: &str, manager: &str, spec: Value| {
        let params = PatchParams::apply(manager);
        api.patch("a", &params, &Patch::Apply(widget_in(version, "a", spec))).await
    };
    apply(&first, "v1", "first", json!({ "seconds": 5 })).await.unwrap();
    let both = apply(&second, "v2", "second", json!({ "color": "red", "interval": "5s" })).await.unwrap();
    assert_eq!(both.data["spec"], json!({ "color": "red", "interval": "5s" }));
    let entries = both.metadata.managed_fields.unwrap();
    let owned = |entry: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry| {
        let fields = entry.fields_v1.as_ref().unwrap().0["f:spec"].clone();
        (entry.manager.clone().unwrap(), entry.api_version.clone().unwrap(), fields)
    };
    let mut owned: Vec<_> = entries.iter().map(owned).collect();
    owned.sort_by(|left, right| left.0.cmp(&right.0));
    let expected = [
        ("first", "example.com/v1", json!({ "f:seconds": {} })),
        ("second", "example.com/v2", json!({ "f:color": {}, "f:interval": {} })),
    ];
    assert_eq!(owned, expected.map(|(manager, version, fields)| (manager.into(), version.into(), fields)));

    let conflict = rejection(apply(&second, "v2", "second", json!({ "color": "red", "interval": "6s" })).await);
    assert_eq!(conflict.0, 409);
    assert!(conflict.2.contains("conflict with \"first\": .spec.seconds"), "{}", conflict.2);
    let dropped = apply(&second, "v2", "second", json!({ "color": "blue" })).await.unwrap();
    assert_eq!(dropped.data["spec"], json!({ "color": "blue", "interval": "5s" }));
    let removed = apply(&first, "v1", "first", json!({})).await.unwrap();
    assert_eq!(removed.data["spec"], json!({ "color": "blue" }));
}

#[tokio::test]
async fn a_function_converts_the_fields_of_managers() {
    check_applies(&server_with_function()).await;
}

#[tokio::test]
async fn a_webhook_converts_the_fields_of_managers() {
    check_applies(&server_with_webhook().0).await;
}

/// `/scale` and `/status` are read and written in versions that are not stored.
async fn check_subresources(server: &ApiServer) {
    let client = server.client();
    let second = widgets_in(&client, "v2");
    create(&second, &widget_in("v2", "a", json!({ "interval": "5s", "replicas": 1 }))).await;
    let replicas = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    let scale = second.patch_scale("a", &PatchParams::default(), &replicas).await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(3));
    let status = Patch::Merge(json!({ "status": { "replicas": 2 } }));
    widgets_in(&client, "v3").patch_status("a", &PatchParams::default(), &status).await.unwrap();
    let stored = widgets_in(&client, "v1").get("a").await.unwrap();
    assert_eq!(stored.data, json!({ "spec": { "seconds": 5, "replicas": 3 }, "status": { "replicas": 2 } }));
    assert_eq!(second.get_scale("a").await.unwrap().status.unwrap().replicas, 2);
}

#[tokio::test]
async fn a_function_converts_for_subresources() {
    check_subresources(&server_with_function()).await;
}

#[tokio::test]
async fn a_webhook_converts_for_subresources() {
    check_subresources(&server_with_webhook().0).await;
}

/// Returns the types and the specs of the events, up to an error.
async fn events(
    watch: impl Stream<Item = kube::Result<WatchEvent<DynamicObject>>>,
    count: usize,
) -> Vec<(String, Value)> {
    let describe = |event: WatchEvent<DynamicObject>| match event {
        WatchEvent::Added(mut object) => ("ADDED".to_owned(), object.data["spec"].take()),
        WatchEvent::Modified(mut object) => ("MODIFIED".to_owned(), object.data["spec"].take()),
        WatchEvent::Deleted(mut object) => ("DELETED".to_owned(), object.data["spec"].take()),
        WatchEvent::Error(status) => ("ERROR".to_owned(), json!(status.message)),
        WatchEvent::Bookmark(_) => ("BOOKMARK".to_owned(), Value::Null),
    };
    watch.take(count).map(|event| describe(event.unwrap())).collect().await
}

async fn check_watches(server: &ApiServer) {
    let client = server.client();
    let (first, second) = (widgets_in(&client, "v1"), widgets_in(&client, "v2"));
    create(&first, &widget_in("v1", "a", interval("v1", 1))).await;
    let initial = second.watch(&WatchParams::default().disable_bookmarks().timeout(100), "0").await.unwrap();
    let selected = WatchParams::default().disable_bookmarks().timeout(100).labels("l=x");
    let selected = second.watch(&selected, "1").await.unwrap();
    for seconds in [2, 3] {
        let patch = json!({ "spec": { "seconds": seconds }, "metadata": { "labels": { "l": "x" } } });
        first.patch("a", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }
    second.delete("a", &DeleteParams::default()).await.unwrap();
    let event = |type_: &str, seconds| (type_.to_owned(), interval("v2", seconds));
    let expected = [event("ADDED", 1), event("MODIFIED", 2), event("MODIFIED", 3), event("DELETED", 3)];
    assert_eq!(events(initial, 4).await, expected);
    assert_eq!(events(selected, 3).await, [event("ADDED", 2), event("MODIFIED", 3), event("DELETED", 3)]);
}

#[tokio::test(start_paused = true)]
async fn a_function_converts_events_in_order() {
    check_watches(&server_with_function()).await;
}

#[tokio::test(start_paused = true)]
async fn a_webhook_converts_events_in_order() {
    check_watches(&server_with_webhook().0).await;
}

async fn check_deletions(server: &ApiServer) {
    let client = server.client();
    let (first, third) = (widgets_in(&client, "v1"), widgets_in(&client, "v3"));
    for name in ["a", "b", "c"] {
        let mut widget = widget_in("v1", name, interval("v1", 4));
        widget.metadata.finalizers = Some(vec!["example.com/hold".to_owned()]);
        create(&first, &widget).await;
    }
    let mut terminating = third.delete("a", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(terminating.data["spec"].take(), interval("v3", 4));
    assert!(terminating.metadata.deletion_timestamp.is_some());
    let deleted = third.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    let deleted: Vec<_> = deleted.left().unwrap().into_iter().map(|widget| widget.metadata.name.unwrap()).collect();
    assert_eq!(deleted, ["a", "b", "c"]);
    for name in ["a", "b", "c"] {
        let removed = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
        third.patch(name, &PatchParams::default(), &removed).await.unwrap();
    }
    assert_eq!(first.list(&ListParams::default()).await.unwrap().items, []);
}

#[tokio::test]
async fn a_function_converts_deleted_objects() {
    check_deletions(&server_with_function()).await;
}

#[tokio::test]
async fn a_webhook_converts_deleted_objects() {
    check_deletions(&server_with_webhook().0).await;
}

/// Returns a request of a webhook as JSON.
fn review_of(request: &Request<Bytes>) -> Value {
    serde_json::from_slice(request.body()).unwrap()
}
