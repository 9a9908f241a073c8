//! What a reflector can be told, over a client.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::core::PartialObjectMeta;
use logger_runtime::Reflector;
use logger_runtime::metrics::{Counter, Gauge, Histogram, Labels, Metric, Metrics};
use logger_runtime::reflector::{Config, Event, InitialSync, Shard};
use serde_json::{Value, json};

use crate::hearing::hear;
use crate::script::{Answer, Script, bookmark, error, event, list, object};

fn one_list_and_an_event() -> Script {
    Script::new(|asked, _| match asked.watch {
        false => list(&["a", "b"], "10", ""),
        true => Answer::Open(vec![event("MODIFIED", "a", "11"), event("DELETED", "b", "12")]),
    })
}

#[tokio::test(start_paused = true)]
async fn selectors_and_tweaks_are_in_every_request() {
    let script = one_list_and_an_event();
    let config = Config::default().labels("app=web").fields("metadata.name!=x").tweak(|options| {
        options.label_selector.as_mut().unwrap().push_str(",tier=1");
        options.timeout = options.timeout.map(|timeout| timeout / 10);
    });
    hear(&script, config).these(&["all a b @10", "a @11"]).await;
    for asked in [&script.lists()[0], &script.watches()[0]] {
        assert_eq!(
            (asked.option("labelSelector"), asked.option("fieldSelector")),
            ("app=web,tier=1", "metadata.name!=x")
        );
        assert_eq!(asked.path, "/api/v1/namespaces/default/configmaps");
    }
    assert!(script.watches()[0].option("timeoutSeconds").parse::<u64>().unwrap() <= 60);
}

#[tokio::test(start_paused = true)]
async fn i10_each_object_from_the_wire_is_transformed_once_deletions_too() {
    let script = one_list_and_an_event();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let config = Config::default().transform(move |object: &mut ConfigMap| {
        object.metadata.resource_version = None;
        object.data = Some([("seen".into(), counted.fetch_add(1, Ordering::SeqCst).to_string())].into());
    });
    let mut heard = hear(&script, config);
    // The versions are those of the wire, though the transform has dropped them.
    heard.these(&["all a b @10", "a @11"]).await;
    let Ok(Event::Deleted { object, .. }) = heard.event().await else { panic!("a deletion was to come") };
    assert_eq!(object.data.as_ref().unwrap()["seen"], "3");
    assert_eq!(count.load(Ordering::SeqCst), 4);
}

#[tokio::test(start_paused = true)]
async fn i11_streamed_objects_are_transformed_once_too() {
    let script = Script::new(|_, _| {
        Answer::Open(vec![
            event("ADDED", "a", "1"),
            event("ADDED", "b", "2"),
            bookmark("3", true),
            event("ADDED", "c", "4"),
        ])
    });
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let config = Config::default().initial_sync(InitialSync::WatchList);
    let config = config.transform(move |_: &mut ConfigMap| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    hear(&script, config).these(&["all a b @3", "c @4"]).await;
    assert_eq!(count.load(Ordering::SeqCst), 3, "Go's reflector calls it five times");
}

#[tokio::test(start_paused = true)]
async fn managed_fields_are_dropped_unless_they_are_to_be_kept() {
    let managed = || {
        let mut object = object("a", "1");
        object["metadata"]["managedFields"] = json!([{"manager": "kubectl", "operation": "Update"}]);
        object
    };
    let script = Script::new(move |asked, _| match asked.watch {
        false => Answer::Json(json!({"metadata": {"resourceVersion": "1"}, "items": [managed()]})),
        true => Answer::Open(vec![json!({"type": "MODIFIED", "object": managed()})]),
    });
    for keep in [false, true] {
        let config = if keep { Config::default().keep_managed_fields() } else { Config::default() };
        let mut heard = hear(&script, config);
        let Ok(Event::Replaced { objects, .. }) = heard.event().await else { panic!("all are told first") };
        let Ok(Event::Applied { object, .. }) = heard.event().await else { panic!("a change was to come") };
        for object in [&objects[0], &object] {
            assert_eq!(object.metadata.managed_fields.is_some(), keep);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_did_not_change_is_the_same_object_after_a_relist() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, 0) => list(&["a"], "10", ""),
        (false, _) => {
            let items = [object("a", "10"), object("b", "11")];
            Answer::Json(json!({"metadata": {"resourceVersion": "11"}, "items": items}))
        }
        (true, 0) => Answer::Lines(vec![error(410, "Expired")]),
        (true, _) => Answer::Open(vec![]),
    });
    let known: Arc<Mutex<Option<Arc<ConfigMap>>>> = Arc::default();
    let stored = Arc::clone(&known);
    let config = Config::default().reuse(move |namespace, name, version| {
        assert_eq!(namespace, "default");
        stored.lock().unwrap().clone().filter(|_| (name, version) == ("a", "10"))
    });
    let mut heard = hear(&script, config);
    let Ok(Event::Replaced { objects, .. }) = heard.event().await else { panic!("all are told first") };
    *known.lock().unwrap() = Some(Arc::clone(&objects[0]));
    heard.error().await;
    let Ok(Event::Replaced { objects: again, .. }) = heard.event().await else { panic!("all are told again") };
    assert!(Arc::ptr_eq(&objects[0], &again[0]));
    assert_eq!(again.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn shards_share_the_objects_also_where_the_server_knows_none() {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let script = Script::new(|asked, _| match asked.watch {
        false => list(&NAMES, "10", ""),
        true => Answer::Open(NAMES.iter().map(|name| event("DELETED", name, "11")).collect()),
    });
    let mut seen = BTreeSet::new();
    for index in 0..3 {
        let shard = Shard::by_uid(index, 3).unwrap();
        let mut heard = hear(&script, Config::default().shard(shard.clone()));
        let Ok(Event::Replaced { objects, .. }) = heard.event().await else { panic!("all are told first") };
        let mine: BTreeSet<_> = objects.iter().map(|object| object.metadata.name.clone().unwrap()).collect();
        for _ in NAMES {
            match heard.event().await.unwrap() {
                Event::Deleted { object, .. } => assert!(mine.contains(object.metadata.name.as_ref().unwrap())),
                event => assert!(matches!(event, Event::Bookmark { version } if version.as_str() == "11")),
            }
        }
        assert_eq!(script.lists().last().unwrap().option("shardSelector"), shard.to_string());
        assert!(mine.iter().all(|name| seen.insert(name.clone())), "{mine:?} and {seen:?}");
    }
    assert_eq!(seen.len(), NAMES.len());
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_is_asked_for_by_its_type() {
    let script = one_list_and_an_event();
    let api: Api<PartialObjectMeta<ConfigMap>> = Api::all(script.client());
    let mut events = Reflector::new(api).events().boxed();
    let Some(Ok(Event::Replaced { objects, .. })) = events.next().await else { panic!("all are told first") };
    assert_eq!(objects.len(), 2);
    assert!(matches!(events.next().await, Some(Ok(Event::Applied { .. }))));
    let accepted = (&*script.lists()[0].accept, &*script.watches()[0].accept);
    let partial = ["application/json;as=PartialObjectMetadata", ";g=meta.k8s.io;v=v1"];
    assert_eq!(accepted, (&*partial.join("List"), &*partial.concat()));
}

/// Notes every value as `name labels value`.
#[derive(Clone, Debug, Default)]
struct Noted(Arc<Mutex<Vec<String>>>);

struct Line(Noted, String);

impl Noted {
    fn line(&self, metric: Metric, labels: Labels<'_>) -> Arc<Line> {
        Arc::new(Line(self.clone(), format!("{}{labels:?}", metric.name)))
    }
}

impl Line {
    fn note(&self, value: f64) {
        self.0.0.lock().unwrap().push(format!("{} {value}", self.1));
    }
}

impl Metrics for Noted {
    fn counter(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Counter> {
        self.line(metric, labels)
    }

    fn gauge(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Gauge> {
        self.line(metric, labels)
    }

    fn histogram(&self, metric: Metric, labels: Labels<'_>, _: &'static [f64]) -> Arc<dyn Histogram> {
        self.line(metric, labels)
    }
}

impl Counter for Line {
    fn add(&self, count: u64) {
        self.note(u32::try_from(count).unwrap().into());
    }
}

impl Gauge for Line {
    fn set(&self, value: f64) {
        self.note(value);
    }
}

impl Histogram for Line {
    fn observe(&self, value: f64) {
        self.note(value);
    }
}

#[tokio::test(start_paused = true)]
async fn lists_and_watches_are_counted_by_kind_under_the_names_of_go() {
    let script = Script::new(|asked, before| match (asked.watch, before) {
        (false, _) => list(&["a", "b"], "10", ""),
        (true, 0) => Answer::Lines(vec![event("MODIFIED", "a", "1234567890123456789")]),
        (true, 1) => Answer::Lines(Vec::<Value>::new()),
        (true, _) => Answer::Open(vec![event("MODIFIED", "a", "12")]),
    });
    let noted = Noted::default();
    let config = Config::default().metrics(Arc::new(noted.clone()));
    hear(&script, config).these(&["all a b @10", "a @1234567890123456789", "a @12"]).await;
    let lines = noted.0.lock().unwrap().clone();
    let name = r#"[("name", "configmaps")]"#;
    let expected = [
        format!("reflector_lists_total{name} 1"),
        format!("reflector_list_duration_seconds{name} 0"),
        format!("reflector_items_per_list{name} 2"),
        format!("reflector_last_resource_version{name} 10"),
        format!("reflector_last_resource_version{name} 567890123456789"),
        format!("reflector_watches_total{name} 1"),
        format!("reflector_watch_duration_seconds{name} 0"),
        format!("reflector_items_per_watch{name} 1"),
        format!("reflector_watches_total{name} 1"),
        format!("reflector_watch_duration_seconds{name} 0"),
        format!("reflector_items_per_watch{name} 0"),
        format!("reflector_short_watches_total{name} 1"),
        format!("reflector_last_resource_version{name} 12"),
    ];
    assert_eq!(lines, expected);
}
