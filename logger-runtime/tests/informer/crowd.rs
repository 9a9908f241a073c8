//! Handlers that come and go while objects change, on several threads and in real time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use logger_apiserver::Verb;
use logger_runtime::informer::{Event, SharedInformer};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::world::{World, name, synced};

const LONG_ENOUGH: Duration = Duration::from_secs(60);
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i05_late_handlers_lose_nothing_and_hear_nothing_twice_under_churn() {
    let world = World::new();
    let informer = world.informer();
    synced(&informer).await;
    let (churn, churning) = churn(&world, 100);
    let mut copies = Vec::new();
    while !churn.is_finished() && copies.len() < 500 {
        copies.push(Copy::follow(&informer));
        tokio::task::yield_now().await;
        if copies.len() % 100 == 0 {
            world.faults.cut(Verb::Watch);
        }
    }
    churn.await.unwrap();
    drop(churning);
    assert!(copies.len() > 20, "{} handlers came while objects changed", copies.len());
    for copy in &copies {
        is_true(&copy.at_end).await;
    }
    let stored = versions(&informer);
    for copy in copies {
        assert_eq!(*copy.wrong.lock().unwrap(), [""; 0]);
        assert_eq!(*copy.objects.lock().unwrap(), stored);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i08_a_handler_is_not_called_after_its_removal_is_acknowledged_under_churn() {
    let world = World::new();
    let informer = world.informer();
    synced(&informer).await;
    let (churn, churning) = churn(&world, usize::MAX);
    let called_after = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let removed = Arc::new(AtomicBool::new(false));
        let (call, called) = watch::channel(false);
        let handler = {
            let (removed, called_after) = (removed.clone(), called_after.clone());
            move |event: &Event<ConfigMap>| {
                call.send_replace(!matches!(event, Event::Added { initial: true, .. }));
                // Long enough for a removal on another thread to come in between.
                for _ in 0..20 {
                    std::thread::yield_now();
                    called_after.fetch_add(removed.load(Ordering::SeqCst).into(), Ordering::SeqCst);
                }
            }
        };
        let registration = informer.add_event_handler(handler).unwrap();
        is_true(&called).await;
        registration.remove().await;
        removed.store(true, Ordering::SeqCst);
    }
    drop(churning);
    churn.await.unwrap();
    assert_eq!(called_after.load(Ordering::SeqCst), 0);
}

async fn is_true(flag: &watch::Receiver<bool>) {
    let mut flag = flag.clone();
    let became = timeout(LONG_ENOUGH, flag.wait_for(|flag| *flag)).await;
    became.expect("the handler hears of it").expect("the handler is there");
}

/// Creates, changes and deletes objects, and at last creates `end`: after so many rounds, or when told to stop.
fn churn(world: &World, rounds: usize) -> (tokio::task::JoinHandle<()>, watch::Receiver<()>) {
    let world = world.clone();
    let (going_on, churning) = watch::channel(());
    let task = tokio::spawn(async move {
        for _ in (0..rounds).take_while(|_| !going_on.is_closed()) {
            for name in NAMES {
                world.create(name, 1).await;
            }
            for name in NAMES {
                world.set(name, 2).await;
            }
            for name in &NAMES[1..] {
                world.delete(name).await;
            }
            world.set("a", 3).await;
            world.delete("a").await;
        }
        world.create("stays", 1).await;
        world.create("end", 1).await;
    });
    (task, churning)
}

/// What a handler knows from its events alone, and which of them did not fit.
struct Copy {
    objects: Arc<Mutex<BTreeMap<String, String>>>,
    wrong: Arc<Mutex<Vec<String>>>,
    at_end: watch::Receiver<bool>,
}

impl Copy {
    fn follow(informer: &SharedInformer<ConfigMap>) -> Self {
        let objects = Arc::new(Mutex::new(BTreeMap::new()));
        let wrong = Arc::new(Mutex::new(Vec::new()));
        let (end, at_end) = watch::channel(false);
        let (mine, errors) = (objects.clone(), wrong.clone());
        let is_called = AtomicBool::new(false);
        let following = informer.add_event_handler(move |event| {
            if is_called.swap(true, Ordering::SeqCst) {
                errors.lock().unwrap().push("two calls at a time".to_owned());
            }
            let mut objects = mine.lock().unwrap();
            errors.lock().unwrap().extend(misfit(&objects, event));
            match event {
                Event::Deleted { .. } => objects.remove(name(event)),
                _ => objects.insert(name(event).to_owned(), version(event.object())),
            };
            // A late handler hears of both in whatever order.
            end.send_replace(["stays", "end"].iter().all(|name| objects.contains_key(*name)));
            is_called.store(false, Ordering::SeqCst);
        });
        following.unwrap();
        Copy { objects, wrong, at_end }
    }
}

/// Why an event cannot follow what was heard before.
fn misfit(known: &BTreeMap<String, String>, event: &Event<ConfigMap>) -> Option<String> {
    let before = known.get(name(event));
    let fits = match event {
        Event::Added { .. } => before.is_none(),
        Event::Updated { old, .. } => before == Some(&version(old)),
        Event::Deleted { .. } => before.is_some(),
    };
    (!fits).then(|| format!("{before:?} and then {event:?}"))
}

fn version(map: &ConfigMap) -> String {
    map.metadata.resource_version.clone().unwrap_or_default()
}

fn versions(informer: &SharedInformer<ConfigMap>) -> BTreeMap<String, String> {
    let objects = informer.store().list();
    objects.iter().map(|object| (object.metadata.name.clone().unwrap_or_default(), version(object))).collect()
}
