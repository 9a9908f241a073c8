//! Resyncs: periodic updates of all objects for handlers that request them.

use std::time::Duration;

use futures::StreamExt;
use kubewright_runtime::informer::HandlerOptions;
use tokio::time::{Instant, sleep_until};

use super::fixture::{Fixture, describe, record_events, record_events_with, run_until_idle, start_synced};

fn every(seconds: u64) -> HandlerOptions<k8s_openapi::api::core::v1::ConfigMap> {
    HandlerOptions::new().resync(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn i15_only_handlers_that_are_due_are_resynced() {
    let fixture = Fixture::new();
    fixture.create("a", 1).await;
    let informer = fixture.informer();
    let start = Instant::now();
    let (mut never, mut second, mut third) = (
        record_events(&informer),
        record_events_with(&informer, every(2), describe),
        record_events_with(&informer, every(3), describe),
    );
    start_synced(&informer).await;
    for received in [&mut never, &mut second, &mut third] {
        received.expect_events(&["add a=1 (initial)"]).await;
    }
    let mut count = [0; 3];
    for now in 1..=12 {
        sleep_until(start + Duration::from_secs(now) + Duration::from_millis(500)).await;
        for (received, count) in [&mut never, &mut second, &mut third].into_iter().zip(&mut count) {
            let events = received.drain();
            assert!(events.iter().all(|event| event == "update a 1->1"), "{events:?}");
            *count += events.len();
        }
        assert_eq!(count, [0, usize::try_from(now / 2).unwrap(), usize::try_from(now / 3).unwrap()], "after {now} s");
    }
}

#[tokio::test(start_paused = true)]
async fn i15_the_period_is_at_least_a_second_and_after_the_start_at_least_the_shortest_before() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let period = |options| informer.add_event_handler_with(options, |_| {}).unwrap().resync_period();
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let shorter_than_a_second = HandlerOptions::new().resync(Duration::from_millis(1));
    assert_eq!(period(every(12 * 3600)), seconds(12 * 3600));
    assert_eq!(period(every(60)), seconds(60), "before the start each handler has its own period");
    start_synced(&informer).await;
    assert_eq!(period(every(5)), seconds(60));
    assert_eq!(period(every(55)), seconds(60));
    assert_eq!(period(every(90)), seconds(90));
    assert_eq!(period(HandlerOptions::new()), None);
    let other = fixture.informer();
    let short = other.add_event_handler_with(shorter_than_a_second, |_| {}).unwrap();
    assert_eq!(short.resync_period(), seconds(1));
}

#[tokio::test(start_paused = true)]
async fn i15_objects_with_pending_events_and_deleted_objects_are_not_resynced() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a", "b", "gone"]).await;
    let mut events = informer.events_with(every(10)).unwrap();
    for _ in 0..3 {
        events.next().await.unwrap();
    }
    // A stream that is not polled runs no timer: its resync happens at the next poll.
    fixture.update("a", 2).await;
    fixture.delete("gone").await;
    run_until_idle().await;
    sleep_until(Instant::now() + Duration::from_secs(11)).await;
    let mut received = Vec::new();
    while let Some(event) = futures::FutureExt::now_or_never(events.next()) {
        received.push(describe(&event.unwrap()));
    }
    assert_eq!(received, ["update a 1->2", "delete gone=1", "update b 1->1"]);
}

#[tokio::test(start_paused = true)]
async fn i15_a_late_handler_can_be_resynced_by_an_informer_without_resyncs() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let mut received = record_events_with(&informer, every(5), describe);
    received.expect_events(&["add a=1 (initial)", "update a 1->1", "update a 1->1"]).await;
}
