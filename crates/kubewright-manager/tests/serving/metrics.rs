//! The metrics endpoint.

use http::{Method, StatusCode};
use kubewright_manager::serving::{MetricsHandler, Router};
use kubewright_runtime::metrics::{Metric, Metrics};

use crate::fixture::{Running, config, request};

const VISITS: Metric = Metric { name: "visits_total", help: "Visits." };

#[tokio::test]
async fn the_endpoint_serves_the_registry_in_the_open_metrics_format() {
    let metrics = Metrics::default();
    metrics.counter(VISITS, &[("page", "home")]).inc_by(2);
    let router = Router::new().get("/metrics", MetricsHandler::from(metrics.clone()));
    let running = Running::start(config(), router).await;
    let response = running.client().await.send(request(Method::GET, "/metrics", "")).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], Metrics::CONTENT_TYPE);
    let text = String::from_utf8(response.body().to_vec()).unwrap();
    assert!(text.contains("visits_total{page=\"home\"} 2\n"), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    metrics.counter(VISITS, &[("page", "home")]).inc();
    let (_, text) = running.get("/metrics").await;
    assert!(text.contains("visits_total{page=\"home\"} 3\n"), "{text}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_metrics_of_the_process_have_the_conventional_names() {
    use std::time::{SystemTime, UNIX_EPOCH};

    let router = Router::new().get("/metrics", MetricsHandler::from(Metrics::default()));
    let running = Running::start(config(), router).await;
    let (_, text) = running.get("/metrics").await;
    let value = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    };
    assert!(text.contains("# TYPE process_cpu_seconds counter\n"), "{text}");
    assert!(value("process_cpu_seconds_total") >= 0.0);
    assert!(value("process_resident_memory_bytes") > 1e6);
    assert!(value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"));
    assert!(value("process_open_fds") >= 3.0);
    assert!(value("process_max_fds") >= value("process_open_fds"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((now - 24.0 * 3600.0..=now + 1.0).contains(&value("process_start_time_seconds")), "{text}");
}
