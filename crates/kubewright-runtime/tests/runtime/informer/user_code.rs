//! User code that panics: the panic is reported, and nothing else is affected.

use std::{
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright_runtime::{
    Index,
    informer::{Config, HandlerOptions},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::fixture::{
    Fixture, TIMEOUT, describe, record_events, record_events_with, run_until_idle, start, start_synced, state,
};

fn panic_at(bad: &str) -> impl Fn(&ConfigMap) + Send + Sync + use<> {
    let bad = bad.to_owned();
    move |map| assert_ne!(state(map), bad, "a bad state")
}

#[tokio::test(start_paused = true)]
async fn a_panicking_transform_skips_the_object_and_the_informer_continues() {
    let fixture = Fixture::new();
    fixture.create("bad", 7).await;
    fixture.create("good", 1).await;
    let check = panic_at("7");
    let informer =
        fixture.informer_with(Config::default().reflector(|reflector| reflector.transform(move |map| check(map))));
    let mut received = record_events(&informer);
    start_synced(&informer).await;
    received.expect_events(&["add good=1 (initial)"]).await;
    run_until_idle().await;
    let error = informer.last_error().unwrap();
    assert!(error.contains("the transform panicked for `default/bad`: "), "{error}");
    fixture.update("good", 7).await;
    fixture.create("other", 1).await;
    received.expect_events(&["add other=1"]).await;
    assert_eq!((informer.skipped_objects().len(), informer.store().len()), (2, 2));
    fixture.update("good", 3).await;
    fixture.update("bad", 2).await;
    received.expect_events(&["update good 1->3", "add bad=2"]).await;
    assert_eq!(informer.last_error(), None);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_tweak_of_the_list_options_is_an_error_of_the_request() {
    let fixture = Fixture::new();
    fixture.create("a", 1).await;
    let panics = Arc::new(AtomicBool::new(true));
    let tweak = Arc::clone(&panics);
    let informer = fixture.informer_with(Config::default().reflector(|reflector| {
        reflector.tweak_list_options(move |_| assert!(!tweak.load(Ordering::SeqCst), "a bad option"))
    }));
    start(&informer);
    let error = informer.wait_for_sync_within(Duration::from_secs(5)).await.unwrap_err().to_string();
    assert!(error.contains("cannot list configmaps: the tweak of the list options panicked: a bad option"), "{error}");
    panics.store(false, Ordering::SeqCst);
    informer.wait_for_sync_within(TIMEOUT).await.unwrap();
    assert_eq!((informer.store().len(), informer.last_error()), (1, None));
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_filter_panics_is_delivered_and_the_panic_is_reported() {
    let fixture = Fixture::new();
    fixture.create("a", 7).await;
    let informer = fixture.informer();
    let check = panic_at("7");
    let options = HandlerOptions::new().name("mine").filter(move |map: &ConfigMap| {
        check(map);
        false
    });
    let mut received = record_events_with(&informer, options, describe);
    start_synced(&informer).await;
    received.expect_events(&["add a=7 (initial)"]).await;
    let error = informer.last_error().unwrap();
    assert!(error.starts_with("the filter of the event handler `mine` panicked for `default/a`: "), "{error}");
    fixture.update("a", 1).await;
    received.expect_events(&["delete a=7"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_is_reported_and_continues() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let check = panic_at("7");
    let options = HandlerOptions::new().name("mine");
    let mut received = record_events_with(&informer, options, move |event| {
        check(event.object());
        describe(event)
    });
    received.expect_events(&["add a=1 (initial)"]).await;
    fixture.update("a", 7).await;
    run_until_idle().await;
    let error = informer.last_error().unwrap();
    assert!(error.starts_with("the event handler `mine` panicked for `default/a`: "), "{error}");
    fixture.update("a", 2).await;
    received.expect_events(&["update a 7->2"]).await;
    assert_eq!((informer.last_error(), received.registration.panics()), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn a_panicking_index_function_is_reported_and_the_object_is_stored() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let index = Index::new("by_state", |map: &ConfigMap| {
        assert_ne!(state(map), "7");
        vec![state(map).to_owned()]
    });
    informer.add_index(index).unwrap();
    fixture.update("a", 7).await;
    run_until_idle().await;
    let error = informer.last_error().unwrap();
    assert!(error.starts_with("the function of index `by_state` panicked for `default/a`: "), "{error}");
    assert_eq!((informer.store().len(), informer.store().by_index(&index, "1").len()), (1, 0));
    fixture.update("a", 2).await;
    run_until_idle().await;
    assert_eq!((informer.store().by_index(&index, "2").len(), informer.last_error()), (1, None));
}

/// An index value that cannot be hashed, so that the store cannot be changed.
#[derive(Clone, PartialEq, Eq)]
struct Unhashable;

impl Hash for Unhashable {
    fn hash<H: Hasher>(&self, _: &mut H) {
        panic!("no hash");
    }
}

fn unhashable() -> Index<ConfigMap, Unhashable> {
    Index::new("unhashable", |_| vec![Unhashable])
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_dies_has_not_synced_and_its_run_returns_an_error() {
    let fixture = Fixture::new();
    let informer = fixture.informer_with(Config::default().name("mine"));
    let received = record_events(&informer);
    informer.add_index(unhashable()).unwrap();
    let (run, waiting) = (informer.clone(), informer.clone());
    let running = tokio::spawn(async move { run.run(CancellationToken::new()).await });
    informer.wait_for_sync_within(TIMEOUT).await.unwrap();
    fixture.create("a", 1).await;
    let failed = timeout(TIMEOUT, running).await.expect("the run ends").unwrap().unwrap_err();
    let text = "the informer of configmaps `mine` failed: it panicked: no hash; its objects are no longer updated";
    assert_eq!(failed.to_string(), text);
    assert!(!informer.has_synced() && received.registration.is_removed());
    assert_eq!((informer.failure(), informer.last_error().as_deref()), (Some(failed), Some(text)));
    let error = timeout(TIMEOUT, waiting.wait_for_sync()).await.expect("the wait ends").unwrap_err();
    assert_eq!(error.reasons, [text]);
}

#[tokio::test(start_paused = true)]
async fn the_run_of_a_factory_returns_the_error_of_an_informer_that_dies() {
    let fixture = Fixture::new();
    let factory = fixture.factory();
    let (maps, secrets) = (factory.informer::<ConfigMap>(), factory.informer::<Secret>());
    maps.add_index(unhashable()).unwrap();
    let (run, cancelled) = (factory.clone(), CancellationToken::new());
    let running = tokio::spawn(async move { run.run(cancelled).await });
    run_until_idle().await;
    factory.wait_for_sync(TIMEOUT).await.unwrap();
    fixture.create("a", 1).await;
    let failed = timeout(TIMEOUT, running).await.expect("the run ends").unwrap().unwrap_err();
    assert_eq!((failed.resource.as_str(), factory.failed().await), ("configmaps", failed.clone()));
    assert!(secrets.add_event_handler(|_| {}).is_err(), "the others are stopped, too");
    let error = factory.wait_for_sync(TIMEOUT).await.unwrap_err();
    assert_eq!(error.reasons, [failed.to_string()]);
}

#[tokio::test(start_paused = true)]
async fn the_run_of_a_factory_ends_without_an_error_when_it_is_cancelled() {
    let fixture = Fixture::new();
    let factory = fixture.factory();
    factory.informer::<ConfigMap>();
    let (run, cancelled) = (factory.clone(), CancellationToken::new());
    let token = cancelled.clone();
    let running = tokio::spawn(async move { run.run(token).await });
    run_until_idle().await;
    factory.wait_for_sync(TIMEOUT).await.unwrap();
    cancelled.cancel();
    timeout(TIMEOUT, running).await.expect("the run ends").unwrap().unwrap();
}
