//! Counters, and several controllers with one worker.

use kubewright_apiserver::{ApiServer, Verb};
use kubewright_runtime::{EventRecorder, EventType, events::EventConfig};

use super::fixture::{Fixture, config_map, settle};

#[tokio::test(start_paused = true)]
async fn all_counters_exist_from_the_start() {
    let fixture = Fixture::new();
    for (name, reasons) in [
        ("recorded_total", &["maps"][..]),
        ("dropped_total", &["maps,queue_full", "maps,rate_limited", "maps,stopped"]),
        ("failed_total", &["maps,rejected", "maps,retries_exhausted", "maps,flush_timeout"]),
        ("retries_total", &["maps"]),
    ] {
        for reason in reasons {
            assert_eq!(fixture.counters.value(name, reason), 0);
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
    assert_eq!(fixture.counters.value("recorded_total", "maps"), 1);
    assert_eq!(fixture.counters.value("recorded_total", "example.com/secrets"), 2);
    assert_eq!((fixture.requests(Verb::Create), fixture.requests(Verb::Patch)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn controllers_without_a_qualified_name_are_rejected() {
    let client = ApiServer::new().client();
    let error = EventRecorder::new(client, "Config Maps", EventConfig::default()).unwrap_err().to_string();
    assert!(error.starts_with("invalid controller name `Config Maps`: name part must consist of"), "{error}");
    assert!(Fixture::new().recorder.for_controller("").is_err());
}

#[cfg(feature = "prometheus")]
#[tokio::test(start_paused = true)]
async fn prometheus_metrics_are_counters_by_controller() {
    use std::sync::Arc;

    let metrics = kubewright_runtime::metrics::PrometheusMetrics::default();
    let config = EventConfig::default().metrics(Arc::new(metrics.clone()));
    let (recorder, worker) = EventRecorder::new(ApiServer::new().client(), "maps", config).unwrap();
    drop(worker);
    recorder.event(&config_map("a"), EventType::Normal, "Created", "Creating", "");
    let text = metrics.text();
    for line in [
        "event_recorder_recorded_total{controller=\"maps\"} 0",
        "event_recorder_dropped_total{controller=\"maps\",reason=\"stopped\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
}
