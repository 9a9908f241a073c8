//! Several workers.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use logger_runtime::ObjectKey;
use logger_runtime::controller::{Controller, ReconcileError};
use tokio::time::{Instant, sleep};

use crate::stage::{Running, Stage, diary, shared};

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
