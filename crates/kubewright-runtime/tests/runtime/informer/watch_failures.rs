//! Watches that end, lose their connection or cannot be resumed.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apiserver::{Fault, Requests, Verb};
use kubewright_runtime::informer::{Config, HandlerOptions, SharedInformer};

use super::fixture::{
    Fixture, RecordedEvents, describe, record_events, record_events_with, run_until_idle, start_synced,
};

/// Creates an informer that has synced with `gone` and `stays`, and a handler that received both.
async fn informer_of_two(fixture: &Fixture) -> (SharedInformer<ConfigMap>, RecordedEvents) {
    let informer = fixture.synced_informer(&["gone", "stays"]).await;
    let mut received = record_events(&informer);
    received.expect_unordered(&["add gone=1 (initial)", "add stays=1 (initial)"]).await;
    fixture.faults.wait_for(|faults| faults.open(Verb::Watch) == 1).await;
    (informer, received)
}

/// Ends the watch, applies these changes, and answers the resumed watch with `fault`, so that the informer relists.
async fn relist_after(fixture: &Fixture, fault: Fault, changes: impl AsyncFnOnce()) {
    let (open, gate) = tokio::sync::watch::channel(false);
    fixture.faults.once(Verb::Watch, fault.gated(gate));
    fixture.faults.end(Verb::Watch);
    changes().await;
    open.send_replace(true);
}

#[tokio::test(start_paused = true)]
async fn i12_a_missed_deletion_is_reported_with_the_last_known_state() {
    for fault in [Fault::expired_event(), Fault::expired()] {
        let fixture = Fixture::new();
        let (informer, mut received) = informer_of_two(&fixture).await;
        relist_after(&fixture, fault, async || {
            fixture.update("gone", 2).await;
            fixture.delete("gone").await;
        })
        .await;
        received.expect_events(&["delete gone=1 (missed)"]).await;
        assert_eq!((fixture.faults.count(Verb::List), informer.store().len()), (2, 1));
        fixture.delete("stays").await;
        received.expect_events(&["delete stays=1"]).await;
        received.expect_none().await;
    }
}

#[tokio::test(start_paused = true)]
async fn i12_an_observed_deletion_has_the_final_state_and_the_version_of_the_deletion() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["gone"]).await;
    let version = informer.store().list()[0].metadata.resource_version.clone().unwrap();
    let number = |version: &str| version.parse::<u64>().unwrap();
    let mut received = record_events_with(&informer, HandlerOptions::new(), |event| {
        event.object().metadata.resource_version.clone().unwrap()
    });
    assert_eq!(received.next().await, version);
    fixture.delete("gone").await;
    assert!(number(&received.next().await) > number(&version));
}

#[tokio::test(start_paused = true)]
async fn i12_a_missed_deletion_is_reported_even_if_the_object_was_recreated() {
    let fixture = Fixture::new();
    let (_informer, mut received) = informer_of_two(&fixture).await;
    relist_after(&fixture, Fault::expired_event(), async || {
        fixture.delete("gone").await;
        fixture.create("gone", 7).await;
    })
    .await;
    received.expect_events(&["delete gone=1 (missed)", "add gone=7"]).await;
}

#[tokio::test(start_paused = true)]
async fn i13_a_deletion_is_reported_once() {
    let fixture = Fixture::new();
    let (informer, mut received) = informer_of_two(&fixture).await;
    let mut slow = informer.events().unwrap();
    fixture.delete("gone").await;
    received.expect_events(&["delete gone=1"]).await;
    relist_after(&fixture, Fault::expired_event(), async || fixture.delete("stays").await).await;
    received.expect_events(&["delete stays=1 (missed)"]).await;
    relist_after(&fixture, Fault::expired_event(), async || {}).await;
    received.expect_none().await;
    assert!(futures::poll!(futures::StreamExt::next(&mut slow)).is_pending(), "coalesced to nothing");
}

#[tokio::test(start_paused = true)]
async fn i16_i17_after_a_relist_handlers_receive_changes_and_all_objects_only_with_resyncs() {
    let fixture = Fixture::new();
    let (informer, mut received) = informer_of_two(&fixture).await;
    let resyncs = HandlerOptions::new().resync(Duration::from_secs(3600));
    let mut all = record_events_with(&informer, resyncs, describe);
    all.expect_unordered(&["add gone=1 (initial)", "add stays=1 (initial)"]).await;
    relist_after(&fixture, Fault::expired_event(), async || {
        fixture.delete("gone").await;
        fixture.create("new", 1).await;
    })
    .await;
    received.expect_events(&["delete gone=1 (missed)", "add new=1"]).await;
    all.expect_unordered(&["delete gone=1 (missed)", "add new=1", "update stays 1->1"]).await;
    received.expect_none().await;
}

#[tokio::test(start_paused = true)]
async fn i18_errors_are_reported_and_retried() {
    let fixture = Fixture::new();
    let (informer, mut received) = informer_of_two(&fixture).await;
    assert_eq!(informer.last_error(), None);
    fixture.faults.once(Verb::Watch, Fault::status(403, "Forbidden", "no watching"));
    fixture.faults.end(Verb::Watch);
    fixture.faults.until(Verb::Watch, 2).await;
    run_until_idle().await;
    let error = informer.last_error().expect("the watch failed");
    assert!(error.starts_with("cannot watch configmaps: no watching; "), "{error}");
    fixture.create("new", 1).await;
    received.expect_events(&["add new=1"]).await;
    assert_eq!(informer.last_error(), None);
}

#[tokio::test(start_paused = true)]
async fn i19_changes_of_a_resumed_watch_are_not_initial() {
    let fixture = Fixture::new();
    let (_informer, mut received) = informer_of_two(&fixture).await;
    fixture.faults.next(3, Verb::Watch, Fault::connection_refused());
    fixture.faults.cut(Verb::Watch);
    fixture.update("gone", 2).await;
    fixture.create("new", 1).await;
    fixture.delete("gone").await;
    received.expect_unordered(&["update gone 1->2", "add new=1", "delete gone=2"]).await;
    assert_eq!(fixture.faults.count(Verb::List), 1);
}

#[tokio::test(start_paused = true)]
async fn i18_the_error_handler_receives_every_error_and_may_panic() {
    let fixture = Fixture::new();
    for text in ["{\"kind\": ", "<html>\n<body>hello</body></html>", "{}"] {
        fixture.faults.once(Verb::List, Fault::answer(200, text));
    }
    fixture.faults.once(Verb::List, Fault::torn("{\"apiVersion\": \"v1\", "));
    let (sender, mut errors) = tokio::sync::mpsc::unbounded_channel();
    let config = Config::default().on_error(move |error| {
        sender.send(error.to_string()).unwrap();
        panic!("failed");
    });
    let informer = fixture.informer_with(config);
    start_synced(&informer).await;
    assert_eq!(informer.last_error(), None);
    for _ in 0..4 {
        let error = errors.try_recv().unwrap();
        assert!(error.starts_with("cannot list configmaps: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    assert!(errors.try_recv().is_err());
}

/// Creates an informer of an optional kind that has synced with two objects, and a handler that received both.
async fn optional_informer_of_two(fixture: &Fixture) -> (SharedInformer<ConfigMap>, RecordedEvents) {
    for name in ["gone", "stays"] {
        fixture.create(name, 1).await;
    }
    let informer = fixture.informer_with(Config::default().reflector(|reflector| reflector.optional()));
    start_synced(&informer).await;
    let mut received = record_events(&informer);
    received.expect_unordered(&["add gone=1 (initial)", "add stays=1 (initial)"]).await;
    fixture.faults.wait_for(|faults| faults.open(Verb::Watch) == 1).await;
    (informer, received)
}

#[tokio::test(start_paused = true)]
async fn a_404_does_not_delete_the_objects_of_an_optional_kind_that_is_served() {
    let not_found = || Fault::answer(404, "404 page not found");
    for requests in [Verb::List, Verb::Watch] {
        let fixture = Fixture::new();
        let (informer, mut received) = optional_informer_of_two(&fixture).await;
        fixture.faults.once(Verb::Watch, Fault::expired());
        fixture.faults.next(200, requests, not_found());
        fixture.faults.end(Verb::Watch);
        received.expect_none().await;
        let error = informer.last_error().expect("the requests fail");
        assert!(error.contains("404 page not found"), "{error}");
        assert_eq!(informer.store().len(), 2);
        fixture.faults.heal();
        fixture.update("gone", 2).await;
        received.expect_events(&["update gone 1->2"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_optional_kind_is_absent_if_its_404_lasts_while_discovery_fails() {
    let fixture = Fixture::new();
    let (informer, mut received) = optional_informer_of_two(&fixture).await;
    // The gateway responds to every request.
    fixture.faults.always(Requests::all(), Fault::answer(404, "404 page not found"));
    fixture.faults.end(Verb::Watch);
    tokio::time::sleep(Duration::from_secs(45)).await;
    assert_eq!((received.drain(), informer.store().len()), (Vec::new(), 2));
    received.expect_unordered(&["delete gone=1 (missed)", "delete stays=1 (missed)"]).await;
    assert!(informer.has_synced());
}
