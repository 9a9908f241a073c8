//! Counters, and several controllers with one worker.

use kubewright_apiserver::{ApiServer, Verb};
use kubewright_runtime::{EventRecorder, EventType, events::EventConfig};

use super::fixture::{Fixture, config_map, settle};

#[tokio::test(start_paused = true)]
async fn all_counters_exist_from_the_start() {
    let fixture = Fixture::new();
    for (name, reasons) in [
        ("recorded_total", &[""][..]),
        ("dropped_total", &[",reason=\"queue_full\"", ",reason=\"rate_limited\"", ",reason=\"stopped\""]),
        ("failed_total", &[",reason=\"rejected\"", ",reason=\"retries_exhausted\"", ",reason=\"flush_timeout\""]),
        ("retries_total", &[""]),
    ] {
        for reason in reasons {
            assert_eq!(fixture.counter(name, &format!("controller=\"maps\"{reason}")), 0.0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn controllers_share_a_worker_and_count_separately() {
    let fixture = Fixture::started();
    let secrets = fixture.recorder.for_controller("example.com/secrets").unwrap();
    for recorder in [&fixture.recorder, &secrets, &secrets.clone()] {
        recorder.event(&config_map("a"), EventType::Normal, "Created", "Creating", "");
        settle().await;
    }
    let mut reporters: Vec<_> =
        fixture.events().await.into_iter().map(|event| event.reporting_controller.unwrap()).collect();
    reporters.sort();
    assert_eq!(reporters, ["example.com/secrets", "maps"], "each controller has its own series");
    assert_eq!(fixture.counter("recorded_total", r#"controller="maps""#), 1.0);
    assert_eq!(fixture.counter("recorded_total", r#"controller="example.com/secrets""#), 2.0);
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn controllers_without_a_qualified_name_are_rejected() {
    let client = ApiServer::new().client();
    let error = EventRecorder::new(client, "Config Maps", EventConfig::default()).unwrap_err().to_string();
    assert!(error.starts_with("invalid controller name `Config Maps`: name part must consist of"), "{error}");
    assert!(Fixture::new().recorder.for_controller("").is_err());
}
