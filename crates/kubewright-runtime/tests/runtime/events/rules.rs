//! Rules E1 to E5 of client-go's recorders.

use std::time::Duration;

use k8s_openapi::api::events::v1::Event;
use kubewright_apiserver::{Fault, PatchType, Requests, Verb};
use kubewright_runtime::EventType;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::fixture::{Fixture, config_map, count, settle};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn e01_repeated_events_are_one_event_whose_series_alone_is_patched() {
    let fixture = Fixture::started();
    fixture.record("a", "full").await;
    let single = fixture.event().await;
    assert_eq!((count(&single), single.note.as_deref()), (None, Some("full")));
    for _ in 0..5 {
        fixture.record("a", "full").await;
    }
    let event = fixture.event().await;
    assert_eq!(count(&event), Some(2));
    assert_eq!((event.metadata.uid, event.event_time), (single.metadata.uid, single.event_time));
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (1, 1));

    let (patches, series) = (fixture.actions().patches::<Event>(), event.series.unwrap());
    assert_eq!(patches[0].patch_type(), Some(PatchType::Merge));
    assert_eq!(patches[0].json().unwrap(), json!({ "series": series }));
}

#[tokio::test(start_paused = true)]
async fn e01_an_event_that_no_longer_exists_is_created_again() {
    let fixture = Fixture::started();
    fixture.record("a", "full").await;
    let first = fixture.event().await;
    fixture.delete_events().await;
    fixture.record("a", "full").await;
    let second = fixture.event().await;
    assert_eq!((&second.metadata.name, count(&second)), (&first.metadata.name, Some(2)));
    assert_ne!(second.metadata.uid, first.metadata.uid);
    assert_eq!(fixture.counter("retries_total", "controller=\"maps\""), 0.0);
}

#[tokio::test(start_paused = true)]
async fn e01_a_series_that_already_exists_is_patched_again() {
    let fixture = Fixture::started();
    fixture.record("a", "full").await;
    let patches = Requests::to("events").verb(Verb::Patch);
    fixture.faults.once(patches, Fault::status(404, "NotFound", "not found"));
    fixture.record("a", "full").await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(count(&fixture.event().await), Some(2));
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (2, 2));
    assert_eq!(fixture.counter("retries_total", "controller=\"maps\""), 1.0);
}

#[tokio::test(start_paused = true)]
async fn e02_similar_events_are_combined() {
    let fixture = Fixture::started();
    for attempt in 1..=14 {
        fixture.record("a", &format!("attempt {attempt}")).await;
    }
    let events = fixture.events().await;
    let note = |event: &Event| event.note.clone().unwrap();
    let combined: Vec<_> = events.iter().filter(|event| note(event).starts_with("(combined")).collect();
    assert_eq!((events.len(), combined.len()), (11, 1));
    assert_eq!(note(combined[0]), "(combined from similar events): attempt 11");
    sleep(6 * MINUTE).await;
    let combined = fixture.events().await.into_iter().find(|event| note(event).starts_with("(combined")).unwrap();
    assert_eq!(count(&combined), Some(4));
}

#[tokio::test(start_paused = true)]
async fn e03_events_of_one_object_are_limited_and_those_of_others_are_not() {
    let fixture = Fixture::started();
    let record = async |name: &str, number: i32| {
        let reason = format!("Reason{number}");
        fixture.recorder.event(&config_map(name), EventType::Normal, reason, "Writing", "");
        settle().await;
    };
    for number in 0..30 {
        record("a", number).await;
    }
    record("b", 0).await;
    assert_eq!(fixture.events().await.len(), 26);
    assert_eq!(fixture.counter("dropped_total", "controller=\"maps\",reason=\"rate_limited\""), 5.0);
    sleep(5 * MINUTE).await;
    for number in 30..35 {
        record("a", number).await;
    }
    assert_eq!(fixture.events().await.len(), 27);
    assert_eq!(fixture.counter("dropped_total", "controller=\"maps\",reason=\"rate_limited\""), 9.0);
}

#[tokio::test(start_paused = true)]
async fn e04_a_full_queue_drops_events_and_counts_them() {
    let mut fixture = Fixture::new();
    let record = |number: i32| {
        let object = config_map(&format!("object-{number}"));
        fixture.recorder.event(&object, EventType::Normal, "Created", "Creating", "");
    };
    (0..1003).for_each(record);
    assert_eq!(fixture.counter("dropped_total", "controller=\"maps\",reason=\"queue_full\""), 3.0);
    fixture.start();
    settle().await;
    assert_eq!(fixture.events().await.len(), 1000);
    assert_eq!(fixture.counter("recorded_total", "controller=\"maps\""), 1000.0);
}

#[tokio::test(start_paused = true)]
async fn e04_recording_does_not_wait_for_a_server_that_hangs() {
    let fixture = Fixture::started();
    fixture.faults.always(Requests::to("events"), Fault::hang());
    for number in 0..2000 {
        let object = config_map(&format!("object-{number}"));
        let before = Instant::now();
        fixture.recorder.event(&object, EventType::Normal, "Created", "Creating", "");
        assert_eq!(before.elapsed(), Duration::ZERO);
        if number % 100 == 99 {
            settle().await;
        }
    }
    assert_eq!(fixture.requests(Verb::Create), 8, "as many requests run concurrently");
    // Further 64 are correlated, and 1000 are queued.
    assert_eq!(
        fixture.counter("dropped_total", "controller=\"maps\",reason=\"queue_full\""),
        f64::from(2000 - 8 - 64 - 1000)
    );
}

#[tokio::test(start_paused = true)]
async fn e04_a_write_is_tried_twelve_times() {
    let fixture = Fixture::started();
    fixture.faults.always(Requests::to("events"), Fault::status(500, "InternalError", "etcd is down"));
    fixture.record("a", "full").await;
    sleep(60 * MINUTE).await;
    assert_eq!(fixture.requests(Verb::Create), 12);
    assert_eq!(fixture.counter("retries_total", "controller=\"maps\""), 11.0);
    assert_eq!(fixture.counter("failed_total", "controller=\"maps\",reason=\"retries_exhausted\""), 1.0);
    fixture.faults.heal();
    fixture.record("a", "full").await;
    assert_eq!(count(&fixture.event().await), None, "the next series is not affected");
}

#[tokio::test(start_paused = true)]
async fn e05_a_running_series_is_written_every_30_minutes() {
    let fixture = Fixture::started();
    for _ in 0..65 {
        fixture.record("a", "full").await;
        sleep(MINUTE).await;
    }
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (1, 3));
    assert_eq!(count(&fixture.event().await), Some(61));
}

#[tokio::test(start_paused = true)]
async fn e05_an_idle_series_is_written_a_last_time_and_the_next_event_starts_a_new_one() {
    let fixture = Fixture::started();
    for _ in 0..4 {
        fixture.record("a", "full").await;
    }
    assert_eq!(count(&fixture.event().await), Some(2));
    sleep(6 * MINUTE).await;
    assert_eq!(count(&fixture.event().await), Some(4));
    sleep(60 * MINUTE).await;
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (1, 2));
    fixture.record("a", "full").await;
    let mut counts: Vec<_> = fixture.events().await.iter().map(count).collect();
    counts.sort();
    assert_eq!(counts, [None, Some(4)]);
}
