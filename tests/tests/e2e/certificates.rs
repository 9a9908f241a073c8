//! Self-managed certificates under calls of the real server: authorities rotate every few seconds, replicas are
//! replaced, each call is a new connection, and none fails. `ROTATIONS` selects the time.

use std::{
    collections::VecDeque,
    future::ready,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use envtest::ControlPlane;
use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{CONNECTION, CONTENT_TYPE},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_core::description::{
    AdmissionType, AdmissionWebhookDescription, ConversionWebhookDescription, KindDescription, OperatorDescription,
    WebhookNames,
};
use kubewright_manager::serving::{Router, SelfManaged, SelfManagedConfig, Server, ServerConfig, handler::text};
use libtest_mimic::{Failed, Trial};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    task::{JoinHandle, JoinSet},
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Suite, client,
    manifests::{kubectl, succeeded},
    proxy::forward,
    trial,
};

const NAMESPACE: &str = "certificates";
const SERVICE: &str = "certs-webhook-service";
const CONFIGURATION: &str = "certs-validating-webhook-configuration";
const DEFINITION: &str = "hooks.certs.example.org";
const VALIDATE: &str = "/validate";
const CONVERT: &str = "/convert";
/// How long calls are made unless `ROTATIONS` is set: two rotations.
const TIME: Duration = Duration::from_secs(30);
/// The interval of calls.
const CALL: Duration = Duration::from_millis(25);
/// The time between two replacements of a replica: several are replaced in each phase of a rotation.
const REPLACEMENT: Duration = Duration::from_millis(700);
/// How long a replica serves after its removal from the endpoints, for connections that were on their way to it.
const REMOVAL: Duration = Duration::from_millis(1000);
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![trial(suite, "certificates::no_call_fails_during_rotations", |control_plane| {
        tokio::runtime::Runtime::new()?.block_on(no_call_fails_during_rotations(control_plane))
    })]
}

/// The addresses of the replicas that get connections.
#[derive(Clone, Default)]
struct Endpoints(Arc<Mutex<VecDeque<SocketAddr>>>);

impl Endpoints {
    fn change<T>(&self, change: impl FnOnce(&mut VecDeque<SocketAddr>) -> T) -> T {
        change(&mut self.0.lock())
    }

    /// Returns the next address.
    fn next(&self) -> Option<SocketAddr> {
        self.change(|addresses| {
            addresses.rotate_left(addresses.len().min(1));
            addresses.front().copied()
        })
    }
}

/// A replica of the operator.
struct Replica {
    managed: SelfManaged,
    address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<()>,
    watch: JoinHandle<()>,
    rotation: Option<JoinHandle<()>>,
}

impl Replica {
    /// Starts a replica, and waits until it is ready.
    async fn start(client: &Client, description: &OperatorDescription, endpoints: &Endpoints) -> Result<Self, Failed> {
        let config = SelfManagedConfig::for_service(NAMESPACE, WebhookNames::new("certs"))
            .webhooks(description)
            .certificate_lifetime(Duration::from_secs(15))
            .authority_lifetime(Duration::from_secs(15))
            .publication_delay(Duration::from_secs(2))
            .retention(Duration::from_secs(4))
            .poll_interval(Duration::from_millis(200));
        let managed = SelfManaged::new(client.clone(), config)?;
        let router = Router::new().post(VALIDATE, validate).post(CONVERT, convert);
        let server = Server::bind(ServerConfig::new("webhook", 0), router)?.tls(managed.certificates());
        let (address, stop) = (server.local_address(), CancellationToken::new());
        let (serving, watching) = (server.run(stop.clone()), managed.clone());
        let watched = stop.clone();
        let replica = Replica {
            address,
            server: tokio::spawn(async move { drop(serving.await) }),
            watch: tokio::spawn(async move { drop(watching.run(watched).await) }),
            rotation: None,
            managed,
            stop,
        };
        let ready = async {
            while replica.managed.certificates().check().is_err() {
                sleep(CALL).await;
            }
        };
        timeout(TIMEOUT, ready).await.map_err(|_| format!("not ready: {:?}", replica.managed.last_error()))?;
        endpoints.change(|addresses| addresses.push_back(address));
        Ok(replica)
    }

    fn lead(&mut self) {
        if self.rotation.is_none() {
            self.rotation = Some(tokio::spawn(self.managed.rotation().run(self.stop.clone())));
        }
    }

    /// Kills what manages certificates, and completes the requests in progress.
    async fn replace(self, endpoints: &Endpoints) {
        endpoints.change(|addresses| addresses.retain(|address| *address != self.address));
        sleep(REMOVAL).await;
        self.rotation.iter().for_each(JoinHandle::abort);
        self.watch.abort();
        self.stop.cancel();
        drop(self.server.await);
    }
}

/// Responds with JSON, and closes the connection.
fn respond(body: &Value) -> Response<Bytes> {
    let mut response = text(StatusCode::OK, body.to_string());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn validate(request: Request<Bytes>) -> Response<Bytes> {
    let mut review: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    review["response"] = json!({"uid": review["request"]["uid"], "allowed": true});
    respond(&review)
}

/// All versions have the same fields.
async fn convert(request: Request<Bytes>) -> Response<Bytes> {
    let mut review: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    let version = review["request"]["desiredAPIVersion"].clone();
    let mut objects = review["request"]["objects"].take();
    for object in objects.as_array_mut().into_iter().flatten() {
        object["apiVersion"] = version.clone();
    }
    let uid = review["request"]["uid"].clone();
    review["response"] = json!({"uid": uid, "result": {"status": "Success"}, "convertedObjects": objects});
    respond(&review)
}

/// Returns the objects: the Service is a name of this machine.
fn objects(port: u16) -> Vec<Value> {
    let service = |path: &str| json!({"namespace": NAMESPACE, "name": SERVICE, "port": port, "path": path});
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version =
        |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": schema});
    vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}),
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, "namespace": NAMESPACE},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }),
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": DEFINITION},
            "spec": {
                "group": "certs.example.org",
                "names": {"kind": "Hook", "listKind": "HookList", "plural": "hooks", "singular": "hook"},
                "scope": "Namespaced",
                "versions": [version("v1", false), version("v2", true)],
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {
                        "clientConfig": {"service": service(CONVERT)},
                        "conversionReviewVersions": ["v1"],
                    },
                },
            },
        }),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": CONFIGURATION},
            "webhooks": [{
                "name": "certs.example.org",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": service(VALIDATE)},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}},
                "rules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
                }],
                "sideEffects": "None",
            }],
        }),
    ]
}

fn description() -> OperatorDescription {
    let config_maps = KindDescription {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        plural: "configmaps".to_owned(),
        namespaced: true,
    };
    OperatorDescription {
        admission_webhooks: vec![AdmissionWebhookDescription::new(AdmissionType::Validating, config_maps)],
        conversion_webhooks: vec![ConversionWebhookDescription::new("certs.example.org", "Hook", "hooks")],
        ..OperatorDescription::default()
    }
}

fn hooks(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("certs.example.org", version, "Hook");
    Api::namespaced_with(client.clone(), NAMESPACE, &ApiResource::from_gvk_with_plural(&kind, "hooks"))
}

/// Makes one call of each webhook.
async fn call(client: &Client) -> Result<(), kube::Error> {
    let created: ConfigMap =
        serde_json::from_value(json!({"metadata": {"generateName": "call-"}})).map_err(kube::Error::SerdeError)?;
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    Api::<ConfigMap>::namespaced(client.clone(), NAMESPACE).create(&dry_run, &created).await?;
    hooks(client, "v1").list(&ListParams::default()).await.map(drop)
}

async fn no_call_fails_during_rotations(control_plane: &ControlPlane) -> Result<(), Failed> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    for object in objects(port) {
        succeeded(&kubectl(control_plane, &["apply", "--server-side", "-f", "-"], &object)?)?;
    }
    let (client, endpoints) = (client(control_plane).await?, Endpoints::default());
    let mut tasks = JoinSet::new();
    let targets = endpoints.clone();
    tasks.spawn(forward(listener, move || ready(targets.next())));
    let result = rotate(&client, &endpoints).await;
    for object in objects(port).iter().rev() {
        succeeded(&kubectl(control_plane, &["delete", "--wait=false", "-f", "-"], object)?)?;
    }
    result
}

async fn rotate(client: &Client, endpoints: &Endpoints) -> Result<(), Failed> {
    let description = description();
    let mut replicas = VecDeque::new();
    for _ in 0..3 {
        replicas.push_back(Replica::start(client, &description, endpoints).await?);
    }
    replicas[0].lead();
    let hook: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "certs.example.org/v2", "kind": "Hook", "metadata": {"name": "a"},
    }))?;
    let first = async {
        while hooks(client, "v2").create(&PostParams::default(), &hook).await.is_err() || call(client).await.is_err() {
            drop(hooks(client, "v2").delete("a", &Default::default()).await);
            sleep(Duration::from_millis(500)).await;
        }
    };
    timeout(TIMEOUT, first).await.map_err(|_| "the first call does not succeed")?;
    let time = tests::duration_of_env("ROTATIONS").unwrap_or(TIME);
    let end = Instant::now() + time;
    let replacements = replace_until(end, client, &description, endpoints, &mut replicas);
    let (count, ()) = tokio::try_join!(call_until(end, client), replacements)?;
    println!("certificates: {count} calls of each webhook in {time:?}");
    for replica in replicas {
        replica.replace(endpoints).await;
    }
    Ok(())
}

/// Makes calls in regular intervals, and returns their number.
async fn call_until(end: Instant, client: &Client) -> Result<usize, Failed> {
    let (mut ticks, mut calls, start) = (interval(CALL), JoinSet::new(), Instant::now());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut count = 0;
    loop {
        let is_over = Instant::now() >= end;
        let called = tokio::select! {
            _ = ticks.tick(), if !is_over => {
                let caller = client.clone();
                calls.spawn(async move { call(&caller).await });
                continue;
            }
            Some(called) = calls.join_next() => called?,
            else => return Ok(count),
        };
        called.map_err(|error| format!("after {:?} and {count} calls: {error}", start.elapsed()))?;
        count += 1;
    }
}

/// Replaces the oldest replica, which leads, in regular intervals.
async fn replace_until(
    end: Instant,
    client: &Client,
    description: &OperatorDescription,
    endpoints: &Endpoints,
    replicas: &mut VecDeque<Replica>,
) -> Result<(), Failed> {
    while Instant::now() + REPLACEMENT < end {
        sleep(REPLACEMENT).await;
        replicas.push_back(Replica::start(client, description, endpoints).await?);
        if let Some(former) = replicas.pop_front() {
            former.replace(endpoints).await;
        }
        replicas[0].lead();
    }
    Ok(())
}
