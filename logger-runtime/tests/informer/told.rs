//! What an informer is told: selectors, transforms, several namespaces, where to measure.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::PostParams;
use logger_apiserver::{Fault, Verb};
use logger_runtime::informer::{Config, HandlerOptions, SharedInformer, Started};
use logger_runtime::metrics::{Counter, Gauge, Histogram, Labels, Metric, Metrics, NoMetrics};

use crate::world::{Heard, World, hear, hear_as, map, run, settle, state, synced, told};

#[tokio::test(start_paused = true)]
async fn i10_an_informer_that_was_started_takes_no_transform_and_no_error_handler() {
    let world = World::new();
    world.create("a", 1).await;
    let informer = world.informer();
    let double = |config: Config<ConfigMap>| {
        config.reflector(|reflector| {
            reflector.transform(|map| {
                let twice = state(map).parse::<i32>().unwrap() * 2;
                map.data = self::map("", twice).data;
            })
        })
    };
    informer.configure(double).unwrap();
    let mut heard = hear(&informer);
    synced(&informer).await;
    heard.these(&["add a=2 (initial)"]).await;
    let refused = informer.configure(double).unwrap_err();
    assert_eq!(refused, Started { resource: "configmaps".to_owned() });
    assert_eq!(refused.to_string(), "the informer of configmaps was started: give it its options before");
}

#[tokio::test(start_paused = true)]
async fn i11_a_transform_is_called_once_for_each_object_from_the_wire_and_not_at_resyncs_or_for_tombstones() {
    let world = World::new();
    for name in ["gone", "stays"] {
        world.create(name, 1).await;
    }
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let config = Config::default().resync(Duration::from_secs(1)).reflector(|reflector| {
        reflector.transform(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        })
    });
    let informer = world.informer_with(config);
    let mut heard = hear(&informer);
    synced(&informer).await;
    heard.all_of(&["add gone=1 (initial)", "add stays=1 (initial)"]).await;
    heard.all_of(&["update gone 1->1", "update stays 1->1"]).await;
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    world.create("late", 1).await;
    while heard.next().await != "add late=1" {}
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    world.faults.wait_for(|faults| faults.open(Verb::Watch) == 1).await;
    world.faults.once(Verb::Watch, Fault::expired());
    world.faults.end(Verb::Watch);
    world.delete("gone").await;
    while heard.next().await != "delete gone=1 (missed)" {}
    assert!(calls.load(Ordering::SeqCst) <= 5, "at most the two that were listed again");
}

/// An informer over two of three namespaces, and what a handler hears of it. The state of an object is its namespace's.
async fn of_two(world: &World) -> (SharedInformer<ConfigMap>, Heard) {
    for (namespace, of) in [("one", 1), ("two", 2), ("three", 3)] {
        let mut made = Namespace::default();
        made.metadata.name = Some(namespace.to_owned());
        Api::all(world.server.client()).create(&PostParams::default(), &made).await.unwrap();
        in_namespace(world, namespace).create(&PostParams::default(), &map("a", of)).await.unwrap();
    }
    let apis = ["one", "two"].map(|namespace| Api::namespaced(world.client(), namespace));
    let informer = SharedInformer::with_config(apis, Config::default());
    let heard = hear(&informer);
    (informer, heard)
}

fn in_namespace(world: &World, namespace: &str) -> Api<ConfigMap> {
    Api::namespaced(world.server.client(), namespace)
}

#[tokio::test(start_paused = true)]
async fn several_namespaces_have_a_watch_each_and_one_store() {
    let world = World::new();
    let (informer, mut heard) = of_two(&world).await;
    synced(&informer).await;
    heard.all_of(&["add a=1 (initial)", "add a=2 (initial)"]).await;
    world.faults.wait_for(|faults| faults.open(Verb::Watch) == 2).await;
    world.faults.once(Verb::Watch, Fault::expired());
    world.faults.end(logger_apiserver::Requests::to("configmaps").verb(Verb::Watch).namespace("two"));
    let two = in_namespace(&world, "two");
    two.delete("a", &Default::default()).await.unwrap();
    two.create(&PostParams::default(), &map("b", 2)).await.unwrap();
    heard.these(&["delete a=2 (missed)", "add b=2"]).await;
    assert_eq!((world.faults.count(Verb::List), informer.store().len()), (3, 2), "the other is left alone");
    in_namespace(&world, "one").create(&PostParams::default(), &map("b", 1)).await.unwrap();
    in_namespace(&world, "three").create(&PostParams::default(), &map("b", 3)).await.unwrap();
    heard.these(&["add b=1"]).await;
    heard.nothing().await;
}

#[tokio::test(start_paused = true)]
async fn several_namespaces_have_synced_when_each_is_listed() {
    let world = World::new();
    let (informer, mut heard) = of_two(&world).await;
    let lists_of_two = logger_apiserver::Requests::to("configmaps").verb(Verb::List).namespace("two");
    let refused = world.faults.always(lists_of_two.clone(), Fault::status(403, "Forbidden", "no listing"));
    run(&informer);
    world.faults.until(lists_of_two, 2).await;
    settle().await;
    assert!(!informer.has_synced());
    assert!(informer.why_not_synced().unwrap().contains("no listing"));
    assert_eq!(heard.now(), [""; 0]);
    drop(refused);
    world.faults.heal();
    heard.all_of(&["add a=1 (initial)", "add a=2 (initial)"]).await;
    assert!(informer.has_synced());
}

/// The last value of each line.
#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<std::collections::BTreeMap<String, f64>>>);

struct Line(Lines, String);

impl Lines {
    fn line(&self, metric: Metric, labels: Labels<'_>) -> Line {
        let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Line(self.clone(), format!("{}{{{}}}", metric.name, labels.join(",")))
    }

    fn get(&self, line: &str) -> Option<f64> {
        self.0.lock().unwrap().get(line).copied()
    }
}

impl Metrics for Lines {
    fn counter(&self, _: Metric, _: Labels<'_>) -> Arc<dyn Counter> {
        Arc::new(NoMetrics)
    }

    fn gauge(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Gauge> {
        Arc::new(self.line(metric, labels))
    }

    fn histogram(&self, metric: Metric, labels: Labels<'_>, _: &'static [f64]) -> Arc<dyn Histogram> {
        Arc::new(self.line(metric, labels))
    }

    fn refresh_with(&self, refresh: std::sync::Weak<dyn logger_runtime::metrics::Refresh>) {
        // Whoever reads the lines would have this called: the test does as soon as it is known.
        refresh.upgrade().unwrap().refresh();
    }
}

impl Gauge for Line {
    fn set(&self, value: f64) {
        self.0.0.lock().unwrap().insert(self.1.clone(), value);
    }
}

impl Histogram for Line {
    fn observe(&self, value: f64) {
        assert!(value >= 0.0);
        *self.0.0.lock().unwrap().entry(self.1.clone()).or_default() += 1.0;
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_measured_under_the_names_of_kubernetes() {
    let (world, lines) = (World::new(), Lines::default());
    world.create("a", 1).await;
    let informer = world.informer_with(Config::default().name("mine").metrics(Arc::new(lines.clone())));
    let slow = informer.events_with(HandlerOptions::new().name("slow")).unwrap();
    let mut heard = hear_as(&informer, HandlerOptions::new(), told);
    synced(&informer).await;
    heard.these(&["add a=1 (initial)"]).await;
    world.create("b", 1).await;
    heard.these(&["add b=1"]).await;
    let labels = "name=mine,group=,version=v1,resource=configmaps";
    let version: f64 = informer.store().version().unwrap().as_str().parse().unwrap();
    assert_eq!(lines.get(&format!("informer_store_resource_version{{{labels}}}")), Some(version));
    assert_eq!(lines.get(&format!("informer_processing_latency_seconds{{{labels}}}")), Some(2.0));
    assert_eq!(
        lines.get(&format!("informer_queued_items{{{labels}}}")),
        Some(3.0),
        "two of the slow, one of the other"
    );
    assert!(lines.get("reflector_lists_total{name=configmaps}").is_none(), "counters are not kept here");
    drop(slow);
    assert_eq!(lines.get(&format!("informer_handler_pending_items{{{labels},handler=slow}}")), Some(0.0));
}
