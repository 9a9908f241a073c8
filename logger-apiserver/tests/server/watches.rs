//! Watches, from the raw stream up to kube's watcher

use std::pin::pin;

use futures::{Stream, StreamExt, TryStreamExt};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
    runtime::watcher,
};
use serde_json::json;

use crate::support::*;

/// The events a watch sent by the time the server has no more for now: what it is and whom it is about.
async fn events(api: &Api<DynamicObject>, params: WatchParams, version: &str) -> Vec<String> {
    let stream = api.watch(&params.timeout(1), version).await.unwrap();
    stream.map_ok(|event| told(&event)).try_collect().await.unwrap()
}

fn told(event: &WatchEvent<DynamicObject>) -> String {
    match event {
        WatchEvent::Added(object) => format!("ADDED {}", object.name_any()),
        WatchEvent::Modified(object) => format!("MODIFIED {}", object.name_any()),
        WatchEvent::Deleted(object) => format!("DELETED {}", object.name_any()),
        WatchEvent::Bookmark(_) => "BOOKMARK".to_owned(),
        WatchEvent::Error(status) => format!("ERROR {} {} {}", status.code, status.reason, status.message),
    }
}

fn quiet() -> WatchParams {
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
async fn a_watch_from_a_list_replays_what_came_after_it_with_deletes() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let listed = api.list(&Default::default()).await.unwrap().metadata.resource_version.unwrap();
    create(&api, &widget("b")).await;
    label(&api, "a", "x").await;
    delete(&api, "b").await;
    assert_eq!(events(&api, quiet(), &listed).await, ["ADDED b", "MODIFIED a", "DELETED b"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_nothing_starts_with_what_exists() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("b")).await;
    create(&api, &widget("a")).await;
    label(&api, "a", "x").await;
    assert_eq!(events(&api, quiet(), "0").await, ["ADDED a", "ADDED b"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_follows() {
    let client = client().await;
    let api = widgets(&client);
    let mut stream = pin!(api.watch(&quiet(), "0").await.unwrap());
    for name in ["a", "b"] {
        let made = create(&api, &widget(name)).await;
        assert_eq!(stream.try_next().await.unwrap().map(|event| told(&event)), Some(format!("ADDED {name}")));
        assert!(version(&made) > 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deleted_event_carries_the_last_state_at_the_deleting_version() {
    let client = client().await;
    let api = widgets(&client);
    let made = label(&api, &create(&api, &widget("a")).await.name_any(), "x").await;
    delete(&api, "a").await;
    let mut stream = pin!(api.watch(&quiet(), &made.resource_version().unwrap()).await.unwrap());
    let Some(WatchEvent::Deleted(last)) = stream.try_next().await.unwrap() else { panic!("not deleted") };
    assert_eq!(last.labels(), made.labels());
    assert_eq!(version(&last), version(&made) + 1);
}

#[tokio::test(start_paused = true)]
async fn an_update_that_changes_nothing_sends_no_event() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let version = label(&api, "a", "x").await.resource_version().unwrap();
    label(&api, "a", "x").await;
    assert_eq!(events(&api, quiet(), &version).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn with_a_selector_changes_are_comings_and_goings() {
    let client = client().await;
    let api = widgets(&client);
    let first = create(&api, &labelled("a", &[("l", "no")])).await.resource_version().unwrap();
    label(&api, "a", "yes").await;
    label(&api, "a", "no").await;
    label(&api, "a", "yes").await;
    delete(&api, "a").await;
    create(&api, &widget("b")).await;
    let seen = events(&api, quiet().labels("l=yes"), &first).await;
    assert_eq!(seen, ["ADDED a", "DELETED a", "ADDED a", "DELETED a"]);
    assert_eq!(events(&api, quiet().fields("metadata.name=b"), &first).await, ["ADDED b"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_of_its_own_namespace_and_kind() {
    let client = client().await;
    let elsewhere = Api::namespaced_with(client.clone(), "kube-system", &widget_kind());
    create(&elsewhere, &widget("other")).await;
    create(&widgets(&client), &widget("a")).await;
    assert_eq!(events(&widgets(&client), quiet(), "1").await, ["ADDED a"]);
    let everywhere = Api::all_with(client, &widget_kind());
    assert_eq!(events(&everywhere, quiet(), "1").await, ["ADDED other", "ADDED a"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_version_that_is_no_longer_kept_is_told_so() {
    let client = client().await;
    let api = widgets(&client);
    let first = create(&api, &widget("a")).await.resource_version().unwrap();
    for round in 0..=1024 {
        label(&api, "a", &round.to_string()).await;
    }
    let seen = events(&api, quiet(), &first).await;
    let oldest = first.parse::<u64>().unwrap() + 1;
    assert_eq!(seen, [format!("ERROR 410 Expired too old resource version: {first} ({oldest})")]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_off_the_log_is_told_so_and_ends() {
    let client = client().await;
    let api = widgets(&client);
    let mut stream = pin!(api.watch(&quiet(), "0").await.unwrap());
    create(&api, &widget("a")).await;
    assert_eq!(stream.try_next().await.unwrap().map(|event| told(&event)).as_deref(), Some("ADDED a"));
    for round in 0..=1024 {
        label(&api, "a", &round.to_string()).await;
    }
    let rest: Vec<String> = stream.map_ok(|event| told(&event)).try_collect().await.unwrap();
    assert_eq!(rest.len(), 1);
    assert!(rest[0].starts_with("ERROR 410 Expired too old resource version"), "{rest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_the_future_waits_for_it() {
    let client = client().await;
    let api = widgets(&client);
    let now = version(&create(&api, &widget("a")).await);
    let mut stream = pin!(api.watch(&quiet(), &(now + 1).to_string()).await.unwrap());
    create(&api, &widget("b")).await;
    create(&api, &widget("c")).await;
    assert_eq!(stream.try_next().await.unwrap().map(|event| told(&event)).as_deref(), Some("ADDED c"));
}

#[tokio::test(start_paused = true)]
async fn initial_events_end_with_a_marked_bookmark() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let mut stream = pin!(api.watch(&WatchParams::default().initial_events(), "").await.unwrap());
    assert_eq!(stream.try_next().await.unwrap().map(|event| told(&event)).as_deref(), Some("ADDED a"));
    let Some(WatchEvent::Bookmark(bookmark)) = stream.try_next().await.unwrap() else { panic!("no bookmark") };
    assert_eq!(bookmark.metadata.annotations["k8s.io/initial-events-end"], "true");
    create(&api, &widget("b")).await;
    assert_eq!(stream.try_next().await.unwrap().map(|event| told(&event)).as_deref(), Some("ADDED b"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_with_bookmarks_ends_with_one() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    assert_eq!(events(&api, WatchParams::default(), "0").await, ["ADDED a", "BOOKMARK"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_its_kind() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let stream = api.watch(&quiet(), "0").await.unwrap();
    definitions(&client).delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    create_definition(&client, widget_definition()).await;
    let seen: Vec<String> = stream.map_ok(|event| told(&event)).try_collect().await.unwrap();
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
async fn kubes_watcher_sees_adds_updates_and_deletes_with_either_strategy() {
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
async fn kubes_watcher_lists_again_when_the_log_has_moved_on() {
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
