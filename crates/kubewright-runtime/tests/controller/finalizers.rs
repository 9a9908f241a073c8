//! Finalizers: the helper of this crate, and kube's.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Resource,
    runtime::{
        controller::Action as KubeAction,
        finalizer::{Event, finalizer},
    },
};
use kubewright_runtime::{
    Event as InformerEvent, Lister, ObjectKey, TypedClient,
    controller::{Action, Controller, FinalizerEvent, Predicate, ReconcileContext, ReconcileError, Watch, finalize},
};
use serde_json::json;

use crate::fixture::{Fixture, Recorder, Running, recorder, with_state};

struct Context {
    api: Api<ConfigMap>,
    lister: Lister<ConfigMap>,
    recorder: Recorder<&'static str>,
}

async fn reconcile(context: Arc<Context>, key: ObjectKey) -> Result<Action, ReconcileError> {
    let Ok(object) = context.lister.namespace(key.namespace()).get(key.name()) else {
        context.recorder.record("gone");
        return Ok(Action::Done);
    };
    finalizer(&context.api, "example.com/keep", object, async |event| {
        context.recorder.record(match event {
            Event::Apply(_) => "applied",
            Event::Cleanup(_) => "cleaned up",
        });
        Ok::<_, kubewright_runtime::Error>(KubeAction::await_change())
    })
    .await?;
    Ok(Action::Done)
}

#[tokio::test(start_paused = true)]
async fn kubes_finalizer_helper_applies_and_cleans_up() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let context = Context { api: fixture.api(), lister: fixture.config_maps.lister(), recorder };
    let controller = Controller::new("test", &fixture.config_maps).build(with_state(context, reconcile));
    let running = Running::new(controller);
    fixture.config_map("a").await;
    assert_eq!(records.next().await, "applied");
    fixture.delete::<ConfigMap>("a").await;
    assert_eq!(records.next().await, "cleaned up");
    assert_eq!(records.next().await, "gone");
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

/// Reconciles with our helper. The first cleanup of an object is not complete.
async fn reconcile_with_context(
    object: Arc<ConfigMap>,
    context: ReconcileContext<(Recorder<&'static str>, AtomicUsize)>,
) -> Result<Action, ReconcileError> {
    let (recorder, cleanups) = &*context;
    let reconcile = async |event| match event {
        FinalizerEvent::Apply::<ConfigMap>(object) => {
            let finalizers = object.meta().finalizers.clone().unwrap_or_default();
            assert!(finalizers.iter().any(|finalizer| finalizer == "example.com/keep"));
            recorder.record("applied");
            Ok::<_, ReconcileError>(Action::Done)
        }
        FinalizerEvent::Cleanup(_) if cleanups.fetch_add(1, Ordering::Relaxed) == 0 => {
            recorder.record("waiting");
            Ok(Action::RequeueAfter(Duration::from_secs(1)))
        }
        FinalizerEvent::Cleanup(_) => {
            recorder.record("cleaned up");
            Ok(Action::Done)
        }
    };
    context.finalize("example.com/keep", object, reconcile).await
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_is_added_before_apply_and_removed_after_cleanup() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    // Adding the finalizer must not depend on its event, which this predicate filters.
    let watch =
        Watch::new(&fixture.config_maps).with_predicate(Predicate::new(
            |event: &InformerEvent<ConfigMap>| match event {
                InformerEvent::Updated { old, new } => {
                    old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
                }
                _ => true,
            },
        ));
    let state = |_| (recorder, AtomicUsize::new(0));
    let builder = Controller::new("test", watch);
    let running = Running::new(builder.reconcile_with(state, reconcile_with_context).build());
    let others = json!({"metadata": {"finalizers": ["example.com/other"]}});
    fixture.create::<ConfigMap>("a", others).await;
    assert_eq!(records.next().await, "applied");
    assert!(records.is_idle().await);
    fixture.delete::<ConfigMap>("a").await;
    assert_eq!(records.next().await, "waiting");
    assert_eq!(records.next().await, "cleaned up");
    assert!(records.is_idle().await);
    let remaining = fixture.api::<ConfigMap>().get("a").await.unwrap();
    assert_eq!(remaining.metadata.finalizers.unwrap(), ["example.com/other"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_recreated_object_is_not_changed() {
    let fixture = Fixture::started();
    let old: ConfigMap = fixture.create("a", json!({})).await;
    fixture.delete::<ConfigMap>("a").await;
    fixture.config_map("a").await;
    let client = TypedClient::namespaced(fixture.client.clone(), "default");
    let apply = |_| async { Ok::<_, ReconcileError>(()) };
    assert!(finalize(&client, "example.com/keep", Arc::new(old), apply).await.is_err());
    assert_eq!(fixture.api::<ConfigMap>().get("a").await.unwrap().metadata.finalizers, None);
}
