//! The fixture of the tests: a server, informers, and a controller whose reconciler reports to the test.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{ConfigMap, Secret},
};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    InformerFactory, ObjectKey, SharedInformer,
    controller::{Controller, RunError},
    object::ApiObject,
};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::log::LOG;

/// How long a test waits for an event that must, or must not, occur. Exceeds every back-off that the tests cause.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Creates a server without garbage collection: tests name owners that never existed.
pub(crate) fn server() -> ApiServer {
    ApiServer::builder().collects_garbage(false).build()
}

/// A client of a server, and informers that are not started.
pub(crate) struct Fixture {
    pub(crate) client: Client,
    pub(crate) factory: InformerFactory,
    pub(crate) config_maps: SharedInformer<ConfigMap>,
    pub(crate) secrets: SharedInformer<Secret>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_client(server().client())
    }

    /// Creates a fixture with this client, which may pass through layers such as faults.
    pub(crate) fn with_client(client: Client) -> Self {
        LazyLock::force(&LOG);
        let factory = InformerFactory::new(client.clone());
        let (config_maps, secrets) = (factory.informer(), factory.informer());
        Fixture { client, factory, config_maps, secrets }
    }

    /// Creates a fixture whose informers run.
    pub(crate) fn started() -> Self {
        let fixture = Self::new();
        fixture.factory.start();
        fixture
    }

    pub(crate) fn api<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Creates an object of this name, merged with `more`.
    pub(crate) async fn create<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str, more: Value) -> K {
        let mut object = json!({"metadata": {"name": name}});
        json_patch::merge(&mut object, &more);
        let object = serde_json::from_value(object).unwrap();
        self.api().create(&PostParams::default(), &object).await.unwrap()
    }

    pub(crate) async fn config_map(&self, name: &str) {
        self.create::<ConfigMap>(name, json!({})).await;
    }

    /// Updates the data of a ConfigMap.
    pub(crate) async fn touch(&self, name: &str, text: &str) {
        self.patch::<ConfigMap>(name, json!({"data": {"text": text}})).await;
    }

    pub(crate) async fn patch<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str, patch: Value) {
        self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    pub(crate) async fn delete<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str) {
        self.api::<K>().delete(name, &DeleteParams::default()).await.unwrap();
    }
}

/// A controller that runs on its own task.
pub(crate) struct Running {
    pub(crate) cancelled: CancellationToken,
    pub(crate) task: JoinHandle<Result<(), RunError>>,
}

impl Running {
    pub(crate) fn new(controller: Controller) -> Self {
        let cancelled = CancellationToken::new();
        let task = tokio::spawn(controller.run(cancelled.clone()));
        Running { cancelled, task }
    }

    pub(crate) async fn stop(self) -> Result<(), RunError> {
        self.cancelled.cancel();
        self.task.await.unwrap()
    }
}

/// Creates a channel from a reconciler to the test.
pub(crate) fn recorder<T: Send + 'static>() -> (Recorder<T>, Records<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Recorder(sender), Records(receiver))
}

pub(crate) struct Recorder<T>(UnboundedSender<T>);

impl<T> Clone for Recorder<T> {
    fn clone(&self) -> Self {
        Recorder(self.0.clone())
    }
}

impl<T> Recorder<T> {
    /// Sends a record to the test, which may have ended.
    pub(crate) fn record(&self, value: T) {
        drop(self.0.send(value));
    }
}

pub(crate) struct Records<T>(UnboundedReceiver<T>);

impl<T> Records<T> {
    /// Waits for the next record.
    pub(crate) async fn next(&mut self) -> T {
        let next = timeout(TIMEOUT, self.0.recv()).await;
        next.expect("a record before the timeout").expect("a live recorder")
    }

    /// Waits until no record follows before the timeout.
    pub(crate) async fn drain(&mut self) {
        while !self.is_idle().await {}
    }

    /// Reports whether no record follows before the timeout.
    pub(crate) async fn is_idle(&mut self) -> bool {
        timeout(TIMEOUT, self.0.recv()).await.ok().flatten().is_none()
    }
}

impl Records<ObjectKey> {
    pub(crate) async fn next_key(&mut self) -> String {
        self.next().await.to_string()
    }
}

/// Creates a reconciler that records each key and succeeds.
pub(crate) fn recording_reconciler(recorder: Recorder<ObjectKey>) -> impl kubewright_runtime::Reconciler {
    move |key: ObjectKey| {
        recorder.record(key);
        async { Ok::<_, std::convert::Infallible>(()) }
    }
}

/// Creates a reconciler whose calls share one state.
pub(crate) fn with_state<S: Send + Sync + 'static, Fut>(
    state: S,
    reconcile: impl Fn(Arc<S>, ObjectKey) -> Fut + Send + Sync + 'static,
) -> impl Fn(ObjectKey) -> Fut + Send + Sync + 'static {
    let state = Arc::new(state);
    move |key| reconcile(Arc::clone(&state), key)
}
