//! Concurrency and priorities of workers.

use std::{collections::HashSet, sync::Mutex, time::Duration};

use kubewright_runtime::{
    ObjectKey,
    controller::{Action, Controller, ReconcileError},
};
use tokio::time::{Instant, sleep};

use crate::fixture::{Fixture, Records, Running, recorder, with_state};

const KEYS: usize = 8;

#[tokio::test(start_paused = true)]
async fn different_keys_are_reconciled_concurrently_but_no_key_is() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let in_progress = Mutex::new(HashSet::<ObjectKey>::new());
    let reconciler = with_state((in_progress, recorder), |state, key: ObjectKey| async move {
        let count = {
            let mut in_progress = state.0.lock().unwrap();
            assert!(in_progress.insert(key.clone()), "{key} is processed concurrently");
            in_progress.len()
        };
        sleep(Duration::from_millis(50)).await;
        state.0.lock().unwrap().remove(&key);
        state.1.record((count, Instant::now()));
        Ok::<_, ReconcileError>(())
    });
    let controller = Controller::new("test", &fixture.config_maps).max_concurrent_reconciles(4).build(reconciler);
    for name in 0..KEYS {
        fixture.config_map(&name.to_string()).await;
    }
    controller.wait_for_sync().await.unwrap();
    let queue = controller.queue().clone();
    let start = Instant::now();
    let running = Running::new(controller);
    for round in 0..20 {
        // Includes keys that are being processed.
        (0..KEYS).for_each(|name| queue.add(ObjectKey::namespaced("default", &name.to_string())));
        sleep(Duration::from_millis(10 + round)).await;
    }
    let mut most = 0;
    let mut last = start;
    for _ in 0..KEYS {
        let (count, at) = records.next().await;
        (most, last) = (most.max(count), at);
    }
    assert_eq!(most, 4);
    assert!(last - start < Duration::from_millis(150), "eight keys are two rounds of four: {:?}", last - start);
    running.stop().await.unwrap();
}

/// Starts a controller with one worker, which the first of three existing ConfigMaps keeps busy for ten seconds.
async fn with_busy_worker(action: fn(&str) -> Action) -> (Fixture, Running, Records<String>) {
    let fixture = Fixture::new();
    for name in ["busy", "old", "older"] {
        fixture.config_map(name).await;
    }
    let (recorder, records) = recorder();
    let reconciler = with_state(recorder, move |recorder, key: ObjectKey| async move {
        recorder.record(key.name().to_owned());
        if key.name() == "busy" {
            sleep(Duration::from_secs(10)).await;
        }
        Ok::<_, ReconcileError>(action(key.name()))
    });
    let builder = Controller::new("test", &fixture.config_maps).start_factory(&fixture.factory);
    let controller = builder.build(reconciler);
    let running = Running::new(controller);
    (fixture, running, records)
}

#[tokio::test(start_paused = true)]
async fn changes_take_precedence_over_the_initial_list() {
    let (fixture, running, mut records) = with_busy_worker(|_| Action::Done).await;
    assert_eq!(records.next().await, "busy");
    fixture.config_map("new").await;
    fixture.touch("older", "changed").await;
    assert_eq!([records.next().await, records.next().await, records.next().await], ["new", "older", "old"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_requeued_key_keeps_its_priority() {
    let (fixture, running, mut records) = with_busy_worker(|name| match name {
        "old" => Action::RequeueAfter(Duration::from_secs(5)),
        _ => Action::Done,
    })
    .await;
    assert_eq!([records.next().await, records.next().await, records.next().await], ["busy", "old", "older"]);
    fixture.touch("busy", "changed").await;
    assert_eq!(records.next().await, "busy");
    // Due for three seconds, but still of low priority.
    sleep(Duration::from_secs(8)).await;
    fixture.config_map("new").await;
    assert_eq!([records.next().await, records.next().await], ["new", "old"]);
    running.stop().await.unwrap();
}
