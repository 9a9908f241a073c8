//! The export of traces to a collector, which is a server of the test.

use std::{
    collections::BTreeMap,
    future::ready,
    io::sink,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use kubewright_apiserver::ApiServer;
use kubewright_manager::{
    CancellationToken, Manager, Replicas, Telemetry,
    serving::{Router, Server, ServerConfig},
    telemetry::{OtlpConfig, TelemetryGuard},
};
use tokio::{net::TcpListener, task::JoinHandle};
use tracing::Dispatch;

use crate::fixture::{Log, reconcile, telemetry};

/// An interval that no test reaches: spans are exported at the end.
const NEVER: Duration = Duration::from_secs(300);

/// A collector of traces, which is aborted when it is dropped.
struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
    running: JoinHandle<()>,
}

impl Collector {
    async fn start() -> Self {
        let received = Arc::<Mutex<Vec<(HeaderMap, Bytes)>>>::default();
        let requests = Arc::clone(&received);
        let router = Router::new().post("/v1/traces", move |request: Request<Bytes>| {
            let (parts, body) = request.into_parts();
            requests.lock().unwrap().push((parts.headers, body));
            ready(Response::new(Bytes::new()))
        });
        let server = Server::bind(ServerConfig::new("collector", 0), router).unwrap();
        let address = server.local_address();
        let running = tokio::spawn(async move { server.run(CancellationToken::new()).await.unwrap() });
        Collector { address, received, running }
    }

    fn config(&self) -> OtlpConfig {
        OtlpConfig::new("my-operator").endpoint(format!("http://{}", self.address)).export_interval(NEVER)
    }

    /// Returns the received spans with their attributes. `service.name` is that of their resource.
    fn spans(&self) -> Vec<Span> {
        let requests = self.received.lock().unwrap();
        let resources: Vec<_> = requests.iter().flat_map(|(_, body)| fields(body, &[1])).collect();
        let of_resource = |resource: &&[u8]| {
            let service = attributes(resource, &[1, 1]);
            let spans = fields(resource, &[2, 2]).into_iter();
            spans.map(|span| Span::parse(span, &service)).collect::<Vec<_>>()
        };
        resources.iter().flat_map(of_resource).collect()
    }

    fn span(&self, name: &str) -> Span {
        let mut spans = self.spans();
        spans.retain(|span| span.name == name);
        assert_eq!(spans.len(), 1, "{name}: {spans:?}");
        spans.remove(0)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// A span of an `ExportTraceServiceRequest`.
#[derive(Debug)]
struct Span {
    name: String,
    service: String,
    attributes: BTreeMap<String, String>,
    events: Vec<String>,
}

impl Span {
    fn parse(span: &[u8], resource: &BTreeMap<String, String>) -> Self {
        Span {
            name: fields(span, &[5]).into_iter().map(text).collect(),
            service: resource["service.name"].clone(),
            attributes: attributes(span, &[9]),
            events: fields(span, &[11, 2]).into_iter().map(text).collect(),
        }
    }

    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the attributes at a path whose values are strings.
fn attributes(message: &[u8], path: &[u64]) -> BTreeMap<String, String> {
    let entry = |attribute| {
        let strings = |path: &[u64]| fields(attribute, path).into_iter().map(text).collect::<String>();
        (strings(&[1]), strings(&[2, 1]))
    };
    fields(message, path).into_iter().map(entry).collect()
}

/// Returns the messages and strings at a path of field numbers in a Protobuf message.
fn fields<'a>(message: &'a [u8], path: &[u64]) -> Vec<&'a [u8]> {
    path.iter().fold(vec![message], |messages, number| {
        messages.into_iter().flat_map(|message| direct_fields(message, *number)).collect()
    })
}

fn direct_fields(message: &[u8], number: u64) -> Vec<&[u8]> {
    let (mut rest, mut found) = (message, Vec::new());
    while !rest.is_empty() {
        let tag = varint(&mut rest);
        let length = match tag & 7 {
            0 => {
                varint(&mut rest);
                0
            }
            1 => 8,
            5 => 4,
            _ => usize::try_from(varint(&mut rest)).unwrap(),
        };
        let (value, after) = rest.split_at(length);
        if tag == (number << 3) | 2 {
            found.push(value);
        }
        rest = after;
    }
    found
}

fn varint(rest: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (byte, after) = rest.split_first().unwrap();
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}

/// Returns a subscriber that only exports, and its guard.
fn export(config: OtlpConfig) -> (Dispatch, TelemetryGuard) {
    telemetry(&Log::default()).filter("off").otlp(config).build().unwrap()
}

#[tokio::test]
async fn a_collector_receives_the_spans_of_reconciliations() {
    let collector = Collector::start().await;
    let (subscriber, guard) = export(collector.config().header("x-token", "secret"));
    reconcile(&subscriber).await;
    guard.shutdown().await.unwrap();
    let span = collector.span("reconcile");
    assert_eq!(span.service, "my-operator");
    let of_object = ["controller", "namespace", "name", "trigger"].map(|name| span.attribute(name));
    assert_eq!(of_object, ["config-maps", "default", "a", "ConfigMap initial"]);
    assert_eq!(span.attribute("reconcileID").len(), 36, "{span:?}");
    assert!(span.events.iter().any(|event| event == "reconciling"), "{span:?}");
    assert_eq!(collector.received.lock().unwrap()[0].0["x-token"], "secret");
}

#[tokio::test]
async fn a_manager_exports_the_remaining_spans_when_it_stops() {
    let collector = Collector::start().await;
    let (subscriber, guard) = export(collector.config());
    tracing::dispatcher::with_default(&subscriber, || drop(tracing::info_span!("starting").entered()));
    assert!(collector.spans().is_empty());
    let manager = Manager::builder(ApiServer::new().client()).add(Replicas::All, "telemetry", guard).build().unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    manager.run(stop).await.unwrap();
    assert_eq!(collector.span("starting").service, "my-operator");
}

/// Returns a configuration whose collector does not listen.
async fn unreachable() -> OtlpConfig {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    OtlpConfig::new("my-operator").endpoint(format!("http://{}", listener.local_addr().unwrap())).export_interval(NEVER)
}

#[tokio::test]
async fn a_failed_export_is_an_error_of_the_shutdown_and_not_of_the_manager() {
    for is_managed in [false, true] {
        let (subscriber, guard) = export(unreachable().await);
        tracing::dispatcher::with_default(&subscriber, || drop(tracing::info_span!("lost").entered()));
        if is_managed {
            let manager = Manager::builder(ApiServer::new().client()).add(Replicas::All, "telemetry", guard);
            let stop = CancellationToken::new();
            stop.cancel();
            manager.build().unwrap().run(stop).await.unwrap();
        } else {
            let error = guard.shutdown().await.unwrap_err().to_string();
            assert!(error.starts_with("the remaining traces were not exported: "), "{error}");
        }
    }
}

#[tokio::test]
async fn an_invalid_configuration_is_an_error_without_secrets() {
    let error = |config: OtlpConfig| {
        let telemetry = Telemetry::new().filter("off").writer(sink).otlp(config);
        assert!(!format!("{telemetry:?}").contains("secret"), "{telemetry:?}");
        telemetry.build().unwrap_err().to_string()
    };
    let config = || OtlpConfig::new("my-operator").header("x-token", "secret");
    let expected = "invalid endpoint of the collector: expected a URL such as `http://collector:4318`";
    assert_eq!(error(config().endpoint("collector:4318")), expected);
    assert_eq!(error(config().endpoint("grpc://collector:4317")), expected);
    let expected = "invalid header `x-token` of the export: expected a name and a value of visible ASCII characters";
    assert_eq!(error(config().header("x-token", "secret\n")), expected);
    assert!(error(config().filter("loud=loud")).starts_with("invalid log filter `loud=loud,opentelemetry=off`: "));
}

#[test]
fn an_export_needs_a_runtime() {
    let telemetry = Telemetry::new().filter("off").writer(sink).otlp(OtlpConfig::new("my-operator"));
    let error = telemetry.build().unwrap_err().to_string();
    assert!(error.starts_with("cannot export traces outside a tokio runtime"), "{error}");
}
