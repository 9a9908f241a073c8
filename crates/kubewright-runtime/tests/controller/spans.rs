//! The spans of reconciliations: their fields, and what is in them.

use std::{collections::BTreeSet, sync::Mutex, time::Duration};

use http::{Method, Request};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, client::Body};
use kubewright_runtime::{
    ObjectKey,
    controller::{Action, Controller, ReconcileError},
};
use serde_json::json;
use tower::util::MapRequestLayer;
use uuid::Uuid;

use crate::{
    fixture::{Fixture, Running, recorder, server, with_state},
    log::LOG,
};

/// Returns a field of the spans of the reconciliations of a controller in which this message was logged.
fn field(controller: &str, message: &str, name: &str) -> Vec<String> {
    let spans = LOG.spans(message).into_iter().flatten();
    let reconciliations = spans.filter(|span| span.name == "reconcile" && span.field("controller") == controller);
    reconciliations.map(|span| span.field(name).to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_reconciliation_has_a_span_with_the_fields_of_controller_runtime() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let controller = Controller::new("spans", &fixture.config_maps).build(move |key: ObjectKey| {
        let recorder = recorder.clone();
        async move {
            tracing::info!("reconciling");
            recorder.record(key);
            Ok::<_, ReconcileError>(())
        }
    });
    controller.wait_for_sync().await.unwrap();
    let (queue, running) = (controller.queue().clone(), Running::new(controller));
    fixture.config_map("a").await;
    records.next().await;
    queue.add(ObjectKey::cluster("external"));
    records.next().await;
    running.stop().await.unwrap();
    let field = |name| field("spans", "reconciling", name);
    assert_eq!(field("namespace"), ["default", ""]);
    assert_eq!(field("name"), ["a", "external"]);
    assert_eq!(field("trigger"), ["ConfigMap added", "queue"]);
    let ids: BTreeSet<_> = field("reconcileID").iter().map(|id| Uuid::parse_str(id).unwrap()).collect();
    assert_eq!(ids.len(), 2, "each reconciliation has an id");
}

/// Reconciles with each of these results in turn, and then successfully.
fn with_results(results: Vec<Result<Action, &'static str>>) -> impl kubewright_runtime::Reconciler {
    with_state(Mutex::new(results), |results, _| async move {
        tracing::info!("reconciling");
        let mut results = results.lock().unwrap();
        let result = if results.is_empty() { Ok(Action::Done) } else { results.remove(0) };
        result.map_err(ReconcileError::new)
    })
}

#[tokio::test(start_paused = true)]
async fn the_trigger_is_the_event_or_the_result_that_added_the_key() {
    let fixture = Fixture::new();
    fixture.config_map("a").await;
    let results = vec![Err("failed"), Ok(Action::Requeue), Ok(Action::RequeueAfter(Duration::from_secs(60)))];
    let builder = Controller::new("triggers", &fixture.config_maps).owns(&fixture.secrets);
    let controller = builder.build(with_results(results));
    fixture.factory.start();
    let running = Running::new(controller);
    let settle = || tokio::time::sleep(Duration::from_mins(2));
    settle().await;
    fixture.touch("a", "new").await;
    settle().await;
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u", "controller": true});
    fixture.create::<Secret>("owned", json!({"metadata": {"ownerReferences": [owner]}})).await;
    settle().await;
    fixture.delete::<ConfigMap>("a").await;
    settle().await;
    running.stop().await.unwrap();
    let expected = [
        "ConfigMap initial",
        "retry",
        "requeue",
        "requeue_after",
        "ConfigMap updated",
        "Secret added",
        "ConfigMap deleted",
    ];
    assert_eq!(field("triggers", "reconciling", "trigger"), expected);
}

#[tokio::test(start_paused = true)]
async fn the_requests_of_a_reconciler_are_in_its_span() {
    let requests = MapRequestLayer::new(|request: Request<Body>| {
        if request.method() == Method::POST {
            tracing::info!("requesting");
        }
        request
    });
    let fixture = Fixture::with_client(server().client_with(requests));
    fixture.factory.start();
    let (recorder, mut records) = recorder();
    let builder = Controller::new("requests", &fixture.config_maps);
    let controller = builder.client(&fixture.client).build_with_client(move |client| {
        move |key: ObjectKey| {
            let (recorder, secrets) = (recorder.clone(), Api::<Secret>::namespaced(client.clone(), "default"));
            async move {
                let mut secret = Secret::default();
                secret.metadata.name = Some(key.name().to_owned());
                let created = secrets.create(&kube::api::PostParams::default(), &secret).await;
                recorder.record(created.map(drop));
                Ok::<_, ReconcileError>(())
            }
        }
    });
    let running = Running::new(controller);
    fixture.config_map("a").await;
    records.next().await.unwrap();
    running.stop().await.unwrap();
    assert_eq!(field("requests", "requesting", "name"), ["a"]);
}
