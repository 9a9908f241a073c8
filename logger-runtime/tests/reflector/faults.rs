//! What a reflector makes of answers that no server should give.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use logger_apiserver::{ApiServer, Fault, Faults, Verb};
use logger_runtime::Reflector;
use logger_runtime::reflector::Config;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::hearing::hear;
use crate::script::{Answer, Script, event, list};

#[tokio::test(start_paused = true)]
async fn errors_name_kind_namespace_verb_and_last_status() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, 0) => Answer::Refused(403, "Forbidden"),
        (false, _) => list(&[], "1", ""),
        (true, _) => Answer::Refused(429, "TooManyRequests"),
    });
    let mut heard = hear(&script, Config::default());
    let error = heard.error().await;
    assert!(error.is_forbidden());
    let text = error.to_string();
    assert!(text.starts_with("cannot list configmaps: Forbidden; have it granted"), "{text}");
    assert!(text.contains("list configmaps --namespace default"), "{text}");
    let error = heard.error().await;
    assert_eq!(error.status().map(|status| status.code), Some(429));
    assert!(error.to_string().starts_with("cannot watch configmaps: TooManyRequests"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn r04_a_wait_that_priority_and_fairness_ask_for_in_the_header_alone_is_kept() {
    let faults = Faults::new();
    faults.once(Verb::List, Fault::too_many_requests(20));
    let api: Api<ConfigMap> = Api::all(ApiServer::new().client_with(faults.layer()));
    let mut events = Reflector::new(api).events().boxed();
    let start = Instant::now();
    assert!(events.next().await.is_some_and(|told| told.is_err()));
    assert!(events.next().await.is_some_and(|told| told.is_ok()));
    assert_eq!(start.elapsed().as_secs(), 20);
}

fn nonsense(index: usize) -> Option<Value> {
    [json!("<html>"), json!({"items": 3}), json!([]), json!({"metadata": {}, "items": [{"metadata": 1}]})]
        .get(index)
        .cloned()
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_no_lists_are_told_and_tried_again_slowly() {
    let script = Script::new(|asked, before| match (asked.watch, nonsense(before)) {
        (false, Some(nonsense)) => Answer::Json(nonsense),
        (false, None) => list(&["a"], "10", ""),
        (true, _) => Answer::Open(vec![]),
    });
    let start = Instant::now();
    hear(&script, Config::default()).these(&["all a @10"]).await;
    assert!(start.elapsed() >= Duration::from_secs(12), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_no_events_are_told_and_the_watch_begins_again_slowly() {
    let script = Script::new(|asked, before| match (asked.watch, nonsense(before)) {
        (false, _) => list(&["a"], "10", ""),
        (true, Some(nonsense)) => Answer::Open(vec![nonsense]),
        (true, None) => Answer::Open(vec![event("ADDED", "b", "11")]),
    });
    let start = Instant::now();
    hear(&script, Config::default()).these(&["all a @10", "b @11"]).await;
    assert!(start.elapsed() >= Duration::from_secs(12), "{:?}", start.elapsed());
    assert_eq!(script.lists().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_decoded_is_told_and_the_rest_goes_on_when_it_is_mended() {
    let bad = || json!({"type": "MODIFIED", "object": {"metadata": {"name": 5}}});
    let script = Script::new(move |asked, before| match (asked.watch, before) {
        (false, _) => list(&["a"], "10", ""),
        (true, 0) => Answer::Open(vec![event("ADDED", "b", "11"), bad()]),
        (true, _) => Answer::Open(vec![event("ADDED", "c", "13")]),
    });
    let mut heard = hear(&script, Config::default());
    heard.these(&["all a @10", "b @11"]).await;
    assert!(heard.error().await.to_string().starts_with("cannot watch configmaps: invalid type: integer `5`"));
    heard.these(&["c @13"]).await;
    assert_eq!((script.listed(), script.watched()), (vec!["0".into()], vec!["10".into(), "11".into()]));
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_not_begun_in_a_tight_loop() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, _) => list(&[], "1", ""),
        (true, n) => Answer::Lines((n % 2 == 0).then(|| event("ADDED", "a", "2")).into_iter().collect::<Vec<Value>>()),
    });
    let mut heard = hear(&script, Config::default());
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(600) {
        drop(heard.event().await);
    }
    // At most 30 seconds apart, and 0.8 to begin with: client-go's figures.
    let (watches, lists) = (script.watches().len(), script.lists().len());
    assert!((10..40).contains(&watches), "{watches}");
    assert_eq!(lists, 1);
}

#[tokio::test(start_paused = true)]
async fn lists_without_a_version_are_followed_too() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, _) => list(&["a"], "", ""),
        (true, 0) => Answer::Lines(vec![event("ADDED", "a", ""), event("MODIFIED", "a", "")]),
        (true, _) => Answer::Open(vec![event("ADDED", "b", "")]),
    });
    hear(&script, Config::default()).these(&["all a @", "a @", "a @", "b @"]).await;
}
