//! Requests that fail.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apiserver::{Fault, Requests, Verb};
use kubewright_runtime::EventType;
use tokio::time::sleep;

use super::fixture::{Fixture, config_map, count, settle};

fn to_events(verb: Verb) -> Requests {
    Requests::to("events").group("events.k8s.io").verb(verb)
}

/// Returns an object in the namespace `stuck`.
fn stuck(number: i32) -> ConfigMap {
    let mut object = config_map(&format!("stuck-{number}"));
    object.metadata.namespace = Some("stuck".to_owned());
    object
}

#[tokio::test(start_paused = true)]
async fn overloaded_failing_and_unreachable_servers_are_retried() {
    for fault in [
        Fault::too_many_requests(1),
        Fault::status(500, "InternalError", "failed"),
        Fault::status(503, "ServiceUnavailable", "starting"),
        Fault::answer(502, "bad gateway"),
        Fault::connection_refused(),
        Fault::reset(),
        Fault::hang(),
    ] {
        let fixture = Fixture::started();
        fixture.faults.next(3, to_events(Verb::Create), fault.clone());
        fixture.record("a", "full").await;
        sleep(Duration::from_secs(120)).await;
        assert_eq!(fixture.events().await.len(), 1, "{fault:?}");
        assert_eq!(fixture.requests(Verb::Create), 4, "{fault:?}");
        assert_eq!(fixture.counter("retries_total", r#"controller="maps""#), 3.0, "{fault:?}");
        assert_eq!(fixture.counter("recorded_total", r#"controller="maps""#), 1.0, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn patches_are_retried() {
    let fixture = Fixture::started();
    fixture.record("a", "full").await;
    fixture.faults.next(2, to_events(Verb::Patch), Fault::reset());
    fixture.record("a", "full").await;
    sleep(Duration::from_secs(10)).await;
    assert_eq!((fixture.requests(Verb::Patch), count(&fixture.event().await)), (3, Some(2)));
}

#[tokio::test(start_paused = true)]
async fn a_created_event_whose_response_was_lost_is_recorded_once() {
    let fixture = Fixture::started();
    fixture.faults.once(to_events(Verb::Create), Fault::lost_answer());
    fixture.record("a", "full").await;
    sleep(Duration::from_secs(10)).await;
    assert_eq!((fixture.requests(Verb::Create), count(&fixture.event().await)), (2, None));
    assert_eq!(fixture.counter("recorded_total", r#"controller="maps""#), 1.0);
    assert_eq!(fixture.counter("failed_total", r#"controller="maps",reason="rejected""#), 0.0);
}

#[tokio::test(start_paused = true)]
async fn a_series_that_is_created_again_and_whose_response_was_lost_is_patched() {
    let fixture = Fixture::started();
    fixture.record("a", "full").await;
    fixture.delete_events().await;
    fixture.faults.once(to_events(Verb::Create), Fault::lost_answer());
    fixture.record("a", "full").await;
    sleep(Duration::from_secs(10)).await;
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (2, 2));
    assert_eq!(count(&fixture.event().await), Some(2));
}

#[tokio::test(start_paused = true)]
async fn waiting_writes_of_a_series_are_one_request() {
    let fixture = Fixture::started();
    fixture.faults.always(Requests::to("events").namespace("stuck"), Fault::hang());
    for number in 0..8 {
        fixture.recorder.event(&stuck(number), EventType::Normal, "Created", "Creating", "");
    }
    for _ in 0..3 {
        fixture.record("a", "full").await;
    }
    let to_default = |verb| fixture.faults.count(to_events(verb).namespace("default"));
    assert_eq!(to_default(Verb::Create), 0, "all requests are in use");
    fixture.faults.heal();
    fixture.faults.once(to_events(Verb::Create).namespace("default"), Fault::lost_answer());
    fixture.faults.cut(Requests::to("events"));
    sleep(Duration::from_secs(10)).await;
    assert_eq!(count(&fixture.event().await), Some(2));
    // The creation, its first retry, and the patch of what the lost response created.
    assert_eq!((to_default(Verb::Create), to_default(Verb::Patch)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn the_delay_that_the_server_requests_is_honoured() {
    let fixture = Fixture::started();
    fixture.faults.once(to_events(Verb::Create), Fault::status_retry_after(429, "TooManyRequests", "wait", 30));
    fixture.record("a", "full").await;
    sleep(Duration::from_secs(60)).await;
    let requests = fixture.faults.seen(to_events(Verb::Create));
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[1].at - requests[0].at).as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn rejected_events_are_dropped_and_counted() {
    for fault in [
        Fault::status(403, "Forbidden", "events.events.k8s.io is forbidden"),
        Fault::status(404, "NotFound", "namespaces \"gone\" not found"),
        Fault::status(422, "Invalid", "invalid"),
    ] {
        let fixture = Fixture::started();
        fixture.faults.once(to_events(Verb::Create), fault.clone());
        fixture.record("a", "full").await;
        sleep(Duration::from_secs(60)).await;
        assert_eq!((fixture.requests(Verb::Create), fixture.events().await.len()), (1, 0), "{fault:?}");
        assert_eq!(fixture.counter("failed_total", r#"controller="maps",reason="rejected""#), 1.0, "{fault:?}");
        // The series continues: its next write creates the event.
        fixture.record("a", "full").await;
        assert_eq!(count(&fixture.event().await), Some(2), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_write_does_not_delay_others() {
    let fixture = Fixture::started();
    fixture.faults.always(Requests::to("events").namespace("stuck"), Fault::hang());
    fixture.recorder.event(&stuck(0), EventType::Normal, "Created", "Creating", "");
    settle().await;
    fixture.record("a", "full").await;
    assert_eq!(fixture.event().await.regarding.unwrap().name.as_deref(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn a_series_is_never_written_concurrently() {
    let fixture = Fixture::started();
    fixture.faults.once(to_events(Verb::Create), Fault::latency(Duration::from_secs(5)));
    for _ in 0..4 {
        fixture.record("a", "full").await;
    }
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (1, 0));
    sleep(Duration::from_secs(6)).await;
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (1, 1));
    assert_eq!(count(&fixture.event().await), Some(2));
    sleep(Duration::from_secs(360)).await;
    assert_eq!(count(&fixture.event().await), Some(4));
}
