//! An in-memory Kubernetes API server as a [`tower::Service`]
//!
//! It is the server side of a real [`kube::Client`]: typed clients, informers and controllers run over it unchanged, in one
//! process, with tokio's time paused if a test likes. It is no mock: it follows kube-apiserver's rules for objects, versions,
//! watches, custom resource definitions and refusals, down to the text of the `Status`.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), kube::Error> {
//! use k8s_openapi::api::core::v1::Namespace;
//! use kube::Api;
//!
//! let server = logger_apiserver::ApiServer::new();
//! let namespaces: Api<Namespace> = Api::all(server.client());
//! assert!(namespaces.get_opt("default").await?.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! Between this or any other server and a client, [`Faults`] make requests fail, hang, crawl or break off, and tell which were
//! sent; [`Reactors`] answer in the server's place and record every action with its object. Both are tower layers.
//!
//! Served from the start: `Namespace` and `CustomResourceDefinition`; a definition that is created brings its kind, with
//! `/status` and `/scale` if it says so. Every write says in `metadata.managedFields` who owns which field, and server-side
//! apply goes by that and by the schema's list and map types, conflicts and all.
//!
//! Served too, each in its version `v1` (autoscalers in `v2`), are the kinds operators write:
//!
//! | group | kinds |
//! |---|---|
//! | core | `ConfigMap`, `Endpoints`, `Event`, `LimitRange`, `Node`, `PersistentVolume`, `PersistentVolumeClaim`, `Pod`, `ResourceQuota`, `Secret`, `Service`, `ServiceAccount` |
//! | `admissionregistration.k8s.io` | `MutatingWebhookConfiguration`, `ValidatingAdmissionPolicy`, `ValidatingAdmissionPolicyBinding`, `ValidatingWebhookConfiguration` |
//! | `apps` | `ControllerRevision`, `DaemonSet`, `Deployment`, `ReplicaSet`, `StatefulSet` |
//! | `autoscaling` | `HorizontalPodAutoscaler` |
//! | `batch` | `CronJob`, `Job` |
//! | `coordination.k8s.io` | `Lease` |
//! | `discovery.k8s.io` | `EndpointSlice` |
//! | `events.k8s.io` | `Event` |
//! | `networking.k8s.io` | `Ingress`, `IngressClass`, `NetworkPolicy` |
//! | `policy` | `PodDisruptionBudget` |
//! | `rbac.authorization.k8s.io` | `ClusterRole`, `ClusterRoleBinding`, `Role`, `RoleBinding` |
//! | `scheduling.k8s.io` | `PriorityClass`, with the two of the system |
//! | `storage.k8s.io` | `StorageClass` |
//!
//! They are read as Go reads them, defaulted, checked against their schemas and merged by Kubernetes' own list and map types.
//! Of these kinds is not done:
//!
//! - No controllers run but the garbage collector and the one that empties namespaces ([`Builder::collects_garbage`]): nothing
//!   makes a pod of a Deployment, writes a status or aggregates roles. Nor is a role a reason to refuse a request.
//! - Services have addresses of `10.0.0.0/16` alone, of version 4; there is no service `kubernetes`. A Pod's service account (a
//!   kube-apiserver with the plugin `ServiceAccount` does that) and the finalizers of volumes and claims are not filled in.
//! - Rules beyond the schemas are those users hit most: of containers, probes, volumes and mounts, strategies, selectors, schedules, roles,
//!   paths of ingresses, bounds. What is not looked at: affinities, topology spreads, security contexts but for the ids, projected volumes,
//!   resize policies, volume sources in full, metrics and behaviours of autoscalers, webhook configurations, CEL in admission policies.
//! - Of a pod that is there hardly anything changes; the refusal does not show what would have. The warnings of built-in kinds are given
//!   of what is deprecated alone.
//! - No webhook and no admission policy is asked, and no quota or range of limits bounds anything: they are kept and shown.
//! - Times come back as they were written, and not in their shortest form.
//! - No kubelet runs: a pod on a node that is deleted has its grace period, and stays until it is deleted with a period of 0.
//! - Of the subresources there are `/status`, `/scale`, a pod's `/eviction` and `/binding`, and a namespace's `/finalize`; others, as logs,
//!   ephemeral containers and resizes, are not found.
//!
//! A list can be of any version the server still knows, in pages or whole; a watch can begin at any. How much is known is
//! [`Builder::history`]; [`ApiServer::compact`] forgets it. Objects are sent whole, as `PartialObjectMetadata`
//! or as rows of a `Table`, with the columns of their definition or those `kubectl get` shows of built-in kinds. Bodies and
//! answers are JSON, YAML or, of built-in kinds, the protobuf that Go's clients prefer.
//!
//! With the feature `serve` it is a program, too: `cargo run -p logger-apiserver --features serve -- --port 0
//! --write-kubeconfig FILE [--data-dir DIR]` serves real kubectl (`serve::serve`), and keeps its objects if it is told where
//! (`Builder::build_on`). Discovery, OpenAPI and health checks are there with and without. There is neither TLS nor
//! authentication: whoever reaches it may do anything, reviews of access are always allowed, and every token is an admin's.
//!
//! A custom kind in several versions is stored in one and read in any, as on a real server whose definition converts by strategy `None`.
//! A definition may say that it converts by a webhook; none is called, so what would have to be converted is refused (code 500).
//!
//! Each difference that is known is in `tests/conformance/differences.yaml`, beside the checks that show it, and what kubectl's
//! users see of them in `tests/kubectl/differences.yaml`.

mod accept;
mod actions;
mod admission;
mod answer;
mod apply;
mod body;
mod built_in;
mod call;
mod collector;
mod config;
mod content;
#[cfg(feature = "serve")]
mod data_dir;
mod decode;
mod definition;
mod delete;
mod discovery;
mod dispatch;
mod document;
mod events;
pub mod fake;
mod faults;
mod go_value;
mod health;
mod initial;
mod kinds;
mod list;
mod load;
mod managed_fields;
mod metadata;
mod namespace;
mod object;
mod openapi;
mod patch;
mod pods;
mod protobuf;
mod reactors;
mod read;
mod record;
mod request;
mod request_info;
mod requests;
mod review;
mod scale;
mod selector;
#[cfg(feature = "serve")]
pub mod serve;
mod services;
mod status;
mod store;
mod strategic;
mod table;
mod twice;
mod versions;
mod watch;
mod write;

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response, header::ACCEPT, request::Parts};
use serde::Serialize;
use serde_json::Value;
use tokio::{
    sync::watch::{Receiver, Sender},
    time::{Instant, timeout_at},
};
use tower::BoxError;

pub use actions::{Action, Actions, PatchType};
pub use answer::Body;
pub use config::Builder;
#[cfg(feature = "serve")]
pub use data_dir::{DataDirError, Safety};
pub use faults::{Fault, FaultLayer, FaultService, Faults, Rule, Seen};
pub use load::LoadError;
pub use reactors::{Reaction, ReactorLayer, ReactorService, Reactors, WatchFeed};
pub use request_info::{RequestInfo, Verb};
pub use requests::Requests;

use crate::{
    answer::Answer,
    call::State,
    status::{Refusal, Result},
    store::{Event, Store},
};

/// How long a request waits for a version that is not reached yet.
const PATIENCE: Duration = Duration::from_secs(3);

/// An in-memory API server. A clone is another handle to the same server.
#[derive(Debug, Clone)]
pub struct ApiServer {
    shared: Arc<Shared>,
}

impl ApiServer {
    /// Starts a server with the namespaces every cluster has and no kinds but the built-in ones.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A server that is to be unlike the default one.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    fn start(settings: Builder) -> Self {
        let mut state = State::new(Store::new(settings.history), &settings);
        initial::create(&mut state);
        state.store.take_news();
        Self::with(state)
    }

    /// A server that goes on from a state.
    fn with(state: State) -> Self {
        let changed = Sender::new(state.store.version());
        Self { shared: Arc::new(Shared { state: Mutex::new(state), changed }) }
    }

    /// Forgets the past, as the real server does every few minutes: lists and watches that begin before now are answered with
    /// 410 from here on, and so is the next page of a list. Watches that run go on.
    pub fn compact(&self) {
        self.shared.lock().store.compact();
    }

    /// A client of this server, with `default` as its namespace.
    ///
    /// # Panics
    /// Outside a tokio runtime: the client's request buffer is a task.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    /// A client of this server through a layer, or several: `(outer, inner)`.
    ///
    /// # Panics
    /// Outside a tokio runtime: the client's request buffer is a task.
    #[must_use]
    pub fn client_with<L, B>(&self, layer: L) -> kube::Client
    where
        L: tower::Layer<Self>,
        L::Service: tower::Service<Request<kube::client::Body>, Response = Response<B>, Future: Send, Error: Into<BoxError>>
            + Send
            + 'static,
        <L::Service as tower::Service<Request<kube::client::Body>>>::Future: 'static,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        kube::Client::new(layer.layer(self.clone()), "default")
    }

    /// Puts an object in as it is: with the status, uid, times and owners it has. The namespace it is in is made if it is
    /// not there; a definition brings its kind.
    ///
    /// # Errors
    /// It breaks a rule of its kind, is there already, or is of a kind that is not served.
    pub fn load(&self, object: &impl Serialize) -> Result<(), LoadError> {
        let object = serde_json::to_value(object).map_err(LoadError::unreadable)?;
        let mut state = self.shared.lock();
        let loaded = load::load(&mut state, object);
        let changes = collector::learn(&mut state);
        self.shared.keep(state, &changes).map_err(|refusal| LoadError::unreadable(refusal.message()))?;
        loaded
    }

    /// The same, of each document of a YAML text.
    ///
    /// # Errors
    /// As [`load`](Self::load); or the text is no YAML.
    pub fn load_yaml(&self, documents: &str) -> Result<(), LoadError> {
        let mut text = documents.as_bytes();
        for document in serde_saphyr::read::<_, Value>(&mut text) {
            match document.map_err(LoadError::unreadable)? {
                Value::Null => {}
                object => self.load(&object)?,
            }
        }
        Ok(())
    }

    async fn respond(self, request: Request<kube::client::Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let accepted = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let encoding = accept::encoding(accepted);
        let answer = match body.collect_bytes().await {
            Ok(body) => self.handle(&parts, body).await,
            Err(error) => Refusal::bad_request(format!("the request body could not be read: {error}")).into(),
        };
        let response = answer.into_response(self.shared, encoding);
        if parts.method == http::Method::HEAD { response.map(|_| Body::default()) } else { response }
    }

    /// Does what a request asks for. One that is about a version to come is given a while for it to come.
    async fn handle(&self, parts: &Parts, body: Bytes) -> Answer {
        let mut changed = self.shared.subscribe();
        let patience = Instant::now() + PATIENCE;
        loop {
            changed.mark_unchanged();
            match self.attempt(parts, body.clone()) {
                Err(Refusal::Ahead(ahead)) => {
                    // The sender lives in `shared`, so a change can only come or not come.
                    if timeout_at(patience, changed.changed()).await.is_err() {
                        return ahead.into();
                    }
                }
                outcome => return outcome.unwrap_or_else(Answer::from),
            }
        }
    }

    fn attempt(&self, parts: &Parts, body: Bytes) -> Result<Answer> {
        let mut state = self.shared.lock();
        if !dispatch::is_about_health(parts) {
            state.check()?;
        }
        let outcome = dispatch::handle(&mut state, parts, body);
        // A request that was refused may have changed something, too. What fails here is refused from now on.
        match self.shared.settle(state) {
            Err(refusal) if !dispatch::is_about_health(parts) => Err(refusal),
            _ => outcome,
        }
    }
}

impl Default for ApiServer {
    fn default() -> Self {
        Self::new()
    }
}

impl tower::Service<Request<kube::client::Body>> for ApiServer {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move { Ok(server.respond(request).await) })
    }
}

/// What all handles and all watches of a server share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// The version of the latest change: watches wait on it.
    changed: Sender<u64>,
}

impl Shared {
    /// The state; no request leaves it half changed, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what follows from what a request has changed, and keeps it all.
    fn settle(&self, mut state: MutexGuard<'_, State>) -> Result<()> {
        let changes = collector::settle(&mut state);
        self.keep(state, &changes)
    }

    /// Keeps changes, and then wakes the watches.
    fn keep(&self, mut state: MutexGuard<'_, State>, changes: &[Event]) -> Result<()> {
        state.keep(changes)?;
        let version = state.store.version();
        drop(state);
        self.announce(version);
        Ok(())
    }

    fn subscribe(&self) -> Receiver<u64> {
        self.changed.subscribe()
    }

    /// Wakes the watches if the version is news.
    fn announce(&self, version: u64) {
        self.changed.send_if_modified(|latest| {
            let news = version > *latest;
            *latest = version.max(*latest);
            news
        });
    }
}
