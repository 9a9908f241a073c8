//! The metrics of the requests of a client, under the names of client-go.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, Uri, header::RETRY_AFTER};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Config,
    api::{ListParams, PostParams},
};
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests};
use kubewright_manager::serving::{Router, handler::text};
use kubewright_runtime::{
    metrics::{ClientMetricsLayer, Metrics, client_with_metrics},
    retry::client_from_config,
};

use crate::fixture::{Running, config, soon};

/// Asserts that the text has a line.
fn assert_line(metrics: &Metrics, line: &str) {
    let text = metrics.text();
    assert!(text.lines().any(|known| known == line), "no `{line}` in\n{text}");
}

#[tokio::test(start_paused = true)]
async fn requests_are_counted_by_code_method_and_host() {
    let (metrics, faults) = (Metrics::default(), Faults::new());
    let layer = ClientMetricsLayer::with_host("example.com:6443", metrics.clone());
    let client = ApiServer::new().client_with((layer, faults.layer()));
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    maps.list(&ListParams::default()).await.unwrap();
    maps.list(&ListParams::default()).await.unwrap();
    maps.get("missing").await.unwrap_err();
    let mut map = ConfigMap::default();
    map.metadata.name = Some("map".to_owned());
    maps.create(&PostParams::default(), &map).await.unwrap();
    faults.once(Requests::all(), Fault::connection_refused());
    maps.get("map").await.unwrap_err();
    for (code, method, count) in [("200", "GET", 2), ("404", "GET", 1), ("201", "POST", 1), ("<error>", "GET", 1)] {
        let labels = format!("code=\"{code}\",method=\"{method}\",host=\"example.com:6443\"");
        assert_line(&metrics, &format!("rest_client_requests_total{{{labels}}} {count}"));
    }
    let labels = "verb=\"GET\",host=\"example.com:6443\"";
    assert_line(&metrics, &format!("rest_client_request_duration_seconds_count{{{labels}}} 4"));
}

#[tokio::test]
async fn each_attempt_of_a_retried_request_is_counted() {
    let attempts = AtomicU32::new(0);
    let router = Router::new().get("/api/v1/namespaces/default/configmaps/map", move |_: Request<Bytes>| {
        let response = match attempts.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => {
                let response = Response::builder().status(StatusCode::SERVICE_UNAVAILABLE).header(RETRY_AFTER, "0");
                response.body("{}".into()).unwrap()
            }
            _ => text(StatusCode::OK, r#"{"metadata":{"name":"map"}}"#),
        };
        std::future::ready(response)
    });
    let running = Running::start(config(), router).await;
    let url: Uri = format!("http://user:secret@{}", running.address).parse().unwrap();
    let metrics = Metrics::default();
    let client = client_with_metrics(Config::new(url), metrics.clone()).unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    assert_eq!(soon(maps.get("map")).await.unwrap().metadata.name.as_deref(), Some("map"));
    let host = format!("host=\"{}\"", running.address);
    assert_line(&metrics, &format!("rest_client_requests_total{{code=\"503\",method=\"GET\",{host}}} 2"));
    assert_line(&metrics, &format!("rest_client_requests_total{{code=\"200\",method=\"GET\",{host}}} 1"));
    assert_line(&metrics, &format!("rest_client_request_retries_total{{code=\"503\",verb=\"GET\",{host}}} 2"));
    assert!(!metrics.text().contains("secret"), "{}", metrics.text());
}

#[tokio::test]
async fn a_create_is_sent_once_if_a_gateway_responds_with_504() {
    let creates = Arc::new(AtomicU32::new(0));
    let received = Arc::clone(&creates);
    let router = Router::new().post("/api/v1/namespaces/default/configmaps", move |_: Request<Bytes>| {
        let response = match received.fetch_add(1, Ordering::Relaxed) {
            // The server has stored the object.
            0 => text(StatusCode::GATEWAY_TIMEOUT, "upstream request timeout"),
            _ => text(StatusCode::CREATED, r#"{"metadata":{"name":"map-b"}}"#),
        };
        std::future::ready(response)
    });
    let running = Running::start(config(), router).await;
    let config = || Config::new(format!("http://{}", running.address).parse().unwrap());
    let measured = client_with_metrics(config(), Metrics::default()).unwrap();
    let mut map = ConfigMap::default();
    map.metadata.generate_name = Some("map-".to_owned());
    for client in [measured, client_from_config(config()).unwrap()] {
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        creates.store(0, Ordering::Relaxed);
        let error = soon(maps.create(&PostParams::default(), &map)).await.unwrap_err();
        assert!(error.to_string().contains("timeout"), "{error}");
        assert_eq!(creates.load(Ordering::Relaxed), 1);
    }
}
