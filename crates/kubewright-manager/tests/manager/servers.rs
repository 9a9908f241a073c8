//! The servers of a manager, on real sockets.

use std::{
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use kubewright_apiserver::ApiServer;
use kubewright_manager::{
    Manager, Replicas, Runnable, Stage,
    manager::BuildError,
    serving::{ServerConfig, ServerError},
};
use kubewright_runtime::{InformerFactory, metrics::Metrics};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::fixture::{Log, Running, step};

/// Returns the status line and the body of a response.
async fn get(address: SocketAddr, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

/// Returns the options of a server on a port that was free a moment ago, and its address.
fn free(name: &str) -> (ServerConfig, SocketAddr) {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    (ServerConfig::new(name, address.port()), address)
}

#[tokio::test]
async fn health_and_metrics_are_served_until_the_manager_has_stopped() {
    let (server, metrics) = (ApiServer::new(), Metrics::default());
    let ((health, health_address), (scrape, scrape_address)) = (free("health"), free("metrics"));
    let manager = Manager::builder(server.client())
        .metrics(metrics.clone())
        .shutdown_delay(Duration::ZERO)
        .serve_health(health)
        .serve_metrics(scrape, metrics)
        .add(Replicas::All, "informers", InformerFactory::new(server.client()))
        .build()
        .unwrap();
    let running = Running::ready(manager).await;
    assert_eq!(get(health_address, "/readyz").await, ("HTTP/1.1 200 OK".to_owned(), "ok".to_owned()));
    let (_, verbose) = get(health_address, "/readyz?verbose").await;
    for line in ["[+]health ok", "[+]metrics ok", "[+]informers ok", "readyz check passed"] {
        assert!(verbose.contains(line), "{verbose}");
    }
    assert_eq!(get(health_address, "/livez/metrics").await.1, "ok");
    assert_eq!(get(health_address, "/livez/other").await.0, "HTTP/1.1 404 Not Found");
    let (_, text) = get(scrape_address, "/metrics").await;
    assert!(text.contains("kubernetes_healthcheck{name=\"informers\",type=\"readyz\"} 1"), "{text}");
    assert!(text.contains("process_open_fds"), "{text}");
    running.stop().await.unwrap();
    assert!(TcpStream::connect(health_address).await.is_err(), "the port is free again");
}

#[tokio::test]
async fn a_port_in_use_is_an_error_before_anything_starts() {
    let server = ApiServer::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let config = ServerConfig::new("metrics", listener.local_addr().unwrap().port());
    let error = Manager::builder(server.client()).serve_health(config).build().unwrap_err();
    assert!(matches!(error, BuildError::Server(ServerError::Bind { .. })), "{error}");
    assert!(error.to_string().contains("listen on 127.0.0.1:"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn runnables_start_at_the_stage_that_they_are_given() {
    let (server, log) = (ApiServer::new(), Log::default());
    let manager = Manager::builder(server.client())
        .add(Replicas::All, "others", step("others", &log))
        .add(Replicas::All, "caches", step("caches", &log).at_stage(Stage::Caches))
        .add(Replicas::All, "webhooks", step("webhooks", &log).at_stage(Stage::Webhooks))
        .build()
        .unwrap();
    let running = Running::ready(manager).await;
    running.stop().await.unwrap();
    assert_eq!(
        log.entries(),
        ["+webhooks", "=webhooks", "+caches", "=caches", "+others", "=others", "-others", "-caches", "-webhooks",]
    );
}
