//! Shutdown of a controller.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{
    ObjectKey,
    controller::{Controller, ReconcileError, RunError},
};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};

use crate::fixture::{Fixture, Recorder, Running, recorder, recording_reconciler, with_state};

/// Creates a reconciler that takes this long, and records when it starts and how it ends.
fn reconciling_for(time: Duration, recorder: Recorder<&'static str>) -> impl kubewright_runtime::Reconciler {
    struct CancelGuard(Option<Recorder<&'static str>>);
    impl Drop for CancelGuard {
        fn drop(&mut self) {
            self.0.take().into_iter().for_each(|recorder| recorder.record("cancelled"));
        }
    }
    with_state(recorder, move |recorder, _: ObjectKey| async move {
        recorder.record("started");
        let mut guard = CancelGuard(Some(Recorder::clone(&recorder)));
        sleep(time).await;
        guard.0 = None;
        recorder.record("finished");
        Ok::<_, ReconcileError>(())
    })
}

#[tokio::test(start_paused = true)]
async fn a_stop_finishes_keys_in_progress_and_leaves_queued_keys() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let running = Running::new(
        Controller::new("test", &fixture.config_maps).build(reconciling_for(Duration::from_secs(20), recorder)),
    );
    fixture.config_map("a").await;
    assert_eq!(records.next().await, "started");
    fixture.config_map("b").await;
    sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    running.stop().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 19);
    assert_eq!(records.next().await, "finished");
    assert!(records.is_idle().await);
}

#[tokio::test(start_paused = true)]
async fn reconciles_that_exceed_the_grace_period_are_cancelled_and_reported() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let builder = Controller::new("web", &fixture.config_maps)
        .max_concurrent_reconciles(2)
        .graceful_shutdown_timeout(Duration::from_secs(3));
    let running = Running::new(builder.build(reconciling_for(Duration::from_hours(1), recorder)));
    fixture.config_map("a").await;
    fixture.config_map("b").await;
    assert_eq!((records.next().await, records.next().await), ("started", "started"));
    let began = Instant::now();
    let error = running.stop().await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 3);
    let expected =
        "controller `web` stopped, but cancelled reconciliations that did not end within 3s: default/a, default/b";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, RunError::Cancelled { keys, .. } if keys.len() == 2));
    assert_eq!((records.next().await, records.next().await), ("cancelled", "cancelled"));
}

/// Not on paused time: a thread is blocked.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stop_is_bounded_even_if_a_reconcile_blocks_its_thread_and_names_its_key() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let reconciler = with_state((recorder, std::sync::Mutex::new(released)), |state, _: ObjectKey| async move {
        state.0.record(());
        assert!(state.1.lock().unwrap().recv().is_err(), "released by the end of the test");
        Ok::<_, ReconcileError>(())
    });
    let builder = Controller::new("web", &fixture.config_maps).graceful_shutdown_timeout(Duration::from_millis(50));
    let running = Running::new(builder.build(reconciler));
    fixture.config_map("a").await;
    records.next().await;
    let error = running.stop().await.unwrap_err();
    drop(release);
    let text = "controller `web` stopped, but reconciliations block their thread and cannot be cancelled: default/a; ";
    assert!(error.to_string().starts_with(text), "{error}");
    assert!(matches!(error, RunError::Blocked { keys, .. } if keys.len() == 1));
}

#[tokio::test(start_paused = true)]
async fn no_task_outlives_a_run_that_ends_or_is_dropped() {
    let fixture = Fixture::started();
    fixture.config_map("a").await;
    let alive = || Handle::current().metrics().num_alive_tasks();
    fixture.factory.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    let before = alive();
    let build = |recorder| {
        let builder = Controller::new("test", &fixture.config_maps).max_concurrent_reconciles(3);
        builder.build(reconciling_for(Duration::from_secs(1), recorder))
    };
    let (recorder, mut records) = recorder();
    Running::new(build(recorder.clone())).stop().await.unwrap();
    let running = Running::new(build(recorder.clone()));
    assert_eq!(records.next().await, "started");
    running.stop().await.unwrap();
    assert_eq!(records.next().await, "finished");
    let dropped = Running::new(build(recorder));
    assert_eq!(records.next().await, "started");
    dropped.task.abort();
    drop(dropped.task.await);
    assert_eq!(records.next().await, "cancelled");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(alive(), before);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_controller_receives_no_events() {
    let fixture = Fixture::started();
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let builder = Controller::new("test", &fixture.config_maps).watches(&fixture.secrets, move |_| {
        let _held = &held;
        []
    });
    let controller = builder.build(recording_reconciler(recorder().0));
    let queue = controller.queue().clone();
    controller.wait_for_sync().await.unwrap();
    drop(controller);
    fixture.config_map("a").await;
    sleep(Duration::from_secs(1)).await;
    assert!(queue.is_empty() && queue.get().await.is_none());
    assert_eq!(Arc::strong_count(&alive), 1, "its handlers are removed, too");
}

#[tokio::test(start_paused = true)]
async fn shutting_down_the_queue_ends_the_run() {
    let fixture = Fixture::started();
    let controller = Controller::new("test", &fixture.config_maps).build(recording_reconciler(recorder().0));
    let queue = controller.queue().clone();
    let running = Running::new(controller);
    fixture.config_maps.wait_for_sync().await.unwrap();
    queue.shut_down();
    running.task.await.unwrap().unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_stops_the_controller() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let controller = Controller::new("test", &fixture.config_maps).build(recording_reconciler(recorder));
    let running = tokio::spawn(controller.run_until_signal());
    fixture.config_map("a").await;
    assert_eq!(records.next_key().await, "default/a", "the handler of the signal is installed");
    let process = std::process::id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    running.await.unwrap().unwrap();
}
