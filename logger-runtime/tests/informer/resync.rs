//! Resyncs: all objects told again, to those who asked.

use std::time::Duration;

use futures::StreamExt;
use logger_runtime::informer::HandlerOptions;
use tokio::time::{Instant, sleep_until};

use crate::world::{World, hear, hear_as, settle, synced, told};

fn every(seconds: u64) -> HandlerOptions<k8s_openapi::api::core::v1::ConfigMap> {
    HandlerOptions::new().resync(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn i15_only_the_handlers_that_are_due_hear_of_all_objects_again() {
    let world = World::new();
    world.create("a", 1).await;
    let informer = world.informer();
    let start = Instant::now();
    let (mut never, mut second, mut third) =
        (hear(&informer), hear_as(&informer, every(2), told), hear_as(&informer, every(3), told));
    synced(&informer).await;
    for heard in [&mut never, &mut second, &mut third] {
        heard.these(&["add a=1 (initial)"]).await;
    }
    let mut count = [0; 3];
    for now in 1..=12 {
        sleep_until(start + Duration::from_secs(now) + Duration::from_millis(500)).await;
        for (heard, count) in [&mut never, &mut second, &mut third].into_iter().zip(&mut count) {
            let said = heard.now();
            assert!(said.iter().all(|said| said == "update a 1->1"), "{said:?}");
            *count += said.len();
        }
        assert_eq!(count, [0, usize::try_from(now / 2).unwrap(), usize::try_from(now / 3).unwrap()], "after {now} s");
    }
}

#[tokio::test(start_paused = true)]
async fn i15_the_period_is_at_least_a_second_and_once_it_runs_no_shorter_than_those_before() {
    let world = World::new();
    let informer = world.informer();
    let period = |options| informer.add_event_handler_with(options, |_| {}).unwrap().resync_period();
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let shorter_than_a_second = HandlerOptions::new().resync(Duration::from_millis(1));
    assert_eq!(period(every(12 * 3600)), seconds(12 * 3600));
    assert_eq!(period(every(60)), seconds(60), "before the start each has its own");
    synced(&informer).await;
    assert_eq!(period(every(5)), seconds(60));
    assert_eq!(period(every(55)), seconds(60));
    assert_eq!(period(every(90)), seconds(90));
    assert_eq!(period(HandlerOptions::new()), None);
    let other = world.informer();
    let short = other.add_event_handler_with(shorter_than_a_second, |_| {}).unwrap();
    assert_eq!(short.resync_period(), seconds(1));
}

#[tokio::test(start_paused = true)]
async fn i15_an_object_of_which_something_waits_is_not_told_again_nor_is_one_that_is_gone() {
    let world = World::new();
    let informer = world.following(&["a", "b", "gone"]).await;
    let mut events = informer.events_with(every(10)).unwrap();
    for _ in 0..3 {
        events.next().await.unwrap();
    }
    // Who takes no events sees to no time either: the resync is made when it asks again.
    world.set("a", 2).await;
    world.delete("gone").await;
    settle().await;
    sleep_until(Instant::now() + Duration::from_secs(11)).await;
    let mut heard = Vec::new();
    while let Some(event) = futures::FutureExt::now_or_never(events.next()) {
        heard.push(told(&event.unwrap()));
    }
    assert_eq!(heard, ["update a 1->2", "delete gone=1", "update b 1->1"]);
}

#[tokio::test(start_paused = true)]
async fn i15_a_handler_that_comes_late_to_an_informer_without_resyncs_has_its_own() {
    let world = World::new();
    let informer = world.following(&["a"]).await;
    let mut heard = hear_as(&informer, every(5), told);
    heard.these(&["add a=1 (initial)", "update a 1->1", "update a 1->1"]).await;
}
