//! Watches, from the raw stream to kube's watcher.

use std::pin::pin;

use futures::{Stream, StreamExt, TryStreamExt};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind},
    runtime::watcher,
};
use kubewright_apiserver::ApiServer;
use serde_json::json;

use crate::support::*;

/// Returns the events of a watch within a second: the type and the name of the object.
async fn events(api: &Api<DynamicObject>, params: WatchParams, version: &str) -> Vec<String> {
    let stream = api.watch(&params.timeout(1), version).await.unwrap();
    stream.map_ok(|event| describe(&event)).try_collect().await.unwrap()
}

fn describe(event: &WatchEvent<DynamicObject>) -> String {
    match event {
        WatchEvent::Added(object) => format!("ADDED {}", object.name_any()),
        WatchEvent::Modified(object) => format!("MODIFIED {}", object.name_any()),
        WatchEvent::Deleted(object) => format!("DELETED {}", object.name_any()),
        WatchEvent::Bookmark(_) => "BOOKMARK".to_owned(),
        WatchEvent::Error(status) => format!("ERROR {} {} {}", status.code, status.reason, status.message),
    }
}

fn without_bookmarks() -> WatchParams {
    WatchParams::default().disable_bookmarks()
}

async fn label(api: &Api<DynamicObject>, name: &str, value: &str) -> DynamicObject {
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "l": value } } }));
    api.patch(name, &PatchParams::default(), &patch).await.unwrap()
}

async fn delete(api: &Api<DynamicObject>, name: &str) {
    api.delete(name, &DeleteParams::default()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_an_expired_version_receives_an_error_event() {
    let client = client().await;
    let api = widgets(&client);
    let first = create(&api, &widget("a")).await.resource_version().unwrap();
    for round in 0..=1024 {
        label(&api, "a", &round.to_string()).await;
    }
    let seen = events(&api, without_bookmarks(), &first).await;
    let oldest = first.parse::<u64>().unwrap() + 1;
    assert_eq!(seen, [format!("ERROR 410 Expired too old resource version: {first} ({oldest})")]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_behind_the_history_ends() {
    let client = client().await;
    let api = widgets(&client);
    let mut stream = pin!(api.watch(&without_bookmarks(), "0").await.unwrap());
    create(&api, &widget("a")).await;
    assert_eq!(stream.try_next().await.unwrap().map(|event| describe(&event)).as_deref(), Some("ADDED a"));
    for round in 0..=1024 {
        label(&api, "a", &round.to_string()).await;
    }
    assert!(stream.try_next().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_future_version_waits_for_it() {
    let client = client().await;
    let api = widgets(&client);
    let now = version(&create(&api, &widget("a")).await);
    let mut stream = pin!(api.watch(&without_bookmarks(), &(now + 1).to_string()).await.unwrap());
    create(&api, &widget("b")).await;
    create(&api, &widget("c")).await;
    assert_eq!(stream.try_next().await.unwrap().map(|event| describe(&event)).as_deref(), Some("ADDED c"));
}

#[tokio::test(start_paused = true)]
async fn compaction_does_not_affect_running_watches_but_expires_new_ones() {
    let server = ApiServer::new();
    let client = server.client();
    create_definition(&client, widget_definition()).await;
    let api = widgets(&client);
    let first = create(&api, &widget("a")).await;
    let mut running = pin!(api.watch(&without_bookmarks(), &first.resource_version().unwrap()).await.unwrap());
    let last = version(&create(&api, &widget("b")).await);
    server.compact();
    assert_eq!(running.try_next().await.unwrap().map(|event| describe(&event)).as_deref(), Some("ADDED b"));
    let seen = events(&api, without_bookmarks(), &first.resource_version().unwrap()).await;
    assert_eq!(seen, [format!("ERROR 410 Expired too old resource version: {} ({last})", version(&first))]);
    assert_eq!(events(&api, without_bookmarks(), &last.to_string()).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn the_history_size_is_configurable() {
    let client = ApiServer::builder().history(2).build().client();
    create_definition(&client, widget_definition()).await;
    let api = widgets(&client);
    let first = create(&api, &widget("a")).await.resource_version().unwrap();
    create(&api, &widget("b")).await;
    delete(&api, "b").await;
    assert_eq!(events(&api, without_bookmarks(), &first).await, ["ADDED b", "DELETED b"]);
    create(&api, &widget("c")).await;
    assert!(events(&api, without_bookmarks(), &first).await[0].starts_with("ERROR 410 Expired"));
}

#[tokio::test(start_paused = true)]
async fn the_memory_of_the_history_is_bounded() {
    let client = ApiServer::builder().history_bytes(100_000).build().client();
    create_definition(&client, widget_definition()).await;
    let api = widgets(&client);
    let first = create(&api, &widget("a")).await.resource_version().unwrap();
    let mut versions = Vec::new();
    for round in 0..8 {
        let text = round.to_string().repeat(10_000);
        let patch = Patch::Merge(json!({ "metadata": { "annotations": { "text": text } } }));
        versions.push(api.patch("a", &PatchParams::default(), &patch).await.unwrap().resource_version().unwrap());
    }
    assert!(
        events(&api, without_bookmarks(), &first).await[0].starts_with("ERROR 410 Expired too old resource version")
    );
    assert_eq!(events(&api, without_bookmarks(), &versions[6]).await, ["MODIFIED a"]);
}

/// Changes another kind, so that the resource version increases without an event of Widgets.
async fn create_config_map(client: &Client) -> DynamicObject {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    create(&Api::default_namespaced_with(client.clone(), &kind), &DynamicObject::new("other", &kind)).await
}

/// Returns the bookmarks of a watch: the seconds from its start, and the resource versions.
async fn bookmarks(api: &Api<DynamicObject>, timeout: u32, version: &str) -> Vec<(u64, String)> {
    let begin = tokio::time::Instant::now();
    let stream = api.watch(&WatchParams::default().timeout(timeout), version).await.unwrap();
    let bookmark = |event| match event {
        WatchEvent::Bookmark(bookmark) => Some((begin.elapsed().as_secs(), bookmark.metadata.resource_version)),
        _ => None,
    };
    stream.try_filter_map(|event| std::future::ready(Ok(bookmark(event)))).try_collect().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_sent_every_minute_and_two_seconds_before_the_end() {
    let client = client().await;
    let api = widgets(&client);
    let first = create(&api, &widget("a")).await.resource_version().unwrap();
    let latest = create_config_map(&client).await.resource_version().unwrap();
    let expected = |seconds: &[u64]| seconds.iter().map(|second| (*second, latest.clone())).collect::<Vec<_>>();
    assert_eq!(bookmarks(&api, 150, &first).await, expected(&[60, 120, 148]));
    assert_eq!(bookmarks(&api, 3, &first).await, expected(&[1]));
    assert_eq!(bookmarks(&api, 2, &first).await, []);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_sent_without_events() {
    let client = client().await;
    let api = widgets(&client);
    let latest = create(&api, &widget("a")).await.resource_version().unwrap();
    assert_eq!(bookmarks(&api, 70, &latest).await, [(60, latest.clone()), (68, latest)]);
}

#[tokio::test(start_paused = true)]
async fn the_default_watch_timeout_is_between_30_and_60_minutes() {
    let client = client().await;
    let begin = tokio::time::Instant::now();
    let (code, body) = raw(&client, "GET", "/apis/example.com/v1/widgets?watch=1", "", "").await;
    assert_eq!((code, body.as_str()), (200, ""));
    let minutes = begin.elapsed().as_secs() / 60;
    assert!((30..=60).contains(&minutes), "{minutes}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_its_kind() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let stream = api.watch(&without_bookmarks(), "0").await.unwrap();
    definitions(&client).delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    create_definition(&client, widget_definition()).await;
    let seen: Vec<String> = stream.map_ok(|event| describe(&event)).try_collect().await.unwrap();
    assert_eq!(seen, ["ADDED a", "DELETED a"]);
}

async fn next(stream: &mut (impl Stream<Item = watcher::Result<watcher::Event<DynamicObject>>> + Unpin)) -> String {
    match stream.try_next().await.unwrap() {
        Some(watcher::Event::Init) => "init".to_owned(),
        Some(watcher::Event::InitApply(object)) => format!("init {}", object.name_any()),
        Some(watcher::Event::InitDone) => "init done".to_owned(),
        Some(watcher::Event::Apply(object)) => format!("apply {}", object.name_any()),
        Some(watcher::Event::Delete(object)) => format!("delete {}", object.name_any()),
        None => panic!("the watcher ended"),
    }
}

#[tokio::test(start_paused = true)]
async fn kubes_watcher_receives_events_with_either_strategy() {
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let client = client().await;
        let api = widgets(&client);
        create(&api, &widget("a")).await;
        let mut stream = pin!(watcher::watcher(api.clone(), config));
        for expected in ["init", "init a", "init done"] {
            assert_eq!(next(&mut stream).await, expected);
        }
        create(&api, &widget("b")).await;
        label(&api, "a", "x").await;
        delete(&api, "b").await;
        for expected in ["apply b", "apply a", "delete b"] {
            assert_eq!(next(&mut stream).await, expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn kubes_watcher_lists_again_after_its_version_expired() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let mut stream = pin!(watcher::watcher(api.clone(), watcher::Config::default()));
    for expected in ["init", "init a", "init done"] {
        assert_eq!(next(&mut stream).await, expected);
    }
    create(&api, &widget("b")).await;
    for round in 0..=1024 {
        label(&api, "a", &round.to_string()).await;
    }
    let error = loop {
        match stream.next().await {
            Some(Ok(_)) => {}
            Some(Err(error)) => break error,
            None => panic!("the watcher ended"),
        }
    };
    assert!(error.to_string().contains("too old resource version"), "{error}");
    for expected in ["init", "init a", "init b", "init done"] {
        assert_eq!(next(&mut stream).await, expected);
    }
}
