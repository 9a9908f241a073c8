//! How a controller ends.

use std::sync::Arc;
use std::time::Duration;

use logger_runtime::ObjectKey;
use logger_runtime::controller::{Controller, ReconcileError, RunError};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use crate::stage::{Diary, Running, Stage, diary, noting, shared};

/// Work that takes this long, and tells when it begins and how it ends.
fn taking(time: Duration, diary: Diary<&'static str>) -> impl logger_runtime::Reconciler {
    struct Cut(Option<Diary<&'static str>>);
    impl Drop for Cut {
        fn drop(&mut self) {
            self.0.take().into_iter().for_each(|diary| diary.note("cut"));
        }
    }
    shared(diary, move |diary, _: ObjectKey| async move {
        diary.note("began");
        let mut cut = Cut(Some(Diary::clone(&diary)));
        sleep(time).await;
        cut.0 = None;
        diary.note("finished");
        Ok::<_, ReconcileError>(())
    })
}

#[tokio::test(start_paused = true)]
async fn what_is_at_work_at_a_stop_is_finished_and_what_waits_is_left() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let running = Running::new(
        Controller::for_informer("test", &stage.config_maps).build(taking(Duration::from_secs(20), diary)),
    );
    stage.config_map("a").await;
    assert_eq!(reader.next().await, "began");
    stage.config_map("b").await;
    sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    running.stop().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 19);
    assert_eq!(reader.next().await, "finished");
    assert!(reader.is_silent().await);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_within_the_grace_period_is_cancelled_and_named() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let builder = Controller::for_informer("web", &stage.config_maps).workers(2).grace_period(Duration::from_secs(3));
    let running = Running::new(builder.build(taking(Duration::from_hours(1), diary)));
    stage.config_map("a").await;
    stage.config_map("b").await;
    assert_eq!((reader.next().await, reader.next().await), ("began", "began"));
    let began = Instant::now();
    let error = running.stop().await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 3);
    let expected = "controller `web` stopped, but cancelled what did not end within 3s: default/a, default/b";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, RunError::Cancelled { keys, .. } if keys.len() == 2));
    assert_eq!((reader.next().await, reader.next().await), ("cut", "cut"));
}

#[tokio::test(start_paused = true)]
async fn no_task_outlives_the_run_nor_a_run_that_is_dropped() {
    let stage = Stage::started();
    stage.config_map("a").await;
    let alive = || Handle::current().metrics().num_alive_tasks();
    stage.factory.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    let before = alive();
    let build = |diary| {
        let builder = Controller::for_informer("test", &stage.config_maps).workers(3);
        builder.build(taking(Duration::from_secs(1), diary))
    };
    let (diary, mut reader) = diary();
    Running::new(build(diary.clone())).stop().await.unwrap();
    let running = Running::new(build(diary.clone()));
    assert_eq!(reader.next().await, "began");
    running.stop().await.unwrap();
    assert_eq!(reader.next().await, "finished");
    let dropped = Running::new(build(diary));
    assert_eq!(reader.next().await, "began");
    dropped.task.abort();
    drop(dropped.task.await);
    assert_eq!(reader.next().await, "cut");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(alive(), before);
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_is_gone_is_fed_no_more() {
    let stage = Stage::started();
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let builder = Controller::for_informer("test", &stage.config_maps).watches(&stage.secrets, move |_| {
        let _held = &held;
        []
    });
    let controller = builder.build(noting(diary().0));
    let queue = controller.queue().clone();
    controller.wait_for_sync().await.unwrap();
    drop(controller);
    stage.config_map("a").await;
    sleep(Duration::from_secs(1)).await;
    assert!(queue.is_empty() && queue.get().await.is_none());
    assert_eq!(Arc::strong_count(&alive), 1, "its handlers are gone, too");
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_shut_down_ends_the_run() {
    let stage = Stage::started();
    let controller = Controller::for_informer("test", &stage.config_maps).build(noting(diary().0));
    let queue = controller.queue().clone();
    let running = Running::new(controller);
    stage.config_maps.wait_for_sync().await;
    queue.shut_down();
    running.task.await.unwrap().unwrap();
}
