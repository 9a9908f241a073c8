//! The worker stops: what was recorded before is written, within a limited time, and no task outlives it.

use std::time::Duration;

use kubewright_apiserver::{ApiServer, Fault, Requests, Verb};
use kubewright_runtime::{
    EventRecorder, EventType,
    events::{EventConfig, FlushError},
};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::fixture::{Fixture, config_map, count, settle};

#[tokio::test(start_paused = true)]
async fn queued_events_and_counts_are_written_before_the_stop() {
    let mut fixture = Fixture::started();
    fixture.record("a", "full").await;
    for name in ["a", "a", "a", "b"] {
        fixture.recorder.event(&config_map(name), EventType::Warning, "Failed", "Writing", "full");
    }
    fixture.stop().await.unwrap();
    let mut counts: Vec<_> = fixture.events().await.iter().map(count).collect();
    counts.sort();
    assert_eq!(counts, [None, Some(4)]);
}

#[tokio::test(start_paused = true)]
async fn failed_requests_are_retried_before_the_stop() {
    let mut fixture = Fixture::started();
    fixture.faults.next(2, Verb::Create, Fault::reset());
    fixture.record("a", "full").await;
    fixture.stop().await.unwrap();
    assert_eq!(count(&fixture.event().await), None);
}

#[tokio::test(start_paused = true)]
async fn the_flush_is_limited_and_reports_what_is_not_written() {
    let mut fixture = Fixture::with_config(EventConfig::default().flush_timeout(Duration::from_secs(3)));
    fixture.start();
    fixture.faults.always(Requests::to("events"), Fault::hang());
    for name in ["a", "a", "a", "b"] {
        fixture.record(name, "full").await;
    }
    let began = Instant::now();
    let error = fixture.stop().await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 3);
    assert_eq!(error, FlushError { unwritten: 2, timeout: Duration::from_secs(3) });
    assert_eq!(error.to_string(), "the event recorder stopped, but 2 events could not be written within 3s");
    assert_eq!(fixture.counter("failed_total", "controller=\"maps\",reason=\"flush_timeout\""), 2.0);
    settle().await;
    assert_eq!(fixture.faults.waiting(Requests::to("events")), 0, "requests are cancelled");
}

#[tokio::test(start_paused = true)]
async fn events_after_the_stop_are_dropped_and_counted() {
    let mut fixture = Fixture::started();
    fixture.stop().await.unwrap();
    fixture.record("a", "full").await;
    assert!(fixture.events().await.is_empty());
    assert_eq!(fixture.counter("dropped_total", "controller=\"maps\",reason=\"stopped\""), 1.0);

    let mut fixture = Fixture::new();
    fixture.abort().await;
    fixture.record("a", "full").await;
    assert_eq!(fixture.counter("dropped_total", "controller=\"maps\",reason=\"stopped\""), 1.0, "the worker never ran");
}

#[tokio::test(start_paused = true)]
async fn a_worker_runs_until_stopped_even_if_every_recorder_is_dropped() {
    let server = ApiServer::new();
    let (recorder, worker) = EventRecorder::new(server.client(), "maps", EventConfig::default()).unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(worker.run(stop.clone()));
    drop(recorder);
    sleep(Duration::from_secs(3600)).await;
    assert!(!running.is_finished());
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_task_or_request_outlives_a_worker_that_ends_or_is_dropped() {
    let alive = || Handle::current().metrics().num_alive_tasks();
    let mut fixture = Fixture::new();
    settle().await;
    let before = alive();
    fixture.start();
    fixture.record("a", "full").await;
    assert_eq!(alive(), before + 1, "the task of the test");
    fixture.stop().await.unwrap();
    settle().await;
    assert!(alive() <= before, "the worker also drops its client");

    let mut fixture = Fixture::started();
    fixture.faults.always(Requests::to("events"), Fault::hang());
    fixture.record("a", "full").await;
    assert_eq!(fixture.faults.waiting(Requests::to("events")), 1);
    fixture.abort().await;
    settle().await;
    assert_eq!(fixture.faults.waiting(Requests::to("events")), 0);
}
