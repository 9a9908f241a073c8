//! The rules of the reflector, R1 to R11. The clock is paused.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use kubewright_runtime::{
    Reflector,
    reflector::{Config, Event, ExponentialBackoff, InitialListStrategy},
};
use tokio::time::Instant;

use super::{
    fixture::start_reflector,
    scripted_server::{Reply, ScriptedServer, bookmark, error, event, list, object},
};

fn watch_list() -> Config<ConfigMap> {
    Config::default().initial_list_strategy(InitialListStrategy::WatchList)
}

fn named(name: &str) -> ConfigMap {
    serde_json::from_value(object(name, "")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn r01_it_lists_any_version_in_pages_and_watches() {
    let server = ScriptedServer::forwarding();
    let api: Api<ConfigMap> = Api::namespaced(server.direct_client(), "default");
    let version = |object: ConfigMap| object.metadata.resource_version.unwrap();
    let create = async |name| version(api.create(&PostParams::default(), &named(name)).await.unwrap());
    let early = create("early").await;
    let mut events = start_reflector(&server, Config::default());
    events.expect_events(&[&format!("all early @{early}")]).await;
    let late = create("late").await;
    events.expect_events(&[&format!("late @{late}")]).await;
    api.delete("early", &DeleteParams::default()).await.unwrap();
    let gone = late.parse::<u64>().unwrap() + 1;
    events.expect_events(&[&format!("-early @{gone}")]).await;
    let (first, watch) = (&server.lists()[0], &server.watches()[0]);
    assert_eq!((first.version(), first.option("limit")), ("0", "500"));
    assert_eq!((watch.version(), watch.option("allowWatchBookmarks")), (early.as_str(), "true"));
    let timeout: u64 = watch.option("timeoutSeconds").parse().unwrap();
    assert!((300..=600).contains(&timeout), "{timeout}");
}

#[tokio::test(start_paused = true)]
async fn r01_pages_are_one_list_with_the_version_of_the_first_page() {
    let server = ScriptedServer::new(|request, _| match (request.watch, request.option("continue")) {
        (true, _) => Reply::OpenWatch(vec![]),
        (_, "") => list(&["a", "b"], "7", "second"),
        (_, "second") => list(&["c"], "7", "third"),
        _ => list(&["d"], "7", ""),
    });
    start_reflector(&server, Config::default().page_size(2)).expect_events(&["all a b c d @7"]).await;
    let pages: Vec<_> = server
        .lists()
        .iter()
        .map(|request| (request.version().to_owned(), request.option("limit").to_owned()))
        .collect();
    let pages: Vec<_> = pages.iter().map(|(version, limit)| (version.as_str(), limit.as_str())).collect();
    assert_eq!(pages, [("0", "2"), ("", "2"), ("", "2")]);
}

/// Reproduces kube-apiserver 1.36 after a restart: etcd still has the version, the watch cache does not.
#[tokio::test(start_paused = true)]
async fn r01_a_paginated_relist_does_not_return_to_an_expired_version() {
    let server = ScriptedServer::new(|request, _| {
        match (request.watch, request.version(), request.option("resourceVersionMatch")) {
            (true, "10", _) => Reply::Watch(vec![error(410, "Expired")]),
            (true, ..) => Reply::OpenWatch(vec![]),
            (false, "10", "NotOlderThan") => list(&["b"], "20", ""),
            (false, ..) => list(&["a"], "10", ""),
        }
    });
    start_reflector(&server, Config::default().page_size(2)).expect_events(&["all a @10", "all b @20"]).await;
}

#[tokio::test(start_paused = true)]
async fn r02_an_expired_version_causes_a_list_of_the_most_recent_one() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (true, 0) => Reply::Watch(vec![error(410, "Expired")]),
        (true, _) => Reply::OpenWatch(vec![]),
        (false, 0) => list(&["a"], "10", ""),
        (false, 1) => Reply::Error(410, "Expired"),
        (false, _) => list(&["b"], "20", ""),
    });
    start_reflector(&server, Config::default()).expect_events(&["all a @10", "all b @20"]).await;
    assert_eq!(server.list_versions(), ["0", "10", ""]);
}

#[tokio::test(start_paused = true)]
async fn r04_an_overloaded_or_unreachable_server_is_watched_again_without_a_list() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, _) => list(&["a"], "10", ""),
        (true, 0 | 2) => Reply::Error(429, "TooManyRequests"),
        (true, 1 | 3) => Reply::ConnectionRefused,
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "b", "11")]),
    });
    start_reflector(&server, Config::default()).expect_events(&["all a @10", "b @11"]).await;
    assert_eq!(server.list_versions(), ["0"]);
    assert_eq!(server.watch_versions(), ["10"; 5]);
}

#[tokio::test(start_paused = true)]
async fn r05_a_server_that_keeps_failing_is_relisted_after_half_a_minute() {
    let server = ScriptedServer::new(|request, _| match request.watch {
        false => list(&["a"], "10", ""),
        true => Reply::Error(500, "InternalError"),
    });
    let start = Instant::now();
    start_reflector(&server, Config::default()).expect_events(&["all a @10", "all a @10"]).await;
    assert!((4..10).contains(&server.watches().len()), "{}", server.watches().len());
    assert!(start.elapsed() > Duration::from_secs(30), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn r06_the_back_off_is_configurable() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, 0..5) => Reply::Error(500, "InternalError"),
        (false, _) => list(&[], "10", ""),
        (true, _) => Reply::OpenWatch(vec![]),
    });
    let backoff = ExponentialBackoff::new(Duration::from_millis(10), Duration::from_millis(100));
    let start = Instant::now();
    start_reflector(&server, Config::default().backoff(backoff)).expect_events(&["all  @10"]).await;
    assert_eq!(start.elapsed().as_millis(), 10 + 20 + 40 + 80 + 100);
}

#[tokio::test(start_paused = true)]
async fn r07_a_silent_connection_is_abandoned() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, _) => list(&["a"], "10", ""),
        (true, 0) => Reply::OpenWatch(vec![bookmark("12", false)]),
        (true, 1) => Reply::Hang,
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "b", "13")]),
    });
    let mut events = start_reflector(&server, Config::default());
    events.expect_events(&["all a @10", "@12"]).await;
    let start = Instant::now();
    let error = events.error().await.to_string();
    assert!(error.starts_with("cannot watch configmaps: no events or bookmarks for"), "{error}");
    events.expect_events(&["b @13"]).await;
    // 90 s until missing bookmarks are noticed, then 90 s for a watch without a response.
    assert!(start.elapsed() <= Duration::from_secs(90 + 90 + 8), "{:?}", start.elapsed());
    assert_eq!(
        (server.list_versions().len(), server.watch_versions()),
        (1, vec!["10".into(), "12".into(), "12".into()])
    );
}

#[tokio::test(start_paused = true)]
async fn r07_a_dead_connection_is_noticed_within_90_seconds_at_any_time_of_a_watch() {
    for events in [vec![], vec![event("ADDED", "b", "11")], vec![bookmark("11", false)]] {
        let reply = events.clone();
        let server = ScriptedServer::new(move |request, before| match (request.watch, before) {
            (false, _) => list(&["a"], "10", ""),
            (true, 0) => Reply::OpenWatch(reply.clone()),
            (true, 1) => Reply::Hang,
            (true, _) => Reply::OpenWatch(vec![event("ADDED", "c", "12")]),
        });
        let mut received = start_reflector(&server, Config::default());
        for _ in 0..=events.len() {
            received.event().await.unwrap();
        }
        for _ in 0..2 {
            let start = Instant::now();
            let error = received.event().await.unwrap_err().to_string();
            assert!(error.contains("no events or bookmarks for 90"), "{error}");
            assert!(start.elapsed() < Duration::from_secs(93), "90 s and a back-off: {:?}", start.elapsed());
        }
        received.expect_events(&["c @12"]).await;
        assert_eq!(server.lists().len(), 1, "a dead connection causes no list");
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_version_of_the_server_causes_a_list() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, 0) => list(&["a", "b"], "100", ""),
        (false, _) => list(&["a"], "50", ""),
        (true, 0) => Reply::OpenWatch(vec![event("MODIFIED", "a", "51")]),
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "c", "52")]),
    });
    let mut events = start_reflector(&server, Config::default());
    assert_eq!(events.next().await, "all a b @100");
    assert!(events.error().await.to_string().contains("older version"));
    events.expect_events(&["all a @50", "c @52"]).await;
    assert_eq!(
        (server.list_versions(), server.watch_versions()),
        (vec!["0".into(), "".into()], vec!["100".into(), "50".into()])
    );
}

#[tokio::test(start_paused = true)]
async fn r07_an_idle_timeout_detects_it_sooner() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, _) => list(&["a"], "10", ""),
        (true, 0) => Reply::OpenWatch(vec![]),
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "b", "13")]),
    });
    let start = Instant::now();
    let config = Config::default().idle_timeout(Duration::from_secs(20));
    start_reflector(&server, config).expect_events(&["all a @10", "b @13"]).await;
    assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn r07_a_list_without_a_response_is_abandoned() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, 0) => Reply::Hang,
        (false, _) => list(&["a"], "10", ""),
        (true, _) => Reply::OpenWatch(vec![]),
    });
    let mut events = start_reflector(&server, Config::default().list_timeout(Duration::from_secs(60)));
    assert!(events.error().await.to_string().contains("no complete response within 60s"));
    events.expect_events(&["all a @10"]).await;
}

#[tokio::test(start_paused = true)]
async fn r08_every_event_advances_the_version_and_unknown_types_are_skipped() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, _) => list(&["a"], "5", ""),
        (true, 0) => Reply::Watch(vec![
            event("ADDED", "b", "10"),
            event("MODIFIED", "b", "20"),
            event("DELETED", "b", "30"),
            event("RENAMED", "b", "35"),
            bookmark("40", false),
        ]),
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "c", "50")]),
    });
    let mut events = start_reflector(&server, Config::default());
    events.expect_events(&["all a @5", "b @10", "b @20", "-b @30", "@40", "c @50"]).await;
    assert_eq!(server.watch_versions(), ["5", "40"]);
}

#[tokio::test(start_paused = true)]
async fn r09_a_streamed_list_is_one_event_and_its_watch_continues() {
    let server = ScriptedServer::new(|request, _| match request.option("sendInitialEvents") {
        "true" => Reply::OpenWatch(vec![
            event("ADDED", "b", "9"),
            event("ADDED", "a", "3"),
            event("ADDED", "gone", "4"),
            event("MODIFIED", "a", "10"),
            event("DELETED", "gone", "11"),
            bookmark("12", true),
            event("ADDED", "c", "14"),
        ]),
        _ => Reply::Error(500, "InternalError"),
    });
    let mut events = start_reflector(&server, watch_list());
    let Event::Replaced { objects, .. } = events.event().await.unwrap() else { panic!("expected the initial list") };
    let mut versions: Vec<_> = objects.iter().map(|object| object.metadata.resource_version.clone().unwrap()).collect();
    versions.sort();
    assert_eq!(versions, ["10", "9"]);
    events.expect_events(&["c @14"]).await;
    let watch = &server.watches()[0];
    assert_eq!((watch.version(), watch.option("resourceVersionMatch")), ("", "NotOlderThan"));
    assert_eq!((server.lists().len(), server.watches().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn r09_the_api_server_in_memory_streams_lists() {
    let server = ScriptedServer::forwarding();
    let api: Api<ConfigMap> = Api::namespaced(server.direct_client(), "default");
    let created = api.create(&PostParams::default(), &named("early")).await.unwrap();
    let mut events = start_reflector(&server, watch_list());
    events.expect_events(&[&format!("all early @{}", created.metadata.resource_version.unwrap())]).await;
    let late = api.create(&PostParams::default(), &named("late")).await.unwrap();
    events.expect_events(&[&format!("late @{}", late.metadata.resource_version.unwrap())]).await;
    assert_eq!((server.lists().len(), server.watches().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn r10_dropping_it_closes_the_watch() {
    let server = ScriptedServer::forwarding();
    let mut events = start_reflector(&server, Config::default());
    events.next().await;
    // The watch starts when the next event is polled.
    assert!(tokio::time::timeout(Duration::from_secs(1), events.event()).await.is_err());
    server.wait_for_open(1).await;
    drop(events);
    server.wait_for_open(0).await;
}

#[tokio::test(start_paused = true)]
async fn r10_dropping_it_before_a_response_ends_its_requests() {
    let server = ScriptedServer::new(|_, _| Reply::Hang);
    let mut events = start_reflector(&server, Config::default());
    assert!(tokio::time::timeout(Duration::from_secs(1), events.event()).await.is_err());
    drop(events);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!((server.lists().len(), server.watches().len()), (1, 0));
    drop(Reflector::<ConfigMap>::new(Api::all(server.client())).events());
    assert_eq!(server.lists().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r11_an_object_the_server_cannot_read_is_removed_by_the_next_list() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, 0) => list(&["corrupt", "sound"], "3", ""),
        (false, _) => list(&["sound"], "9", ""),
        (true, 0) => Reply::Watch(vec![error(500, "StorageReadError")]),
        (true, _) => Reply::OpenWatch(vec![]),
    });
    start_reflector(&server, Config::default()).expect_events(&["all corrupt sound @3", "all sound @9"]).await;
    assert_eq!(server.list_versions(), ["0", "3"]);
}
