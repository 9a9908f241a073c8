//! No reconcile starts before the informers have synced.

use std::time::Duration;

use k8s_openapi::api::storage::v1::CSIStorageCapacity;
use kubewright_apiserver::{Fault, Faults, Requests};
use kubewright_runtime::{
    SharedInformer,
    controller::{Controller, RunError},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, Running, recorder, recording_reconciler, server};

#[tokio::test(start_paused = true)]
async fn no_reconcile_starts_before_every_informer_has_synced() {
    let fixture = Fixture::new();
    fixture.config_map("a").await;
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &fixture.config_maps).owns(&fixture.secrets);
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    let (cancelled, secrets) = (CancellationToken::new(), fixture.secrets.clone());
    let informer = tokio::spawn({
        let (config_maps, cancelled) = (fixture.config_maps.clone(), cancelled.clone());
        async move { config_maps.run(cancelled).await.unwrap() }
    });
    fixture.config_maps.wait_for_sync().await.unwrap();
    assert!(records.is_idle().await, "the Secret informer has not synced");
    let token = cancelled.clone();
    let other = tokio::spawn(async move { secrets.run(token).await.unwrap() });
    assert_eq!(records.next_key().await, "default/a");
    running.stop().await.unwrap();
    cancelled.cancel();
    informer.await.unwrap();
    other.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_sync_timeout_is_an_error_that_names_the_informers_and_the_reasons() {
    let faults = Faults::new();
    faults.always(Requests::to("csistoragecapacities"), Fault::answer(404, "404 page not found\n"));
    let fixture = Fixture::with_client(server().client_with(faults.layer()));
    let capacities: SharedInformer<CSIStorageCapacity> = fixture.factory.informer();
    fixture.factory.start();
    let never: SharedInformer<k8s_openapi::api::core::v1::Pod> = fixture.factory.informer();
    let builder = Controller::new("web", &fixture.config_maps).owns(&capacities).watches(&never, |_| []);
    let controller = builder.build(recording_reconciler(recorder().0));
    let start = Instant::now();
    let error = controller.run(CancellationToken::new()).await.unwrap_err();
    assert_eq!(start.elapsed().as_secs(), 120, "two minutes, the default of controller-runtime");
    let text = error.to_string();
    let begins = "controller `web` cannot start: not synced after 120s: ";
    assert!(text.starts_with(begins), "{text}");
    for part in ["csistoragecapacities.storage.k8s.io", "does not serve", "pods: not started"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("configmaps"), "informers that have synced are not named: {text}");
    let RunError::NotSynced { controller, waited, reasons } = error else { panic!("{error}") };
    assert_eq!((controller.as_str(), waited.as_secs(), reasons.len()), ("web", 120, 2));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_informer_is_an_immediate_error() {
    let fixture = Fixture::started();
    let before = Controller::new("before", &fixture.secrets).build(recording_reconciler(recorder().0));
    fixture.factory.shutdown().await;
    let after = Controller::new("after", &fixture.config_maps).build(recording_reconciler(recorder().0));
    let start = Instant::now();
    for (controller, resource) in [(before, "secrets"), (after, "configmaps")] {
        let name = controller.name().to_owned();
        let error = controller.run(CancellationToken::new()).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("controller `{name}` cannot start: not synced after 0ns: ")), "{error}");
        assert!(error.contains(resource) && error.contains("stopped"), "{error}");
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_sync_timeout_is_configurable_and_a_stop_ends_the_wait() {
    let fixture = Fixture::new();
    let build = || {
        let builder = Controller::new("test", &fixture.config_maps).cache_sync_timeout(Duration::from_secs(5));
        builder.build(recording_reconciler(recorder().0))
    };
    let start = Instant::now();
    build().run(CancellationToken::new()).await.unwrap_err();
    assert_eq!(start.elapsed().as_secs(), 5);
    Running::new(build()).stop().await.expect("a stop is no error");
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_queue_fills_before_the_run_so_that_a_standby_replica_is_warm() {
    let fixture = Fixture::new();
    fixture.config_map("a").await;
    fixture.config_map("b").await;
    fixture.factory.start();
    let (recorder, mut records) = recorder();
    let controller = Controller::new("test", &fixture.config_maps).build(recording_reconciler(recorder));
    controller.wait_for_sync().await.unwrap();
    assert_eq!(controller.queue().len(), 2);
    assert!(records.is_idle().await, "no reconcile before the run");
    let running = Running::new(controller);
    assert_eq!((records.next_key().await, records.next_key().await), ("default/a".into(), "default/b".into()));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_run_starts_the_factory_it_was_given() {
    let fixture = Fixture::new();
    fixture.config_map("a").await;
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &fixture.config_maps).start_factory(&fixture.factory);
    let controller = builder.build(recording_reconciler(recorder));
    assert!(records.is_idle().await && !fixture.config_maps.has_synced(), "building starts nothing");
    let running = Running::new(controller);
    assert_eq!(records.next_key().await, "default/a");
    running.stop().await.unwrap();
}
