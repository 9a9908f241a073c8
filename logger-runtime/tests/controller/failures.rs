//! What becomes of a key whose work fails.

use std::sync::Mutex;
use std::time::Duration;

use logger_runtime::controller::{Action, Controller, ReconcileError};
use logger_runtime::{ObjectKey, Reconciler};
use tokio::time::Instant;

use crate::stage::{Diary, Reader, Running, Stage, diary, shared};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A work that comes to these results, one after the other, and then succeeds; and when each was.
type Script = fn() -> Result<Action, ReconcileError>;

fn scripted(script: &[Script], diary: Diary<Instant>) -> impl Reconciler + use<> {
    let script: Vec<_> = script.iter().rev().copied().collect();
    shared((Mutex::new(script), diary), |state, _| {
        state.1.note(Instant::now());
        let next = state.0.lock().unwrap().pop();
        async move { next.map_or(Ok(Action::Done), |next| next()) }
    })
}

const FAIL: Script = || Err(ReconcileError::new("it fails"));
const FAIL_FOR_GOOD: Script = || Err(ReconcileError::terminal("it is wrong"));
const PANIC: Script = || panic!("it panics");
const REQUEUE: Script = || Ok(Action::Requeue);
const LATER: Script = || Ok(Action::RequeueAfter(Duration::from_secs(7)));
const AT_ONCE: Script = || Ok(Action::RequeueAfter(Duration::ZERO));

/// The waits between this many runs of the script, beginning with one event.
async fn waits(script: &[Script], runs: usize) -> Vec<Duration> {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let running = Running::new(Controller::for_informer("test", &stage.config_maps).build(scripted(script, diary)));
    stage.config_map("a").await;
    let times = times(&mut reader, runs).await;
    assert!(reader.is_silent().await);
    running.stop().await.unwrap();
    times.windows(2).map(|pair| rounded(pair[1] - pair[0])).collect()
}

async fn times(reader: &mut Reader<Instant>, count: usize) -> Vec<Instant> {
    let mut times = Vec::new();
    for _ in 0..count {
        times.push(reader.next().await);
    }
    times
}

/// Tokio's timers are true to a millisecond.
fn rounded(wait: Duration) -> Duration {
    MS(wait.as_millis().try_into().unwrap())
}

#[tokio::test(start_paused = true)]
async fn work_that_fails_is_done_again_later_each_time_until_it_succeeds() {
    assert_eq!(waits(&[FAIL, FAIL, FAIL, FAIL], 5).await, [5, 10, 20, 40].map(MS));
}

#[tokio::test(start_paused = true)]
async fn success_forgets_what_failed_before() {
    assert_eq!(waits(&[FAIL, FAIL, AT_ONCE, FAIL], 5).await, [5, 10, 0, 5].map(MS));
}

#[tokio::test(start_paused = true)]
async fn work_that_panics_is_done_again_later_each_time() {
    assert_eq!(waits(&[PANIC, FAIL, PANIC], 4).await, [5, 10, 20].map(MS));
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_the_work_is_a_future_is_caught_too() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let panics = shared((Mutex::new(true), diary), |state, _| {
        state.1.note(());
        assert!(!std::mem::take(&mut *state.0.lock().unwrap()), "the first time");
        async { Ok::<_, ReconcileError>(()) }
    });
    let running = Running::new(Controller::for_informer("test", &stage.config_maps).build(panics));
    stage.config_map("a").await;
    reader.next().await;
    reader.next().await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn requeue_comes_again_as_after_a_failure() {
    assert_eq!(waits(&[REQUEUE, REQUEUE, FAIL], 4).await, [5, 10, 20].map(MS));
}

#[tokio::test(start_paused = true)]
async fn requeue_after_comes_again_then_and_forgets_what_failed_before() {
    assert_eq!(waits(&[FAIL, LATER, FAIL, AT_ONCE], 5).await, [5, 7000, 5, 0].map(MS));
}

#[tokio::test(start_paused = true)]
async fn an_event_comes_before_requeue_after_is_due_and_takes_its_place() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let running = Running::new(Controller::for_informer("test", &stage.config_maps).build(scripted(&[LATER], diary)));
    stage.config_map("a").await;
    let first = reader.next().await;
    stage.touch("a", "changed").await;
    assert!(reader.next().await - first < Duration::from_secs(1));
    assert!(reader.is_silent().await, "one entry per key: the event took the place of what was due later");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn q28_a_terminal_error_is_not_requeued_and_forgets_what_failed_before() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let script = scripted(&[FAIL, FAIL, FAIL_FOR_GOOD, FAIL], diary);
    let controller = Controller::for_informer("test", &stage.config_maps).build(script);
    let queue = controller.queue().clone();
    let running = Running::new(controller);
    stage.config_map("a").await;
    times(&mut reader, 3).await;
    assert!(reader.is_silent().await, "a terminal error is not requeued");
    assert_eq!(queue.num_requeues(&ObjectKey::namespaced("default", "a")), 0);
    stage.touch("a", "changed").await;
    let [failed, again] = times(&mut reader, 2).await.try_into().unwrap();
    assert_eq!(rounded(again - failed), MS(5), "it begins from the shortest delay");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn work_that_takes_too_long_is_cancelled_and_done_again() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let hangs = shared((Mutex::new(2), diary), |state, _| async move {
        state.1.note(Instant::now());
        let hangs = std::mem::replace(&mut *state.0.lock().unwrap(), 0);
        if hangs > 0 {
            std::future::pending::<()>().await;
        }
        Ok::<_, ReconcileError>(())
    });
    let builder = Controller::for_informer("test", &stage.config_maps).reconcile_timeout(Duration::from_secs(3));
    let running = Running::new(builder.build(hangs));
    stage.config_map("a").await;
    let [hung, again] = times(&mut reader, 2).await.try_into().unwrap();
    assert_eq!(rounded(again - hung), MS(3005));
    assert!(reader.is_silent().await);
    running.stop().await.unwrap();
}
