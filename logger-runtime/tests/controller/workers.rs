//! Several workers.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use logger_runtime::ObjectKey;
use logger_runtime::controller::{Action, Controller, ReconcileError};
use tokio::time::{Instant, sleep};

use crate::stage::{Reader, Running, Stage, diary, shared};

const KEYS: usize = 8;

#[tokio::test(start_paused = true)]
async fn keys_are_worked_on_side_by_side_but_never_one_twice_at_once() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let at_work = Mutex::new(HashSet::<ObjectKey>::new());
    let work = shared((at_work, diary), |state, key: ObjectKey| async move {
        let count = {
            let mut at_work = state.0.lock().unwrap();
            assert!(at_work.insert(key.clone()), "{key} is at work already");
            at_work.len()
        };
        sleep(Duration::from_millis(50)).await;
        state.0.lock().unwrap().remove(&key);
        state.1.note((count, Instant::now()));
        Ok::<_, ReconcileError>(())
    });
    let controller = Controller::for_informer("test", &stage.config_maps).workers(4).build(work);
    for name in 0..KEYS {
        stage.config_map(&name.to_string()).await;
    }
    controller.wait_for_sync().await.unwrap();
    let queue = controller.queue().clone();
    let began = Instant::now();
    let running = Running::new(controller);
    for round in 0..20 {
        // Also those that are at work right now.
        (0..KEYS).for_each(|name| queue.add(ObjectKey::namespaced("default", &name.to_string())));
        sleep(Duration::from_millis(10 + round)).await;
    }
    let mut most = 0;
    let mut last = began;
    for _ in 0..KEYS {
        let (count, at) = reader.next().await;
        (most, last) = (most.max(count), at);
    }
    assert_eq!(most, 4);
    assert!(last - began < Duration::from_millis(150), "eight keys are two rounds of four: {:?}", last - began);
    running.stop().await.unwrap();
}

/// A ConfigMap that was there at the start, and one worker that is busy for a while.
async fn busy_with(work: fn(&str) -> Action) -> (Stage, Running, Reader<String>) {
    let stage = Stage::new();
    for name in ["busy", "old", "older"] {
        stage.config_map(name).await;
    }
    let (diary, reader) = diary();
    let work = shared(diary, move |diary, key: ObjectKey| async move {
        diary.note(key.name().to_owned());
        if key.name() == "busy" {
            sleep(Duration::from_secs(10)).await;
        }
        Ok::<_, ReconcileError>(work(key.name()))
    });
    let builder = Controller::for_informer("test", &stage.config_maps).starting(&stage.factory);
    let controller = builder.build(work);
    let running = Running::new(controller);
    (stage, running, reader)
}

#[tokio::test(start_paused = true)]
async fn what_was_there_at_the_start_does_not_keep_changes_waiting() {
    let (stage, running, mut reader) = busy_with(|_| Action::Done).await;
    assert_eq!(reader.next().await, "busy");
    stage.config_map("new").await;
    stage.touch("older", "changed").await;
    assert_eq!([reader.next().await, reader.next().await, reader.next().await], ["new", "older", "old"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_comes_again_keeps_its_priority() {
    let (stage, running, mut reader) = busy_with(|name| match name {
        "old" => Action::RequeueAfter(Duration::from_secs(5)),
        _ => Action::Done,
    })
    .await;
    assert_eq!([reader.next().await, reader.next().await, reader.next().await], ["busy", "old", "older"]);
    stage.touch("busy", "changed").await;
    assert_eq!(reader.next().await, "busy");
    // Due since long, but still of low priority.
    sleep(Duration::from_secs(8)).await;
    stage.config_map("new").await;
    assert_eq!([reader.next().await, reader.next().await], ["new", "old"]);
    running.stop().await.unwrap();
}
