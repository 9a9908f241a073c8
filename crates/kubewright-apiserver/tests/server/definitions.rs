//! Watches of definitions and of their kinds. Other tests are in the topic `definitions` of the conformance suite.

use futures::StreamExt;
use kube::{
    ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_watch_delivers_the_steps_of_the_deletion_of_a_definition() {
    let client = client().await;
    let api = definitions(&client);
    let version = api.get("widgets.example.com").await.unwrap().resource_version().unwrap();
    api.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    let watch = api.watch(&WatchParams::default().disable_bookmarks().timeout(1), &version).await.unwrap();
    let terminating = |definition: &DynamicObject| {
        let conditions = definition.data["status"]["conditions"].as_array().into_iter().flatten();
        let found = conditions.into_iter().find(|condition| condition["type"] == "Terminating");
        let reason = found.and_then(|condition| condition["reason"].as_str()).unwrap_or_default();
        format!("{reason} {:?}", definition.finalizers())
    };
    let seen: Vec<String> = watch
        .map(|event| match event.unwrap() {
            WatchEvent::Modified(object) => format!("MODIFIED {}", terminating(&object)),
            WatchEvent::Deleted(object) => format!("DELETED {}", terminating(&object)),
            other => format!("{other:?}"),
        })
        .collect()
        .await;
    let cleanup = "[\"customresourcecleanup.apiextensions.k8s.io\"]";
    let expected = [
        format!("MODIFIED InstanceDeletionPending {cleanup}"),
        format!("MODIFIED InstanceDeletionInProgress {cleanup}"),
        format!("DELETED InstanceDeletionInProgress {cleanup}"),
    ];
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_watch_delivers_the_deletions_of_its_definition_and_ends() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let mut held = widget("b");
    held.metadata.finalizers = Some(vec!["example.com/f".into()]);
    let version = create(&api, &held).await.resource_version().unwrap();
    let watch = api.watch(&WatchParams::default().disable_bookmarks().timeout(290), &version).await.unwrap();
    definitions(&client).delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    let release = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    api.patch("b", &PatchParams::default(), &release).await.unwrap();
    let before = tokio::time::Instant::now();
    let seen: Vec<String> = watch
        .map(|event| match event.unwrap() {
            WatchEvent::Modified(object) => format!("MODIFIED {}", object.name_any()),
            WatchEvent::Deleted(object) => format!("DELETED {}", object.name_any()),
            other => format!("{other:?}"),
        })
        .collect()
        .await;
    assert_eq!(seen, ["DELETED a", "MODIFIED b", "DELETED b"]);
    assert_eq!(before.elapsed(), std::time::Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_its_definition_changes() {
    let client = client().await;
    let (api, definitions) = (widgets(&client), definitions(&client));
    let change = async |patch: Value| {
        definitions.patch("widgets.example.com", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    };
    let mut watch = api.watch(&WatchParams::default().disable_bookmarks().timeout(290), "0").await.unwrap().boxed();
    change(json!({ "metadata": { "labels": { "l": "x" } } })).await;
    create(&api, &widget("a")).await;
    let event = watch.next().await;
    assert!(matches!(event, Some(Ok(WatchEvent::Added(_)))), "{event:?}");
    let before = tokio::time::Instant::now();
    change(json!({ "spec": { "names": { "categories": ["toys"] } } })).await;
    assert!(watch.next().await.is_none());
    assert_eq!(before.elapsed(), std::time::Duration::ZERO);
}
