//! Options and metrics of a reflector.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, core::PartialObjectMeta};
use kubewright_runtime::{
    Reflector,
    metrics::Metrics,
    reflector::{Config, Event, InitialListStrategy, Shard},
};
use serde_json::{Value, json};

use super::{
    fixture::start_reflector,
    scripted_server::{Reply, ScriptedServer, bookmark, error, event, list, object},
};
use crate::metrics::value;

fn one_list_and_two_events() -> ScriptedServer {
    ScriptedServer::new(|request, _| match request.watch {
        false => list(&["a", "b"], "10", ""),
        true => Reply::OpenWatch(vec![event("MODIFIED", "a", "11"), event("DELETED", "b", "12")]),
    })
}

#[tokio::test(start_paused = true)]
async fn selectors_and_tweaks_apply_to_every_request() {
    let server = one_list_and_two_events();
    let config = Config::default().labels("app=web").fields("metadata.name!=x").tweak_list_options(|options| {
        options.label_selector.as_mut().unwrap().push_str(",tier=1");
        options.timeout = options.timeout.map(|timeout| timeout / 10);
    });
    start_reflector(&server, config).expect_events(&["all a b @10", "a @11"]).await;
    for request in [&server.lists()[0], &server.watches()[0]] {
        assert_eq!(
            (request.option("labelSelector"), request.option("fieldSelector")),
            ("app=web,tier=1", "metadata.name!=x")
        );
        assert_eq!(request.path, "/api/v1/namespaces/default/configmaps");
    }
    assert!(server.watches()[0].option("timeoutSeconds").parse::<u64>().unwrap() <= 60);
}

#[tokio::test(start_paused = true)]
async fn i10_each_received_object_is_transformed_once_including_deleted_ones() {
    let server = one_list_and_two_events();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let config = Config::default().transform(move |object: &mut ConfigMap| {
        object.metadata.resource_version = None;
        object.data = Some([("seen".into(), counted.fetch_add(1, Ordering::SeqCst).to_string())].into());
    });
    let mut events = start_reflector(&server, config);
    // The versions are those of the response, although the transform removed them.
    events.expect_events(&["all a b @10", "a @11"]).await;
    let Ok(Event::Deleted { object, .. }) = events.event().await else { panic!("expected a deletion") };
    assert_eq!(object.data.as_ref().unwrap()["seen"], "3");
    assert_eq!(count.load(Ordering::SeqCst), 4);
}

#[tokio::test(start_paused = true)]
async fn i11_streamed_objects_are_transformed_once() {
    let server = ScriptedServer::new(|_, _| {
        Reply::OpenWatch(vec![
            event("ADDED", "a", "1"),
            event("ADDED", "b", "2"),
            bookmark("3", true),
            event("ADDED", "c", "4"),
        ])
    });
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let config = Config::default().initial_list_strategy(InitialListStrategy::WatchList);
    let config = config.transform(move |_: &mut ConfigMap| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    start_reflector(&server, config).expect_events(&["all a b @3", "c @4"]).await;
    assert_eq!(count.load(Ordering::SeqCst), 3, "client-go's reflector calls it five times");
}

#[tokio::test(start_paused = true)]
async fn managed_fields_are_dropped_by_default() {
    let managed = || {
        let mut object = object("a", "1");
        object["metadata"]["managedFields"] = json!([{"manager": "kubectl", "operation": "Update"}]);
        object
    };
    let server = ScriptedServer::new(move |request, _| match request.watch {
        false => Reply::Json(json!({"metadata": {"resourceVersion": "1"}, "items": [managed()]})),
        true => Reply::OpenWatch(vec![json!({"type": "MODIFIED", "object": managed()})]),
    });
    for keep in [false, true] {
        let config = if keep { Config::default().keep_managed_fields() } else { Config::default() };
        let mut events = start_reflector(&server, config);
        let Ok(Event::Replaced { objects, .. }) = events.event().await else { panic!("expected the initial list") };
        let Ok(Event::Applied { object, .. }) = events.event().await else { panic!("expected a change") };
        for object in [&objects[0], &object] {
            assert_eq!(object.metadata.managed_fields.is_some(), keep);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn unchanged_objects_are_reused_by_a_relist() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, 0) => list(&["a"], "10", ""),
        (false, _) => {
            let items = [object("a", "10"), object("b", "11")];
            Reply::Json(json!({"metadata": {"resourceVersion": "11"}, "items": items}))
        }
        (true, 0) => Reply::Watch(vec![error(410, "Expired")]),
        (true, _) => Reply::OpenWatch(vec![]),
    });
    let known: Arc<Mutex<Option<Arc<ConfigMap>>>> = Arc::default();
    let stored = Arc::clone(&known);
    let config = Config::default().reuse(move |namespace, name, version| {
        assert_eq!(namespace, "default");
        stored.lock().unwrap().clone().filter(|_| (name, version) == ("a", "10"))
    });
    let mut events = start_reflector(&server, config);
    let Ok(Event::Replaced { objects, .. }) = events.event().await else { panic!("expected the initial list") };
    *known.lock().unwrap() = Some(Arc::clone(&objects[0]));
    events.error().await;
    let Ok(Event::Replaced { objects: again, .. }) = events.event().await else { panic!("expected the relist") };
    assert!(Arc::ptr_eq(&objects[0], &again[0]));
    assert_eq!(again.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn shards_partition_the_objects_even_if_the_server_ignores_them() {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let server = ScriptedServer::new(|request, _| match request.watch {
        false => list(&NAMES, "10", ""),
        true => Reply::OpenWatch(NAMES.iter().map(|name| event("DELETED", name, "11")).collect()),
    });
    let mut seen = BTreeSet::new();
    for index in 0..3 {
        let shard = Shard::by_uid(index, 3).unwrap();
        let mut events = start_reflector(&server, Config::default().shard(shard.clone()));
        let Ok(Event::Replaced { objects, .. }) = events.event().await else { panic!("expected the initial list") };
        let mine: BTreeSet<_> = objects.iter().map(|object| object.metadata.name.clone().unwrap()).collect();
        for _ in NAMES {
            match events.event().await.unwrap() {
                Event::Deleted { object, .. } => assert!(mine.contains(object.metadata.name.as_ref().unwrap())),
                event => assert!(matches!(event, Event::Bookmark { version } if version.as_str() == "11")),
            }
        }
        assert_eq!(server.lists().last().unwrap().option("shardSelector"), shard.to_string());
        assert!(mine.iter().all(|name| seen.insert(name.clone())), "{mine:?} and {seen:?}");
    }
    assert_eq!(seen.len(), NAMES.len());
}

#[tokio::test(start_paused = true)]
async fn partial_object_metadata_is_requested_by_its_media_type() {
    let server = one_list_and_two_events();
    let api: Api<PartialObjectMeta<ConfigMap>> = Api::all(server.client());
    let mut events = Reflector::new(api).events().boxed();
    let Some(Ok(Event::Replaced { objects, .. })) = events.next().await else { panic!("expected the initial list") };
    assert_eq!(objects.len(), 2);
    assert!(matches!(events.next().await, Some(Ok(Event::Applied { .. }))));
    let accepted = (&*server.lists()[0].accept, &*server.watches()[0].accept);
    let partial = ["application/json;as=PartialObjectMetadata", ";g=meta.k8s.io;v=v1"];
    assert_eq!(accepted, (&*partial.join("List"), &*partial.concat()));
}

#[tokio::test(start_paused = true)]
async fn metrics_of_lists_and_watches_have_the_names_of_client_go() {
    let server = ScriptedServer::new(|request, before| match (request.watch, before) {
        (false, _) => list(&["a", "b"], "10", ""),
        (true, 0) => Reply::Watch(vec![event("MODIFIED", "a", "1234567890123456789")]),
        (true, 1) => Reply::Watch(Vec::<Value>::new()),
        (true, _) => Reply::OpenWatch(vec![event("MODIFIED", "a", "1234567890123456790")]),
    });
    let metrics = Metrics::default();
    let config = Config::default().metrics(metrics.clone());
    start_reflector(&server, config)
        .expect_events(&["all a b @10", "a @1234567890123456789", "a @1234567890123456790"])
        .await;
    let name = r#"{name="configmaps"}"#;
    for (series, expected) in [
        ("reflector_lists_total", 1.0),
        ("reflector_list_duration_seconds_count", 1.0),
        ("reflector_items_per_list_sum", 2.0),
        ("reflector_watches_total", 2.0),
        ("reflector_watch_duration_seconds_count", 2.0),
        ("reflector_items_per_watch_sum", 1.0),
        ("reflector_short_watches_total", 1.0),
        ("reflector_last_resource_version", 567_890_123_456_790.0),
    ] {
        assert_eq!(value(&metrics, &format!("{series}{name}")), Some(expected), "{series}");
    }
    assert_eq!(value(&metrics, r#"reflector_failing{name="configmaps",namespace="default"}"#), Some(0.0));
}
