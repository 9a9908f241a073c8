//! Error responses, malformed responses and watches that end at once.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kubewright_apiserver::{ApiServer, Fault, Faults, Verb};
use kubewright_runtime::{Reflector, reflector::Config};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    fixture::start_reflector,
    scripted_server::{Reply, ScriptedServer, event, list},
};

#[tokio::test(start_paused = true)]
async fn errors_contain_resource_namespace_verb_and_status() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, 0) => Reply::Error(403, "Forbidden"),
        (false, _) => list(&[], "1", ""),
        (true, _) => Reply::Error(429, "TooManyRequests"),
    });
    let mut events = start_reflector(&server, Config::default());
    let error = events.error().await;
    assert!(error.is_forbidden());
    let text = error.to_string();
    assert!(text.starts_with("cannot list configmaps: Forbidden; grant the permission"), "{text}");
    assert!(text.contains("list configmaps --namespace default"), "{text}");
    let error = events.error().await;
    assert_eq!(error.status().map(|status| status.code), Some(429));
    assert!(error.to_string().starts_with("cannot watch configmaps: TooManyRequests"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn r04_the_retry_after_header_of_priority_and_fairness_is_honoured() {
    let faults = Faults::new();
    faults.once(Verb::List, Fault::too_many_requests(20));
    let api: Api<ConfigMap> = Api::all(ApiServer::new().client_with(faults.layer()));
    let mut events = Reflector::new(api).events().boxed();
    let start = Instant::now();
    assert!(events.next().await.is_some_and(|event| event.is_err()));
    assert!(events.next().await.is_some_and(|event| event.is_ok()));
    assert_eq!(start.elapsed().as_secs(), 20);
}

fn malformed(index: usize) -> Option<Value> {
    [json!("<html>"), json!({"items": 3}), json!([]), json!({"metadata": {}, "items": [{"metadata": 1}]})]
        .get(index)
        .cloned()
}

#[tokio::test(start_paused = true)]
async fn malformed_lists_are_reported_and_retried_with_back_off() {
    let server = ScriptedServer::new(|request, before| match (request.watch, malformed(before)) {
        (false, Some(malformed)) => Reply::Json(malformed),
        (false, None) => list(&["a"], "10", ""),
        (true, _) => Reply::OpenWatch(vec![]),
    });
    let start = Instant::now();
    start_reflector(&server, Config::default()).expect_events(&["all a @10"]).await;
    assert!(start.elapsed() >= Duration::from_secs(12), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn malformed_watch_events_are_reported_and_the_watch_restarts_with_back_off() {
    let server = ScriptedServer::new(|request, before| match (request.watch, malformed(before)) {
        (false, _) => list(&["a"], "10", ""),
        (true, Some(malformed)) => Reply::OpenWatch(vec![malformed]),
        (true, None) => Reply::OpenWatch(vec![event("ADDED", "b", "11")]),
    });
    let start = Instant::now();
    start_reflector(&server, Config::default()).expect_events(&["all a @10", "b @11"]).await;
    assert!(start.elapsed() >= Duration::from_secs(12), "{:?}", start.elapsed());
    assert_eq!(server.lists().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_undecodable_object_is_reported_and_the_watch_resumes_once_it_is_repaired() {
    let bad = || json!({"type": "MODIFIED", "object": {"metadata": {"name": 5}}});
    let server = ScriptedServer::new(move |request, before| match (request.watch, before) {
        (false, _) => list(&["a"], "10", ""),
        (true, 0) => Reply::OpenWatch(vec![event("ADDED", "b", "11"), bad()]),
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "c", "13")]),
    });
    let mut events = start_reflector(&server, Config::default());
    events.expect_events(&["all a @10", "b @11"]).await;
    assert!(events.error().await.to_string().starts_with("cannot watch configmaps: invalid type: integer `5`"));
    events.expect_events(&["c @13"]).await;
    assert_eq!((server.list_versions(), server.watch_versions()), (vec!["0".into()], vec!["10".into(), "11".into()]));
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_restarted_with_back_off() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, _) => list(&[], "1", ""),
        (true, n) => Reply::Watch((n % 2 == 0).then(|| event("ADDED", "a", "2")).into_iter().collect::<Vec<Value>>()),
    });
    let mut events = start_reflector(&server, Config::default());
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(600) {
        drop(events.event().await);
    }
    // client-go's back-off: 0.8 seconds at first, 30 at most.
    let (watches, lists) = (server.watches().len(), server.lists().len());
    assert!((10..40).contains(&watches), "{watches}");
    assert_eq!(lists, 1);
}

#[tokio::test(start_paused = true)]
async fn lists_without_a_resource_version_are_watched_too() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, _) => list(&["a"], "", ""),
        (true, 0) => Reply::Watch(vec![event("ADDED", "a", ""), event("MODIFIED", "a", "")]),
        (true, _) => Reply::OpenWatch(vec![event("ADDED", "b", "")]),
    });
    start_reflector(&server, Config::default()).expect_events(&["all a @", "a @", "a @", "b @"]).await;
}
