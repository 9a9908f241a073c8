//! Options of an informer: transforms, several namespaces, metrics.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{Api, api::PostParams};
use kubewright_apiserver::{Fault, Verb};
use kubewright_runtime::{
    informer::{AlreadyStarted, Config, HandlerOptions, SharedInformer},
    metrics::Metrics,
};

use super::fixture::{
    Fixture, RecordedEvents, config_map, describe, record_events, record_events_with, run_until_idle, start,
    start_synced, state,
};

use crate::metrics::value;

#[tokio::test(start_paused = true)]
async fn i10_a_started_informer_rejects_options() {
    let fixture = Fixture::new();
    fixture.create("a", 1).await;
    let informer = fixture.informer();
    let double = |config: Config<ConfigMap>| {
        config.reflector(|reflector| {
            reflector.transform(|map| {
                let doubled = state(map).parse::<i32>().unwrap() * 2;
                map.data = self::config_map("", doubled).data;
            })
        })
    };
    informer.configure(double).unwrap();
    let mut received = record_events(&informer);
    start_synced(&informer).await;
    received.expect_events(&["add a=2 (initial)"]).await;
    let error = informer.configure(double).unwrap_err();
    assert_eq!(error, AlreadyStarted { resource: "configmaps".to_owned() });
    assert_eq!(error.to_string(), "the informer of configmaps was already started; configure it before");
}

#[tokio::test(start_paused = true)]
async fn i11_a_transform_is_called_once_per_received_object_and_not_for_resyncs_or_tombstones() {
    let fixture = Fixture::new();
    for name in ["gone", "stays"] {
        fixture.create(name, 1).await;
    }
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let config = Config::default().resync(Duration::from_secs(1)).reflector(|reflector| {
        reflector.transform(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        })
    });
    let informer = fixture.informer_with(config);
    let mut received = record_events(&informer);
    start_synced(&informer).await;
    received.expect_unordered(&["add gone=1 (initial)", "add stays=1 (initial)"]).await;
    received.expect_unordered(&["update gone 1->1", "update stays 1->1"]).await;
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    fixture.create("late", 1).await;
    while received.next().await != "add late=1" {}
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    fixture.faults.wait_for(|faults| faults.open(Verb::Watch) == 1).await;
    fixture.faults.once(Verb::Watch, Fault::expired());
    fixture.faults.end(Verb::Watch);
    fixture.delete("gone").await;
    while received.next().await != "delete gone=1 (missed)" {}
    assert!(calls.load(Ordering::SeqCst) <= 5, "at most two more, for the relisted objects");
}

/// Creates an informer of two out of three namespaces and a recording handler. The state of an object identifies its
/// namespace.
async fn two_namespaces(fixture: &Fixture) -> (SharedInformer<ConfigMap>, RecordedEvents) {
    for (namespace, state) in [("one", 1), ("two", 2), ("three", 3)] {
        let mut object = Namespace::default();
        object.metadata.name = Some(namespace.to_owned());
        Api::all(fixture.server.client()).create(&PostParams::default(), &object).await.unwrap();
        in_namespace(fixture, namespace).create(&PostParams::default(), &config_map("a", state)).await.unwrap();
    }
    let apis = ["one", "two"].map(|namespace| Api::namespaced(fixture.client(), namespace));
    let informer = SharedInformer::with_config(apis, Config::default().memory(super::MEMORY));
    let received = record_events(&informer);
    (informer, received)
}

fn in_namespace(fixture: &Fixture, namespace: &str) -> Api<ConfigMap> {
    Api::namespaced(fixture.server.client(), namespace)
}

#[tokio::test(start_paused = true)]
async fn several_namespaces_have_one_watch_each_and_share_a_store() {
    let fixture = Fixture::new();
    let (informer, mut received) = two_namespaces(&fixture).await;
    start_synced(&informer).await;
    received.expect_unordered(&["add a=1 (initial)", "add a=2 (initial)"]).await;
    fixture.faults.wait_for(|faults| faults.open(Verb::Watch) == 2).await;
    fixture.faults.once(Verb::Watch, Fault::expired());
    fixture.faults.end(kubewright_apiserver::Requests::to("configmaps").verb(Verb::Watch).namespace("two"));
    let two = in_namespace(&fixture, "two");
    two.delete("a", &Default::default()).await.unwrap();
    two.create(&PostParams::default(), &config_map("b", 2)).await.unwrap();
    received.expect_events(&["delete a=2 (missed)", "add b=2"]).await;
    assert_eq!(
        (fixture.faults.count(Verb::List), informer.store().len()),
        (3, 2),
        "the other namespace is not relisted"
    );
    in_namespace(&fixture, "one").create(&PostParams::default(), &config_map("b", 1)).await.unwrap();
    in_namespace(&fixture, "three").create(&PostParams::default(), &config_map("b", 3)).await.unwrap();
    received.expect_events(&["add b=1"]).await;
    received.expect_none().await;
}

#[tokio::test(start_paused = true)]
async fn several_namespaces_have_synced_when_each_is_listed() {
    let fixture = Fixture::new();
    let (informer, mut received) = two_namespaces(&fixture).await;
    let lists_of_two = kubewright_apiserver::Requests::to("configmaps").verb(Verb::List).namespace("two");
    let rule = fixture.faults.always(lists_of_two.clone(), Fault::status(500, "InternalError", "no listing"));
    start(&informer);
    fixture.faults.until(lists_of_two, 2).await;
    run_until_idle().await;
    assert!(!informer.has_synced());
    assert!(informer.why_not_synced().unwrap().contains("no listing"));
    assert_eq!(received.drain(), [""; 0]);
    drop(rule);
    fixture.faults.heal();
    received.expect_unordered(&["add a=1 (initial)", "add a=2 (initial)"]).await;
    assert!(informer.has_synced());
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_namespace_does_not_affect_the_others_and_is_reported() {
    let fixture = Fixture::new();
    let (informer, mut received) = two_namespaces(&fixture).await;
    let lists_of_two = kubewright_apiserver::Requests::to("configmaps").verb(Verb::List).namespace("two");
    fixture.faults.always(lists_of_two.clone(), Fault::status(403, "Forbidden", "no listing of two"));
    start_synced(&informer).await;
    received.expect_events(&["add a=1 (initial)"]).await;
    in_namespace(&fixture, "one").create(&PostParams::default(), &config_map("b", 1)).await.unwrap();
    received.expect_events(&["add b=1"]).await;
    let error = informer.last_error().expect("the forbidden namespace is reported");
    assert!(error.contains("no listing of two") && error.contains("--namespace two"), "{error}");
    let lists = fixture.faults.count(&lists_of_two);
    fixture.faults.until(&lists_of_two, lists + 1).await;
    fixture.faults.heal();
    received.expect_events(&["add a=2"]).await;
    assert_eq!((informer.last_error(), informer.store().len()), (None, 3));
}

#[tokio::test(start_paused = true)]
async fn metrics_have_the_names_of_kubernetes() {
    let (fixture, metrics) = (Fixture::new(), Metrics::default());
    fixture.create("a", 1).await;
    let informer =
        fixture.informer_with(Config::default().name("mine").reflector(|reflector| reflector.metrics(metrics.clone())));
    let slow = informer.events_with(HandlerOptions::new().name("slow")).unwrap();
    let mut received = record_events_with(&informer, HandlerOptions::new(), describe);
    start_synced(&informer).await;
    received.expect_events(&["add a=1 (initial)"]).await;
    fixture.create("b", 1).await;
    received.expect_events(&["add b=1"]).await;
    let labels = r#"name="mine",group="",version="v1",resource="configmaps""#;
    let version: f64 = informer.store().resource_version().unwrap().as_str().parse().unwrap();
    assert_eq!(value(&metrics, &format!("informer_store_resource_version{{{labels}}}")), Some(version));
    assert_eq!(value(&metrics, &format!("informer_processing_latency_seconds_count{{{labels}}}")), Some(2.0));
    let queued = value(&metrics, &format!("informer_queued_items{{{labels}}}"));
    assert_eq!(queued, Some(2.0), "those of the slow handler");
    assert_eq!(value(&metrics, r#"reflector_lists_total{name="configmaps"}"#), Some(1.0));
    let pending = format!("informer_handler_pending_items{{{labels},handler=\"slow\"}}");
    assert_eq!(value(&metrics, &pending), Some(2.0));
    drop(slow);
    assert_eq!(value(&metrics, &pending), Some(0.0));
}
