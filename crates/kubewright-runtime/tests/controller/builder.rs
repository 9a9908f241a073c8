//! What a controller declares with its builder: references, a finalizer, an event recorder and errors of any type.

use std::{io, sync::Arc};

use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    events::v1::Event,
};
use kube::{Api, ResourceExt};
use kubewright_core::description::{Permission, Verb};
use kubewright_runtime::{
    EventRecorder, ReconcileContext,
    controller::{Action, Controller, ReconcileError},
    events::EventConfig,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, Recorder, Running, recorder};

async fn record_key(_: Arc<ConfigMap>, ctx: ReconcileContext<Recorder<String>>) -> Result<(), ReconcileError> {
    ctx.record(ctx.key().to_string());
    Ok(())
}

fn secret_of(map: &ConfigMap) -> Option<&str> {
    Some(map.data.as_ref()?.get("secret")?.as_str())
}

fn certificate_of(map: &ConfigMap) -> Option<&str> {
    Some(map.data.as_ref()?.get("certificate")?.as_str())
}

#[tokio::test(start_paused = true)]
async fn events_of_referenced_objects_enqueue_those_that_refer_to_them() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let controller = Controller::new("test", &fixture.config_maps)
        .reconcile_with(|_| recorder, record_key)
        .watches_by(&fixture.secrets, secret_of)
        .watches_by(&fixture.secrets, certificate_of)
        .build();
    let running = Running::new(controller);
    fixture.create::<ConfigMap>("a", json!({"data": {"secret": "one"}})).await;
    assert_eq!(records.next().await, "default/a");
    fixture.create::<ConfigMap>("b", json!({"data": {"secret": "other", "certificate": "one"}})).await;
    assert_eq!(records.next().await, "default/b");
    fixture.create::<ConfigMap>("c", json!({})).await;
    assert_eq!(records.next().await, "default/c");

    fixture.create::<Secret>("one", json!({})).await;
    let mut keys = [records.next().await, records.next().await];
    keys.sort();
    assert_eq!(keys, ["default/a", "default/b"]);
    fixture.create::<Secret>("unused", json!({})).await;
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn metadata_is_enough_to_find_references() {
    let fixture = Fixture::new();
    let secrets = fixture.factory.metadata_informer::<Secret>();
    fixture.factory.start();
    let (recorder, mut records) = recorder();
    let controller = Controller::new("test", &fixture.config_maps)
        .reconcile_with(|_| recorder, record_key)
        .watches_by(&secrets, secret_of)
        .build();
    let running = Running::new(controller);
    fixture.create::<ConfigMap>("a", json!({"data": {"secret": "one"}})).await;
    assert_eq!(records.next().await, "default/a");
    fixture.create::<Secret>("one", json!({"metadata": {"labels": {"a": "b"}}, "data": {"key": "dmFsdWU="}})).await;
    assert_eq!(records.next().await, "default/a");
    let stored = secrets.store().get("default", "one").unwrap();
    assert_eq!(stored.labels()["a"], "b");
    assert!(!serde_json::to_string(&*stored).unwrap().contains("dmFsdWU="));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_controller_with_too_many_references_does_not_run() {
    let fixture = Fixture::started();
    let (recorder, _records) = recorder();
    let mut builder = Controller::new("test", &fixture.config_maps).reconcile_with(|_| recorder, record_key);
    for _ in 0..9 {
        builder = builder.watches_by(&fixture.secrets, secret_of);
    }
    let error = builder.build().run(CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("kubewright_runtime_reference_8"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_finalizer_of_a_builder_separates_the_cleanup_and_is_a_permission() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let cleanup = |map: Arc<ConfigMap>, ctx: ReconcileContext<Recorder<String>>| async move {
        ctx.record(format!("cleanup of {}", map.name_any()));
        Ok::<_, ReconcileError>(Action::Done)
    };
    let controller = Controller::new("test", &fixture.config_maps)
        .reconcile_with(|_| recorder, record_key)
        .finalizer("example.com/test", cleanup)
        .build();
    let is_patch = |permission: &Permission| {
        permission.rule.verbs == [Verb::Patch.as_str()]
            && permission.rule.resources.iter().flatten().any(|resource| resource == "configmaps")
    };
    assert!(controller.permissions().iter().any(is_patch));
    let running = Running::new(controller);
    fixture.config_map("a").await;
    assert_eq!(records.next().await, "default/a");
    records.drain().await;
    fixture.delete::<ConfigMap>("a").await;
    assert_eq!(records.next().await, "cleanup of a");
    assert!(records.is_idle().await);
    assert!(fixture.api::<ConfigMap>().get_opt("a").await.unwrap().is_none());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_context_records_events() {
    let fixture = Fixture::started();
    let (recorder, worker) = EventRecorder::new(fixture.client.clone(), "test", EventConfig::default()).unwrap();
    let stop = CancellationToken::new();
    let written = tokio::spawn(worker.run(stop.clone()));
    let (done, mut records) = crate::fixture::recorder();
    let reconcile = |map: Arc<ConfigMap>, ctx: ReconcileContext<Recorder<String>>| async move {
        ctx.warning(&*map, "Tested", "a note");
        ctx.record(ctx.key().to_string());
        Ok::<_, ReconcileError>(())
    };
    let builder = Controller::new("test", &fixture.config_maps).events(&recorder);
    let running = Running::new(builder.reconcile_with(|_| done, reconcile).build());
    fixture.config_map("a").await;
    records.next().await;
    running.stop().await.unwrap();
    stop.cancel();
    written.await.unwrap().unwrap();
    let events: Api<Event> = fixture.api();
    let events = events.list(&kube::api::ListParams::default()).await.unwrap().items;
    let event = &events[0];
    assert_eq!((event.reason.as_deref(), event.type_.as_deref()), (Some("Tested"), Some("Warning")));
    assert_eq!(event.note.as_deref(), Some("a note"));
}

#[tokio::test(start_paused = true)]
async fn reconcilers_return_errors_of_any_type() {
    let fixture = Fixture::started();
    let of_text = Controller::new("text", &fixture.config_maps)
        .reconcile(|_, _| async { Err::<(), _>("a text".to_owned()) })
        .build();
    let of_boxed = Controller::new("boxed", &fixture.config_maps)
        .reconcile(|_, _| async { Err::<(), Box<dyn std::error::Error + Send + Sync>>(io::Error::other("no").into()) })
        .build();
    drop((of_text, of_boxed));
}
