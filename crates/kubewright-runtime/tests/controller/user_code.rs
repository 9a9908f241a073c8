//! User code that panics loses no key, and an informer that dies ends the controller.

use std::{
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright_runtime::{
    Index, ObjectKey, WriteGate,
    controller::{Controller, Predicate, ReconcileError, RunError, Watch},
};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::fixture::{Fixture, Running, recorder, recording_reconciler, with_state};

/// Creates a function that panics in its first calls.
fn panics_at_first(calls: usize) -> impl Fn() + Send + Sync + Clone {
    let left = Arc::new(AtomicUsize::new(calls));
    move || {
        let is_left = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        assert!(!is_left, "panicked at first");
    }
}

#[tokio::test(start_paused = true)]
async fn a_mapping_that_panics_is_retried_and_loses_no_key() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let check = panics_at_first(3);
    let builder = Controller::new("test", &fixture.config_maps).watches(&fixture.secrets, move |secret| {
        check();
        [ObjectKey::namespaced("mapped", secret.metadata.name.as_deref().unwrap())]
    });
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    fixture.secrets.wait_for_sync().await.unwrap();
    let start = Instant::now();
    fixture.create::<Secret>("a", json!({})).await;
    assert_eq!(records.next_key().await, "mapped/a");
    assert_eq!(start.elapsed().as_secs(), 1 + 2 + 4);
    let error = fixture.secrets.last_error().unwrap();
    assert!(error.starts_with("the key mapping of a controller panicked for `default/a`: "), "{error}");
    fixture.config_map("b").await;
    assert_eq!(records.next_key().await, "default/b", "other watches are not affected");
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_predicate_panics_matches() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let check = panics_at_first(1);
    let predicate = Predicate::<ConfigMap>::new(move |_| {
        check();
        false
    });
    let watch = Watch::new(&fixture.config_maps).with_predicate(predicate);
    let running = Running::new(Controller::new("test", watch).build(recording_reconciler(recorder)));
    fixture.config_map("a").await;
    assert_eq!(records.next_key().await, "default/a");
    let error = fixture.config_maps.last_error().unwrap();
    assert!(error.starts_with("the predicate of a controller panicked for `default/a`: "), "{error}");
    fixture.config_map("b").await;
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_key_for_which_the_mapping_of_a_gate_panics_is_requeued() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let (gate, check) = (WriteGate::new(fixture.secrets.store()), panics_at_first(2));
    let keys = move |key: &ObjectKey| {
        check();
        [key.clone()]
    };
    let builder = Controller::new("test", &fixture.config_maps).read_your_writes_of(&gate, keys);
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    fixture.config_map("a").await;
    assert_eq!(records.next_key().await, "default/a");
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

/// An index value that cannot be hashed, so that the store cannot be changed.
#[derive(Clone, PartialEq, Eq)]
struct Unhashable;

impl Hash for Unhashable {
    fn hash<H: Hasher>(&self, _: &mut H) {
        panic!("no hash");
    }
}

#[tokio::test(start_paused = true)]
async fn a_controller_whose_informer_dies_stops_with_an_error_that_names_it() {
    let fixture = Fixture::started();
    fixture.secrets.add_index(Index::<Secret, _>::new("unhashable", |_| vec![Unhashable])).unwrap();
    let builder = Controller::new("web", &fixture.config_maps).owns(&fixture.secrets);
    let controller = builder.build(recording_reconciler(recorder().0));
    controller.wait_for_sync().await.unwrap();
    let running = Running::new(controller);
    fixture.create::<Secret>("a", json!({})).await;
    let error = timeout(Duration::from_secs(60), running.task).await.expect("the run ends").unwrap().unwrap_err();
    let text = "controller `web` stopped: the informer of secrets failed: it panicked: no hash; ";
    assert!(error.to_string().starts_with(text), "{error}");
    assert!(matches!(error, RunError::InformerFailed { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_controller_whose_informer_is_stopped_stops_with_an_error_that_names_it() {
    let fixture = Fixture::started();
    let controller = Controller::new("web", &fixture.config_maps).build(recording_reconciler(recorder().0));
    controller.wait_for_sync().await.unwrap();
    let running = Running::new(controller);
    tokio::time::sleep(Duration::from_secs(1)).await;
    fixture.factory.shutdown().await;
    let error = timeout(Duration::from_secs(60), running.task).await.expect("the run ends").unwrap().unwrap_err();
    assert_eq!(error.to_string(), "controller `web` stopped: the informer of configmaps was stopped");
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_hangs_is_cancelled_after_five_minutes_by_default() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let reconciler = with_state(recorder, |recorder, _: ObjectKey| async move {
        recorder.record(Instant::now());
        std::future::pending::<Result<(), ReconcileError>>().await
    });
    let running = Running::new(Controller::new("test", &fixture.config_maps).build(reconciler));
    fixture.config_map("a").await;
    let first = records.next().await;
    tokio::time::sleep(Duration::from_secs(290)).await;
    assert_eq!((records.next().await - first).as_secs(), 300);
    running.task.abort();
}
