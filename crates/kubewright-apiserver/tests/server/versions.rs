//! Kinds with several versions: stored in one and read in any.

use futures::StreamExt;
use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

/// Returns the definition of Widgets in two versions, each with a dedicated field that has a default; v1 is stored.
fn two_version_definition() -> Value {
    let mut definition = widget_definition();
    let version = |name: &str| {
        let properties = json!({ "shared": { "type": "string" }, name: { "type": "string", "default": name } });
        let spec = json!({ "type": "object", "properties": properties });
        let schema = json!({ "type": "object", "properties": { "spec": spec } });
        json!({ "name": name, "served": true, "storage": name == "v1", "schema": { "openAPIV3Schema": schema } })
    };
    definition["spec"]["versions"] = json!([version("v1"), version("v2")]);
    definition
}

fn widgets_in(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", version, "Widget"));
    Api::default_namespaced_with(client.clone(), &kind)
}

async fn spec(api: &Api<DynamicObject>) -> Value {
    api.get("a").await.unwrap().data["spec"].take()
}

#[tokio::test]
async fn an_object_is_stored_in_the_storage_version() {
    let client = ApiServer::new().client();
    create_definition(&client, two_version_definition()).await;
    let second = widgets_in(&client, "v2");
    let mut made = widget_with("a", json!({ "shared": "x", "v2": "mine" }));
    made.types = Some(kube::core::TypeMeta { api_version: "example.com/v2".into(), kind: "Widget".into() });
    assert_eq!(create(&second, &made).await.data["spec"], json!({ "shared": "x" }));
    assert_eq!(spec(&widgets_in(&client, "v1")).await, json!({ "shared": "x", "v1": "v1" }));
}

#[tokio::test]
async fn an_object_is_defaulted_by_its_stored_schema_and_pruned_by_the_requested_one() {
    let client = ApiServer::new().client();
    create_definition(&client, two_version_definition()).await;
    let (first, second) = (widgets_in(&client, "v1"), widgets_in(&client, "v2"));
    create(&first, &widget_with("a", json!({ "shared": "x" }))).await;
    assert_eq!(spec(&second).await, json!({ "shared": "x" }));

    let late = json!([{
        "op": "add",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/late",
        "value": { "type": "integer", "default": 7 },
    }]);
    let patch = Patch::Json::<()>(serde_json::from_value(late).unwrap());
    definitions(&client).patch("widgets.example.com", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(spec(&first).await, json!({ "shared": "x", "v1": "v1", "late": 7 }));
    assert_eq!(spec(&second).await, json!({ "shared": "x" }));
}

#[tokio::test]
async fn reads_do_not_change_the_stored_object() {
    let client = ApiServer::new().client();
    create_definition(&client, two_version_definition()).await;
    let (first, second) = (widgets_in(&client, "v1"), widgets_in(&client, "v2"));
    let made = create(&first, &widget_with("a", json!({ "v1": "mine" }))).await;
    assert_eq!(version(&second.get("a").await.unwrap()), version(&made));
    second.list(&Default::default()).await.unwrap();
    assert_eq!(first.get("a").await.unwrap(), made);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_its_definition_changes() {
    let client = ApiServer::new().client();
    create_definition(&client, two_version_definition()).await;
    let (first, definitions) = (widgets_in(&client, "v1"), definitions(&client));
    let change = async |patch: Value| {
        definitions.patch("widgets.example.com", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    };
    let mut watch = first.watch(&WatchParams::default().disable_bookmarks().timeout(290), "0").await.unwrap().boxed();
    change(json!({ "metadata": { "labels": { "l": "x" } } })).await;
    create(&first, &widget_with("a", json!({}))).await;
    let event = watch.next().await;
    assert!(matches!(event, Some(Ok(WatchEvent::Added(_)))), "{event:?}");
    let before = tokio::time::Instant::now();
    change(json!({ "spec": { "names": { "categories": ["toys"] } } })).await;
    assert!(watch.next().await.is_none());
    assert_eq!(before.elapsed(), std::time::Duration::ZERO);
}
