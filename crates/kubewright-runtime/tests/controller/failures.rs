//! Requeueing of keys whose reconcile fails.

use std::{sync::Mutex, time::Duration};

use kubewright_runtime::{
    ObjectKey, Reconciler,
    controller::{Action, Controller, ReconcileError},
};
use tokio::time::Instant;

use crate::fixture::{Fixture, Recorder, Records, Running, recorder, with_state};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// One result of a reconcile.
type Outcome = fn() -> Result<Action, ReconcileError>;

/// Creates a reconciler that returns these outcomes in turn, then succeeds, and records when each call starts.
fn scripted(script: &[Outcome], recorder: Recorder<Instant>) -> impl Reconciler + use<> {
    let script: Vec<_> = script.iter().rev().copied().collect();
    with_state((Mutex::new(script), recorder), |state, _| {
        state.1.record(Instant::now());
        let next = state.0.lock().unwrap().pop();
        async move { next.map_or(Ok(Action::Done), |next| next()) }
    })
}

const FAIL: Outcome = || Err(ReconcileError::new("failed"));
const FAIL_TERMINALLY: Outcome = || Err(ReconcileError::terminal("invalid"));
const PANIC: Outcome = || panic!("panicked");
const REQUEUE: Outcome = || Ok(Action::Requeue);
const LATER: Outcome = || Ok(Action::RequeueAfter(Duration::from_secs(7)));
const NOW: Outcome = || Ok(Action::RequeueAfter(Duration::ZERO));

/// Returns the delays between this many reconciles of a key that one event enqueued.
async fn delays(script: &[Outcome], runs: usize) -> Vec<Duration> {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let running = Running::new(Controller::new("test", &fixture.config_maps).build(scripted(script, recorder)));
    fixture.config_map("a").await;
    let times = times(&mut records, runs).await;
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
    times.windows(2).map(|pair| rounded(pair[1] - pair[0])).collect()
}

async fn times(records: &mut Records<Instant>, count: usize) -> Vec<Instant> {
    let mut times = Vec::new();
    for _ in 0..count {
        times.push(records.next().await);
    }
    times
}

/// Rounds to milliseconds, the resolution of tokio's timers.
fn rounded(delay: Duration) -> Duration {
    MS(delay.as_millis().try_into().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_failed_key_is_requeued_with_growing_back_off_until_it_succeeds() {
    assert_eq!(delays(&[FAIL, FAIL, FAIL, FAIL], 5).await, [5, 10, 20, 40].map(MS));
}

#[tokio::test(start_paused = true)]
async fn a_success_resets_the_back_off() {
    assert_eq!(delays(&[FAIL, FAIL, NOW, FAIL], 5).await, [5, 10, 0, 5].map(MS));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_requeued_with_back_off() {
    assert_eq!(delays(&[PANIC, FAIL, PANIC], 4).await, [5, 10, 20].map(MS));
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_the_future_is_returned_is_caught() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let reconciler = with_state((Mutex::new(true), recorder), |state, _| {
        state.1.record(());
        assert!(!std::mem::take(&mut *state.0.lock().unwrap()), "panicked at first");
        async { Ok::<_, ReconcileError>(()) }
    });
    let running = Running::new(Controller::new("test", &fixture.config_maps).build(reconciler));
    fixture.config_map("a").await;
    records.next().await;
    records.next().await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn requeue_uses_the_back_off_of_failures() {
    assert_eq!(delays(&[REQUEUE, REQUEUE, FAIL], 4).await, [5, 10, 20].map(MS));
}

#[tokio::test(start_paused = true)]
async fn requeue_after_waits_that_long_and_resets_the_back_off() {
    assert_eq!(delays(&[FAIL, LATER, FAIL, NOW], 5).await, [5, 7000, 5, 0].map(MS));
}

#[tokio::test(start_paused = true)]
async fn an_event_replaces_a_pending_requeue_after() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let running = Running::new(Controller::new("test", &fixture.config_maps).build(scripted(&[LATER], recorder)));
    fixture.config_map("a").await;
    let first = records.next().await;
    fixture.touch("a", "changed").await;
    assert!(records.next().await - first < Duration::from_secs(1));
    assert!(records.is_idle().await, "one entry per key: the event replaced the delayed one");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn q28_a_terminal_error_is_not_requeued_and_resets_the_back_off() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let script = scripted(&[FAIL, FAIL, FAIL_TERMINALLY, FAIL], recorder);
    let controller = Controller::new("test", &fixture.config_maps).build(script);
    let queue = controller.queue().clone();
    let running = Running::new(controller);
    fixture.config_map("a").await;
    times(&mut records, 3).await;
    assert!(records.is_idle().await, "a terminal error is not requeued");
    assert_eq!(queue.num_requeues(&ObjectKey::namespaced("default", "a")), 0);
    fixture.touch("a", "changed").await;
    let [failed, retried] = times(&mut records, 2).await.try_into().unwrap();
    assert_eq!(rounded(retried - failed), MS(5), "the back-off starts at its minimum");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_exceeds_its_timeout_is_cancelled_and_requeued() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let reconciler = with_state((Mutex::new(2), recorder), |state, _| async move {
        state.1.record(Instant::now());
        let hangs = std::mem::replace(&mut *state.0.lock().unwrap(), 0);
        if hangs > 0 {
            std::future::pending::<()>().await;
        }
        Ok::<_, ReconcileError>(())
    });
    let builder = Controller::new("test", &fixture.config_maps).reconciliation_timeout(Duration::from_secs(3));
    let running = Running::new(builder.build(reconciler));
    fixture.config_map("a").await;
    let [timed_out, retried] = times(&mut records, 2).await.try_into().unwrap();
    assert_eq!(rounded(retried - timed_out), MS(3005));
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}
