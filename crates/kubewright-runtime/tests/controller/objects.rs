//! Reconcilers that get the object: context, deleted keys and the error hook.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright_runtime::{
    Error,
    controller::{Action, Controller, ReconcileContext, ReconcileError},
    kube::{Api, Client},
};
use serde_json::json;

use crate::fixture::{Fixture, Recorder, Running, recorder};

/// The state of the tests: a recorder, and a client that was created from that of the controller.
struct State {
    recorder: Recorder<String>,
    secrets: Api<Secret>,
}

fn state(recorder: Recorder<String>) -> impl FnOnce(Client) -> State {
    |client| State { recorder, secrets: Api::namespaced(client, "default") }
}

async fn record_text(object: Arc<ConfigMap>, context: ReconcileContext<State>) -> Result<(), ReconcileError> {
    let text = object.data.as_ref().and_then(|data| data.get("text")).cloned().unwrap_or_default();
    if text == "fail" {
        context.secrets.get("missing").await?;
    }
    context.recorder.record(format!("{}: {text}", context.key()));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_reconciler_gets_the_object_from_the_cache() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &fixture.config_maps);
    let controller = builder.reconcile_with(state(recorder), record_text).build();
    let running = Running::new(controller);
    fixture.create::<ConfigMap>("a", json!({"data": {"text": "one"}})).await;
    assert_eq!(records.next().await, "default/a: one");
    fixture.touch("a", "two").await;
    assert_eq!(records.next().await, "default/a: two");
    fixture.delete::<ConfigMap>("a").await;
    assert!(records.is_idle().await, "a deleted key is done");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deleted_key_is_passed_to_its_function() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let gone = |context: ReconcileContext<State>| async move {
        context.recorder.record(format!("{} is gone", context.key()));
        Ok::<_, ReconcileError>(())
    };
    let builder = Controller::new("test", &fixture.config_maps);
    let builder = builder.reconcile_with(state(recorder), record_text).on_deleted(gone);
    let running = Running::new(builder.build());
    fixture.config_map("a").await;
    assert_eq!(records.next().await, "default/a: ");
    fixture.delete::<ConfigMap>("a").await;
    assert_eq!(records.next().await, "default/a is gone");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_error_hook_decides_what_follows() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let on_error = |object: &Arc<ConfigMap>, error: ReconcileError, context: &ReconcileContext<State>| {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        context.recorder.record(format!("{name} failed: {}", error.to_string().contains("missing")));
        match name {
            "done" => Ok(Action::Done),
            "later" => Ok(Action::RequeueAfter(Duration::from_secs(5))),
            _ => Err(ReconcileError::terminal("gives up")),
        }
    };
    let builder = Controller::new("test", &fixture.config_maps);
    let builder = builder.reconcile_with(state(recorder), record_text).on_error(on_error);
    let running = Running::new(builder.build());
    for name in ["done", "terminal"] {
        fixture.create::<ConfigMap>(name, json!({"data": {"text": "fail"}})).await;
        assert_eq!(records.next().await, format!("{name} failed: true"));
        assert!(records.is_idle().await, "{name} is not retried");
    }
    fixture.create::<ConfigMap>("later", json!({"data": {"text": "fail"}})).await;
    for _ in 0..3 {
        assert_eq!(records.next().await, "later failed: true");
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_typed_client_has_the_namespace_of_the_object() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let reconcile = |object: Arc<ConfigMap>, context: ReconcileContext<State>| async move {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let secret = context.typed::<Secret>().get(name).await?;
        context.recorder.record(secret.metadata.namespace.unwrap_or_default());
        Ok::<_, Error>(Action::Done)
    };
    let builder = Controller::new("test", &fixture.config_maps);
    let running = Running::new(builder.reconcile_with(state(recorder), reconcile).build());
    fixture.create::<Secret>("a", json!({})).await;
    fixture.config_map("a").await;
    assert_eq!(records.next().await, "default");
    running.stop().await.unwrap();
}
