//! The names of the metrics of the endpoint and of the documentation.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, Uri, header::RETRY_AFTER};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, Config};
use kubewright_apiserver::ApiServer;
use kubewright_core::description::{ConversionWebhookDescription, WebhookNames};
use kubewright_manager::{
    CancellationToken, LeaderElectionConfig, Manager, Replicas, Sharding, Webhooks,
    serving::{
        Certificates, MetricsHandler, Router, SelfManaged, SelfManagedConfig, Server, ServerConfig, handler::text,
    },
    webhooks::{AdmissionRequest, Denied},
};
use kubewright_runtime::{
    Controller, EventRecorder, HandlerOptions, InformerFactory, ObjectKey, ReconcileError,
    events::EventConfig,
    metrics::{ClientMetricsLayer, Metrics, client_with_metrics},
};
use tokio::time::{sleep, timeout};

/// The page that lists the metrics.
const PAGE: &str = include_str!("../../../../docs/reference/metrics.md");
/// How long the test waits for an event.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The type of each metric, by name.
type Types = BTreeMap<String, String>;

/// Returns the metrics of the tables: `` | `name`, `name` | type | meaning | ``.
fn documented() -> Types {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let metrics = rows.flat_map(|(names, rest)| {
        let kind = rest.split(" | ").next().unwrap_or_default();
        names.split(", ").map(move |name| (name.trim_matches('`').to_owned(), kind.to_owned()))
    });
    // There are no metrics of the process on other platforms.
    metrics.filter(|(name, _)| cfg!(target_os = "linux") || !name.starts_with("process_")).collect()
}

/// Returns the metrics of an endpoint. The name of a counter is that of its samples.
async fn exposed(router: &Router) -> Types {
    let request = Request::builder().uri("/metrics").body(Bytes::new()).unwrap();
    let body = router.respond(request).await.into_body();
    let text = std::str::from_utf8(&body).unwrap();
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types
        .map(|(name, kind)| {
            (if kind == "counter" { format!("{name}_total") } else { name.to_owned() }, kind.to_owned())
        })
        .collect()
}

/// Sends a request that is retried, which the embedded API server has no reason for.
async fn retry_request(metrics: &Metrics) {
    let is_available = AtomicBool::new(false);
    let router = Router::new().get("/api/v1/namespaces/default/configmaps/a", move |_: Request<Bytes>| {
        let response = match is_available.swap(true, Ordering::Relaxed) {
            false => {
                let response = Response::builder().status(StatusCode::SERVICE_UNAVAILABLE).header(RETRY_AFTER, "0");
                response.body("{}".into()).unwrap()
            }
            true => text(StatusCode::OK, r#"{"metadata":{"name":"a"}}"#),
        };
        std::future::ready(response)
    });
    let server = Server::bind(ServerConfig::new("api", 0), router).unwrap();
    let url: Uri = format!("http://{}", server.local_address()).parse().unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(server.run(stop.clone()));
    let client = client_with_metrics(Config::new(url), metrics.clone()).unwrap();
    Api::<ConfigMap>::namespaced(client, "default").get("a").await.unwrap();
    stop.cancel();
    running.await.unwrap().unwrap();
}

/// Creates the handlers of an admission webhook and of a conversion.
fn webhooks(metrics: &Metrics) -> Router {
    let conversion = ConversionWebhookDescription::new("example.com", "Widget", "widgets");
    let webhooks = Webhooks::new()
        .defaulter::<ConfigMap>(|_: &mut ConfigMap, _: &AdmissionRequest| Ok::<_, Denied>(()))
        .conversion(conversion, |_, _| Ok::<_, String>(()));
    webhooks.metrics(metrics.clone()).router().unwrap()
}

/// Creates a manager of whatever has metrics.
fn manager(client: Client, metrics: &Metrics) -> Manager {
    let factory = InformerFactory::builder(client.clone())
        .defaults(|config| config.reflector(|reflector| reflector.metrics(metrics.clone())))
        .build();
    let informer = factory.informer::<ConfigMap>();
    informer.add_event_handler_with(HandlerOptions::new().name("handler"), |_| {}).unwrap();
    let (_recorder, events) =
        EventRecorder::new(client.clone(), "config-maps", EventConfig::default().metrics(metrics.clone())).unwrap();
    let builder = Controller::new("config-maps", &informer).metrics(metrics.clone());
    let controller =
        builder.client(&client).build_with_client(|_| |_: ObjectKey| async { Ok::<_, ReconcileError>(()) });
    let sharding = Sharding::by_uid(LeaderElectionConfig::new("fleet", "a").metrics(metrics.clone()));
    Manager::builder(client)
        .metrics(metrics.clone())
        .sharding(&sharding)
        .leader_election(LeaderElectionConfig::new("operator", "a").metrics(metrics.clone()))
        .add(Replicas::All, "informers", factory)
        .add(Replicas::All, "events", events)
        .add(Replicas::Leader, "config-maps", controller)
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_endpoint_has_the_documented_metrics() {
    let metrics = Metrics::default();
    let _certificates = Certificates::self_signed(["localhost"]).unwrap().metrics(&metrics, "metrics");
    let _webhooks = webhooks(&metrics);
    let managed = SelfManagedConfig::for_service("default", WebhookNames::new("operator"));
    let _managed = SelfManaged::new(ApiServer::new().client(), managed.metrics(metrics.clone())).unwrap();
    retry_request(&metrics).await;
    let layer = ClientMetricsLayer::with_host("embedded", metrics.clone());
    let manager = manager(ApiServer::new().client_with(layer), &metrics);
    let (health, stop) = (manager.health().clone(), CancellationToken::new());
    let token = stop.clone();
    let running = tokio::spawn(async move { manager.run(token).await });
    let ready = async {
        while health.respond("/readyz", "").0 != StatusCode::OK {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(TIMEOUT, ready).await.unwrap();
    let router = Router::new().get("/metrics", MetricsHandler::from(metrics));
    assert_eq!(exposed(&router).await, documented());
    stop.cancel();
    running.await.unwrap().unwrap();
}
