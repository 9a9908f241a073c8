//! R12: failures from which the reflector recovers and kube's watcher does not. A failing kube test means that kube was
//! fixed.

use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    runtime::{WatchStreamExt, watcher},
};
use kubewright_runtime::reflector::{Config, InitialListStrategy};

use super::{
    fixture::start_reflector,
    scripted_server::{Reply, ScriptedServer, event, list},
};

const HOUR: Duration = Duration::from_secs(3600);

/// Returns the events of kube's watcher, with its default back-off, within an hour.
async fn kube_events(
    server: &ScriptedServer,
    config: watcher::Config,
) -> Vec<watcher::Result<watcher::Event<ConfigMap>>> {
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    within_an_hour(watcher(api, config).default_backoff()).await
}

async fn within_an_hour<T>(events: impl Stream<Item = T>) -> Vec<T> {
    Box::pin(events.take_until(tokio::time::sleep(HOUR))).collect().await
}

/// Counts the completed initial lists.
fn completed_lists(events: &[watcher::Result<watcher::Event<ConfigMap>>]) -> usize {
    events.iter().filter(|event| matches!(event, Ok(watcher::Event::InitDone))).count()
}

/// Returns a server on which the version of the first list expires before the watch starts.
fn expiring_first_version() -> ScriptedServer {
    ScriptedServer::new(|request, before| match (request.watch, request.version()) {
        (false, _) if before == 0 => list(&["a"], "10", ""),
        (false, _) => list(&["a", "b"], "50", ""),
        (true, "10") => Reply::Error(410, "Expired"),
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "c", "51")]),
    })
}

#[tokio::test(start_paused = true)]
async fn r12_one_relist_recovers_from_a_410_at_the_start_of_a_watch() {
    let server = expiring_first_version();
    start_reflector(&server, Config::default()).expect_events(&["all a @10", "all a b @50", "c @51"]).await;
    assert_eq!(server.list_versions(), ["0", "10"]);
}

#[tokio::test(start_paused = true)]
async fn r12_kube_watches_from_the_expired_version_forever() {
    let server = expiring_first_version();
    let events = kube_events(&server, watcher::Config::default()).await;
    assert_eq!((completed_lists(&events), server.lists().len()), (1, 1));
    assert!(server.watches().len() > 50);
    assert!(server.watch_versions().iter().all(|version| version == "10"));
}

/// Returns a server that rejects streaming lists.
fn without_streaming_lists() -> ScriptedServer {
    ScriptedServer::new(|request, _| match (request.watch, request.option("sendInitialEvents")) {
        (false, _) => list(&["a"], "10", ""),
        (true, "true") => Reply::Error(422, "Invalid"),
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "b", "11")]),
    })
}

#[tokio::test(start_paused = true)]
async fn r12_one_list_recovers_from_rejected_streaming_lists() {
    let server = without_streaming_lists();
    let config = Config::default().initial_list_strategy(InitialListStrategy::WatchList);
    start_reflector(&server, config).expect_events(&["all a @10", "b @11"]).await;
    assert_eq!((server.list_versions(), server.watches().len()), (vec!["0".into()], 2));
}

#[tokio::test(start_paused = true)]
async fn r12_kube_never_syncs_with_a_server_that_rejects_streaming_lists() {
    let server = without_streaming_lists();
    let events = kube_events(&server, watcher::Config::default().streaming_lists()).await;
    assert_eq!((completed_lists(&events), server.lists().len()), (0, 0));
}

/// Returns a server on which the continue token of every paginated list expires before its next page.
fn expiring_continue_tokens() -> ScriptedServer {
    ScriptedServer::new(|request, _| match (request.watch, request.option("continue"), request.option("limit")) {
        (true, ..) => Reply::OpenWatch(vec![event("ADDED", "c", "11")]),
        (false, "", "") => list(&["a", "b"], "10", ""),
        (false, "", _) => list(&["a"], "10", "more"),
        (false, ..) => Reply::Error(410, "Expired"),
    })
}

#[tokio::test(start_paused = true)]
async fn r12_one_unpaginated_list_recovers_from_an_expired_continue_token() {
    let server = expiring_continue_tokens();
    start_reflector(&server, Config::default()).expect_events(&["all a b @10", "c @11"]).await;
    let limits: Vec<_> = server.lists().iter().map(|request| request.option("limit").to_owned()).collect();
    assert_eq!(limits, ["500", "500", ""]);
}

#[tokio::test(start_paused = true)]
async fn r12_kube_restarts_the_paginated_list_forever() {
    let server = expiring_continue_tokens();
    let events = kube_events(&server, watcher::Config::default()).await;
    assert_eq!((completed_lists(&events), server.watches().len()), (0, 0));
    // Each first page resets the back-off, so the attempts are a second apart.
    assert!(server.lists().len() > 2 * 2000);
}
