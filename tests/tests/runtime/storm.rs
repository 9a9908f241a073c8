//! The informer's promises under churn, on several threads and in real time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use logger_runtime::{Event, SharedInformer};
use logger_types::v1::Logger;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::hearing::{World, informer, name, synced};
use crate::line::Line;

const LONG_ENOUGH: Duration = Duration::from_secs(20);
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_late_handler_loses_nothing_and_hears_nothing_twice_under_churn() {
    let line = Line::new().await;
    let informer = informer(&line);
    synced(&informer).await;
    let (churn, churning) = churn(&line, 150);
    let mut copies = Vec::new();
    while !churn.is_finished() {
        copies.push(Copy::follow(&informer));
        tokio::task::yield_now().await;
        if copies.len() % 100 == 0 {
            line.cut();
        }
        if copies.len() > 2000 {
            break;
        }
    }
    drop(churning);
    churn.await.unwrap();
    assert!(copies.len() > 20, "{} handlers came while objects changed", copies.len());
    for copy in &copies {
        is_true(&copy.at_end).await;
    }
    let stored = states(&informer);
    for copy in copies {
        assert_eq!(*copy.wrong.lock().unwrap(), [""; 0]);
        assert_eq!(*copy.objects.lock().unwrap(), stored);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handler_is_not_called_after_its_removal_returned_under_churn() {
    let line = Line::new().await;
    let informer = informer(&line);
    synced(&informer).await;
    let (churn, churning) = churn(&line, usize::MAX);
    let called_after = Arc::new(AtomicUsize::new(0));
    for _ in 0..200 {
        let removed = Arc::new(AtomicBool::new(false));
        let (call, called) = watch::channel(false);
        let handler = {
            let (removed, called_after) = (removed.clone(), called_after.clone());
            move |event: &Event<Logger>| {
                call.send_replace(!matches!(event, Event::Added { initial: true, .. }));
                // Long enough for a removal on another thread to come in between.
                for _ in 0..20 {
                    std::thread::yield_now();
                    called_after.fetch_add(removed.load(Ordering::SeqCst).into(), Ordering::SeqCst);
                }
            }
        };
        let registration = informer.add_event_handler(handler);
        is_true(&called).await;
        informer.remove_event_handler(registration);
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
fn churn(line: &Line, rounds: usize) -> (tokio::task::JoinHandle<()>, watch::Receiver<()>) {
    let world = World::of(line);
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
    fn follow(informer: &SharedInformer<Logger>) -> Self {
        let objects = Arc::new(Mutex::new(BTreeMap::new()));
        let wrong = Arc::new(Mutex::new(Vec::new()));
        let (end, at_end) = watch::channel(false);
        let (mine, errors) = (objects.clone(), wrong.clone());
        let is_called = AtomicBool::new(false);
        let replayed = AtomicBool::new(false);
        informer.add_event_handler(move |event| {
            if is_called.swap(true, Ordering::SeqCst) {
                errors.lock().unwrap().push("two calls at a time".into());
            }
            let mut objects = mine.lock().unwrap();
            if let Some(error) = misfit(&objects, event, &replayed) {
                errors.lock().unwrap().push(error);
            }
            match event {
                Event::Deleted { .. } => objects.remove(name(event)),
                _ => objects.insert(name(event).to_owned(), version(event.object())),
            };
            end.send_replace(objects.contains_key("end"));
            is_called.store(false, Ordering::SeqCst);
        });
        Copy { objects, wrong, at_end }
    }
}

/// Why an event cannot follow what was heard before.
fn misfit(known: &BTreeMap<String, String>, event: &Event<Logger>, replayed: &AtomicBool) -> Option<String> {
    let before = known.get(name(event));
    let is_initial = matches!(event, Event::Added { initial: true, .. });
    let fits = match event {
        Event::Added { .. } => before.is_none(),
        Event::Updated { old, .. } => before == Some(&version(old)),
        Event::Deleted { .. } => before.is_some(),
    };
    let in_order = !(replayed.fetch_or(!is_initial, Ordering::SeqCst) && is_initial);
    (!fits || !in_order).then(|| format!("{before:?} and then {event:?}"))
}

fn version(logger: &Logger) -> String {
    logger.metadata.resource_version.clone().unwrap_or_default()
}

fn states(informer: &SharedInformer<Logger>) -> BTreeMap<String, String> {
    let objects = informer.store().list();
    let named = objects.iter().map(|object| (object.metadata.name.clone().unwrap_or_default(), version(object)));
    named.collect()
}
