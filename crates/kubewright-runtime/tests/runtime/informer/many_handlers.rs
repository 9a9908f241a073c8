//! Handlers that are added and removed while objects change, on several threads and in real time.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apiserver::Verb;
use kubewright_runtime::informer::{Event, SharedInformer};
use tokio::{sync::watch, time::timeout};

use super::fixture::{Fixture, name, start_synced};

const TIMEOUT: Duration = Duration::from_secs(60);
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i05_late_handlers_receive_every_change_exactly_once_under_churn() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    start_synced(&informer).await;
    let (churn, churning) = churn(&fixture, 100);
    let mut replicas = Vec::new();
    while !churn.is_finished() && replicas.len() < 500 {
        replicas.push(Replica::subscribe(&informer));
        tokio::task::yield_now().await;
        if replicas.len() % 100 == 0 {
            fixture.faults.cut(Verb::Watch);
        }
    }
    churn.await.unwrap();
    drop(churning);
    assert!(replicas.len() > 20, "{} handlers were added during the churn", replicas.len());
    for replica in &replicas {
        wait_until_true(&replica.at_end).await;
    }
    let stored = versions(&informer);
    for replica in replicas {
        assert_eq!(*replica.errors.lock().unwrap(), [""; 0]);
        assert_eq!(*replica.objects.lock().unwrap(), stored);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i08_a_handler_is_not_called_after_its_removal_is_acknowledged_under_churn() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    start_synced(&informer).await;
    let (churn, churning) = churn(&fixture, usize::MAX);
    let called_after = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let removed = Arc::new(AtomicBool::new(false));
        let (call, called) = watch::channel(false);
        let handler = {
            let (removed, called_after) = (removed.clone(), called_after.clone());
            move |event: &Event<ConfigMap>| {
                call.send_replace(!matches!(event, Event::Added { initial: true, .. }));
                // Long enough for a removal on another thread to interleave.
                for _ in 0..20 {
                    std::thread::yield_now();
                    called_after.fetch_add(removed.load(Ordering::SeqCst).into(), Ordering::SeqCst);
                }
            }
        };
        let registration = informer.add_event_handler(handler).unwrap();
        wait_until_true(&called).await;
        registration.remove().await;
        removed.store(true, Ordering::SeqCst);
    }
    drop(churning);
    churn.await.unwrap();
    assert_eq!(called_after.load(Ordering::SeqCst), 0);
}

async fn wait_until_true(flag: &watch::Receiver<bool>) {
    let mut flag = flag.clone();
    let result = timeout(TIMEOUT, flag.wait_for(|flag| *flag)).await;
    result.expect("an event before the timeout").expect("a live handler");
}

/// Creates, updates and deletes objects for this many rounds or until the receiver is dropped; then creates `end`.
fn churn(fixture: &Fixture, rounds: usize) -> (tokio::task::JoinHandle<()>, watch::Receiver<()>) {
    let fixture = fixture.clone();
    let (stop, churning) = watch::channel(());
    let task = tokio::spawn(async move {
        for _ in (0..rounds).take_while(|_| !stop.is_closed()) {
            for name in NAMES {
                fixture.create(name, 1).await;
            }
            for name in NAMES {
                fixture.update(name, 2).await;
            }
            for name in &NAMES[1..] {
                fixture.delete(name).await;
            }
            fixture.update("a", 3).await;
            fixture.delete("a").await;
        }
        fixture.create("stays", 1).await;
        fixture.create("end", 1).await;
    });
    (task, churning)
}

/// The state of the objects according to the events of one handler, and the events that contradict it.
struct Replica {
    objects: Arc<Mutex<BTreeMap<String, String>>>,
    errors: Arc<Mutex<Vec<String>>>,
    at_end: watch::Receiver<bool>,
}

impl Replica {
    fn subscribe(informer: &SharedInformer<ConfigMap>) -> Self {
        let objects = Arc::new(Mutex::new(BTreeMap::new()));
        let errors = Arc::new(Mutex::new(Vec::new()));
        let (end, at_end) = watch::channel(false);
        let (handler_objects, handler_errors) = (objects.clone(), errors.clone());
        let is_called = AtomicBool::new(false);
        let registration = informer.add_event_handler(move |event| {
            if is_called.swap(true, Ordering::SeqCst) {
                handler_errors.lock().unwrap().push("concurrent calls".to_owned());
            }
            let mut objects = handler_objects.lock().unwrap();
            handler_errors.lock().unwrap().extend(inconsistency(&objects, event));
            match event {
                Event::Deleted { .. } => objects.remove(name(event)),
                _ => objects.insert(name(event).to_owned(), version(event.object())),
            };
            // A late handler receives both in any order.
            end.send_replace(["stays", "end"].iter().all(|name| objects.contains_key(*name)));
            is_called.store(false, Ordering::SeqCst);
        });
        registration.unwrap();
        Replica { objects, errors, at_end }
    }
}

/// Returns how an event contradicts the events before it.
fn inconsistency(known: &BTreeMap<String, String>, event: &Event<ConfigMap>) -> Option<String> {
    let before = known.get(name(event));
    let is_consistent = match event {
        Event::Added { .. } => before.is_none(),
        Event::Updated { old, .. } => before == Some(&version(old)),
        Event::Deleted { .. } => before.is_some(),
    };
    (!is_consistent).then(|| format!("{before:?}, then {event:?}"))
}

fn version(map: &ConfigMap) -> String {
    map.metadata.resource_version.clone().unwrap_or_default()
}

fn versions(informer: &SharedInformer<ConfigMap>) -> BTreeMap<String, String> {
    let objects = informer.store().list();
    objects.iter().map(|object| (object.metadata.name.clone().unwrap_or_default(), version(object))).collect()
}
