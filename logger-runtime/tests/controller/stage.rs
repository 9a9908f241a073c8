//! What the tests stand on: a server, informers, and a controller whose work a test sees and directs.

use std::io::{Result as IoResult, Write};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use logger_apiserver::ApiServer;
use logger_runtime::controller::{Controller, RunError};
use logger_runtime::object::ApiObject;
use logger_runtime::{InformerFactory, ObjectKey, SharedInformer};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// So long a test waits for what must come, and for what must not; longer than any back-off that it causes.
const PATIENCE: Duration = Duration::from_secs(30);

/// What all tests log. It is there before the first controller: a place in the code that logs while the log comes to be may
/// never be heard.
pub(crate) static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_max_level(tracing::Level::INFO);
    subscriber.with_ansi(false).without_time().init();
    log
});

#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// The lines with this in them.
    pub(crate) fn lines(&self, with: &str) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned();
        text.lines().filter(|line| line.contains(with)).map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}

/// A server that collects nothing: tests name owners that were never there.
pub(crate) fn server() -> ApiServer {
    ApiServer::builder().collects_garbage(false).build()
}

/// A server, and the informers on it, which are not started.
pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) factory: InformerFactory,
    pub(crate) config_maps: SharedInformer<ConfigMap>,
    pub(crate) secrets: SharedInformer<Secret>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::on(server().client())
    }

    /// The same, on a server behind something.
    pub(crate) fn on(client: Client) -> Self {
        LazyLock::force(&LOG);
        let factory = InformerFactory::new(client.clone());
        let (config_maps, secrets) = (factory.informer(), factory.informer());
        Stage { client, factory, config_maps, secrets }
    }

    /// The same, with informers that run.
    pub(crate) fn started() -> Self {
        let stage = Self::new();
        stage.factory.start();
        stage
    }

    pub(crate) fn api<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Makes an object of this name, with more to it if there is more.
    pub(crate) async fn create<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str, more: Value) -> K {
        let mut object = json!({"metadata": {"name": name}});
        json_patch::merge(&mut object, &more);
        let object = serde_json::from_value(object).unwrap();
        self.api().create(&PostParams::default(), &object).await.unwrap()
    }

    pub(crate) async fn config_map(&self, name: &str) {
        self.create::<ConfigMap>(name, json!({})).await;
    }

    /// Changes the data of a ConfigMap.
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

/// A controller that runs beside the test.
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

/// What the reconciler tells the test of.
pub(crate) fn diary<T: Send + 'static>() -> (Diary<T>, Reader<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Diary(sender), Reader(receiver))
}

pub(crate) struct Diary<T>(UnboundedSender<T>);

impl<T> Clone for Diary<T> {
    fn clone(&self) -> Self {
        Diary(self.0.clone())
    }
}

impl<T> Diary<T> {
    /// The test may have ended.
    pub(crate) fn note(&self, what: T) {
        drop(self.0.send(what));
    }
}

pub(crate) struct Reader<T>(UnboundedReceiver<T>);

impl<T> Reader<T> {
    /// What is noted next.
    pub(crate) async fn next(&mut self) -> T {
        let next = timeout(PATIENCE, self.0.recv()).await;
        next.expect("something is noted").expect("somebody may note")
    }

    /// Nothing is noted any more.
    pub(crate) async fn is_silent(&mut self) -> bool {
        timeout(PATIENCE, self.0.recv()).await.ok().flatten().is_none()
    }
}

impl Reader<ObjectKey> {
    pub(crate) async fn next_key(&mut self) -> String {
        self.next().await.to_string()
    }
}

/// Work that succeeds and is noted.
pub(crate) fn noting(diary: Diary<ObjectKey>) -> impl logger_runtime::Reconciler {
    move |key: ObjectKey| {
        diary.note(key);
        async { Ok::<_, std::convert::Infallible>(()) }
    }
}

/// The same state for every call of a closure.
pub(crate) fn shared<S: Send + Sync + 'static, Fut>(
    state: S,
    work: impl Fn(Arc<S>, ObjectKey) -> Fut + Send + Sync + 'static,
) -> impl Fn(ObjectKey) -> Fut + Send + Sync + 'static {
    let state = Arc::new(state);
    move |key| work(Arc::clone(&state), key)
}
