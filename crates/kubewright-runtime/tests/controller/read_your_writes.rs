//! The write gate: a key is not reconciled before the cache contains the writes that belong to it.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{Api, api::PostParams};
use kubewright_apiserver::{Fault, Faults, Requests, Verb};
use kubewright_runtime::{
    Error, InformerFactory, ObjectKey, ReconcileContext, WriteGate,
    controller::{Controller, ReconcileError},
};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, Recorder, Running, recorder, recording_reconciler, server};

/// Creates a fixture whose Secret informer, the cache of the written objects, does not run yet.
async fn stale_cache() -> (Fixture, WriteGate<Secret>, CancellationToken) {
    let (fixture, cancelled) = (Fixture::new(), CancellationToken::new());
    let (config_maps, until) = (fixture.config_maps.clone(), cancelled.clone());
    tokio::spawn(async move { config_maps.run(until).await.unwrap() });
    for name in ["a", "b"] {
        fixture.config_map(name).await;
    }
    let gate = WriteGate::new(fixture.secrets.store());
    (fixture, gate, cancelled)
}

#[tokio::test(start_paused = true)]
async fn a_key_waits_until_the_cache_has_its_writes_and_other_keys_do_not() {
    let (fixture, gate, cancelled) = stale_cache().await;
    gate.record_write(&fixture.create::<Secret>("a", json!({})).await);
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &fixture.config_maps).read_your_writes(&gate);
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    assert_eq!(records.next_key().await, "default/b");
    assert!(records.is_idle().await);
    fixture.touch("b", "changed").await;
    assert_eq!(records.next_key().await, "default/b", "a gated key occupies no worker");
    let secrets = fixture.secrets.clone();
    tokio::spawn(async move { secrets.run(cancelled).await.unwrap() });
    assert_eq!(records.next_key().await, "default/a");
    assert!(records.is_idle().await, "reconciled once only");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_gate_can_map_keys_to_objects_with_other_names() {
    let (fixture, gate, cancelled) = stale_cache().await;
    gate.record_write(&fixture.create::<Secret>("a-token", json!({})).await);
    let token_of = |key: &ObjectKey| [ObjectKey::namespaced(key.namespace(), &format!("{}-token", key.name()))];
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &fixture.config_maps).read_your_writes_of(&gate, token_of);
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    assert_eq!(records.next_key().await, "default/b");
    assert!(records.is_idle().await);
    let secrets = fixture.secrets.clone();
    tokio::spawn(async move { secrets.run(cancelled).await.unwrap() });
    assert_eq!(records.next_key().await, "default/a");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_key_waits_for_the_cache_of_its_namespace_only() {
    let fixture = Fixture::new();
    let namespace = serde_json::from_value(json!({"metadata": {"name": "quiet"}})).unwrap();
    Api::<Namespace>::all(fixture.client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    let factory = InformerFactory::builder(fixture.client.clone()).namespaces(["default", "quiet"]).build();
    let config_maps = factory.informer::<ConfigMap>();
    factory.start();
    factory.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    let gate = WriteGate::new(config_maps.store());
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &config_maps).read_your_writes(&gate);
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    let start = Instant::now();
    for name in ["a", "b", "c"] {
        gate.record_write(&fixture.create::<ConfigMap>(name, json!({})).await);
        assert_eq!(records.next_key().await, format!("default/{name}"));
    }
    assert!(start.elapsed() < Duration::from_secs(1), "the other namespace has no event: {:?}", start.elapsed());
    running.stop().await.unwrap();
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_the_cache() {
    let (fixture, gate, _cancelled) = stale_cache().await;
    gate.record_write(&fixture.create::<Secret>("a", json!({})).await);
    let builder = Controller::new("test", &fixture.config_maps).read_your_writes(&gate);
    let reconcile = |_| async { Ok::<_, ReconcileError>(()) };
    let running = Running::new(builder.graceful_shutdown_timeout(Duration::ZERO).build(reconcile));
    tokio::time::sleep(Duration::from_millis(10)).await;
    running.stop().await.expect("nothing is being processed");
}

/// Runs a controller that creates a Secret for each ConfigMap through the client of the controller, and records whether
/// the cache had the Secret when the reconciliation started.
fn run_creator(fixture: &Fixture, recorder: Recorder<(String, bool)>) -> Running {
    let secrets = fixture.secrets.store();
    let reconcile = move |config_map: Arc<ConfigMap>, context: ReconcileContext| {
        let (recorder, key) = (recorder.clone(), context.key().clone());
        let is_cached = secrets.get_by_key(&key).is_some();
        async move {
            recorder.record((key.to_string(), is_cached));
            if !is_cached {
                let mut secret = Secret::default();
                secret.metadata.name.clone_from(&config_map.metadata.name);
                context.typed::<Secret>().create(&secret, &PostParams::default()).await?;
            }
            Ok::<_, Error>(())
        }
    };
    let builder = Controller::new("test", &fixture.config_maps).owns(&fixture.secrets);
    Running::new(builder.reconcile(reconcile).build())
}

#[tokio::test(start_paused = true)]
async fn writes_of_the_controllers_client_are_recorded() {
    let faults = Faults::new();
    let fixture = Fixture::with_client(server().client_with(faults.layer()));
    fixture.factory.start();
    fixture.factory.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    let (recorder, mut records) = recorder();
    let running = run_creator(&fixture, recorder);
    // The cache of Secrets receives nothing from now on.
    let reads = |verb| Requests::to("secrets").verb(verb);
    for verb in [Verb::List, Verb::Watch] {
        faults.always(reads(verb), Fault::too_many_requests(1));
    }
    faults.cut(reads(Verb::Watch));
    fixture.config_map("a").await;
    assert_eq!(records.next().await, ("default/a".to_owned(), false));
    let start = Instant::now();
    fixture.touch("a", "changed").await;
    fixture.config_map("b").await;
    assert_eq!(records.next().await, ("default/b".to_owned(), false), "other keys do not wait");
    faults.heal();
    assert_eq!(records.next().await, ("default/a".to_owned(), true), "the cache has the write");
    assert!(start.elapsed() < Duration::from_secs(10));
    running.stop().await.unwrap();
}
