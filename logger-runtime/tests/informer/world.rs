//! What the tests share: a world of ConfigMaps, an informer that runs, and what a handler hears.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use logger_apiserver::{ApiServer, Faults};
use logger_runtime::informer::{Config, Event, HandlerOptions, Registration, SharedInformer};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Longer than anything takes: the clock is paused, so it passes only when nothing else can happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server, the line to it, and what goes on beside the line.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) server: ApiServer,
    pub(crate) faults: Faults,
    maps: Api<ConfigMap>,
}

impl World {
    pub(crate) fn new() -> Self {
        let server = ApiServer::new();
        let maps = Api::namespaced(server.client(), "default");
        World { server, faults: Faults::new(), maps }
    }

    /// A client at the end of the line.
    pub(crate) fn client(&self) -> kube::Client {
        self.server.client_with(self.faults.layer())
    }

    /// An informer at the end of the line.
    pub(crate) fn informer(&self) -> SharedInformer<ConfigMap> {
        SharedInformer::new(Api::namespaced(self.client(), "default"))
    }

    /// The same, told more.
    pub(crate) fn informer_with(&self, config: Config<ConfigMap>) -> SharedInformer<ConfigMap> {
        SharedInformer::with_config([Api::namespaced(self.client(), "default")], config)
    }

    /// An informer that has synced with these objects, each in state 1.
    pub(crate) async fn following(&self, names: &[&str]) -> SharedInformer<ConfigMap> {
        for name in names {
            self.create(name, 1).await;
        }
        let informer = self.informer();
        synced(&informer).await;
        informer
    }

    pub(crate) async fn create(&self, name: &str, state: i32) -> ConfigMap {
        self.maps.create(&PostParams::default(), &map(name, state)).await.unwrap()
    }

    pub(crate) async fn set(&self, name: &str, state: i32) {
        let patch = Patch::Merge(json!({"data": {"state": state.to_string()}}));
        self.maps.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.maps.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

pub(crate) fn map(name: &str, state: i32) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.data = Some(BTreeMap::from([("state".to_owned(), state.to_string())]));
    map
}

/// Runs an informer on a task, until it is cancelled.
pub(crate) fn run(informer: &SharedInformer<ConfigMap>) -> (CancellationToken, JoinHandle<()>) {
    let cancelled = CancellationToken::new();
    let (informer, token) = (informer.clone(), cancelled.clone());
    (cancelled, tokio::spawn(async move { informer.run(token).await }))
}

/// Runs an informer and waits until it has synced.
pub(crate) async fn synced(informer: &SharedInformer<ConfigMap>) -> (CancellationToken, JoinHandle<()>) {
    let running = run(informer);
    informer.wait_for_sync_within(PATIENCE).await.unwrap();
    running
}

/// What one handler hears.
pub(crate) struct Heard {
    pub(crate) registration: Registration,
    events: mpsc::UnboundedReceiver<String>,
}

/// Listens with a handler that writes down each event.
pub(crate) fn hear(informer: &SharedInformer<ConfigMap>) -> Heard {
    hear_as(informer, HandlerOptions::new(), told)
}

/// Listens in this way, with a handler that writes down what this makes of each event.
pub(crate) fn hear_as(
    informer: &SharedInformer<ConfigMap>,
    options: HandlerOptions<ConfigMap>,
    mut told: impl FnMut(&Event<ConfigMap>) -> String + Send + 'static,
) -> Heard {
    let (tell, events) = mpsc::unbounded_channel();
    let registration = informer.add_event_handler_with(options, move |event| drop(tell.send(told(event)))).unwrap();
    Heard { registration, events }
}

impl Heard {
    pub(crate) async fn next(&mut self) -> String {
        let next = timeout(PATIENCE, self.events.recv()).await;
        next.expect("the handler hears of it").expect("the handler is there")
    }

    pub(crate) async fn these(&mut self, expected: &[&str]) {
        for expected in expected {
            assert_eq!(self.next().await, *expected);
        }
    }

    /// These, in whatever order: none is promised across objects.
    pub(crate) async fn all_of(&mut self, expected: &[&str]) {
        let mut heard = Vec::new();
        for _ in expected {
            heard.push(self.next().await);
        }
        heard.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(heard, expected);
    }

    /// Nothing more, however long it waits: until it would have been told.
    pub(crate) async fn nothing(&mut self) {
        assert_eq!(timeout(PATIENCE, self.events.recv()).await.ok().flatten(), None);
    }

    /// What was heard up to now.
    pub(crate) fn now(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

/// `add audit=1 (initial)`, `update audit 1->2`, `delete audit=2 (missed)`
pub(crate) fn told(event: &Event<ConfigMap>) -> String {
    let (name, state) = (name(event), state(event.object()));
    match event {
        Event::Added { initial: true, .. } => format!("add {name}={state} (initial)"),
        Event::Added { initial: false, .. } => format!("add {name}={state}"),
        Event::Updated { old, .. } => format!("update {name} {}->{state}", self::state(old)),
        Event::Deleted { final_state_unknown: true, .. } => format!("delete {name}={state} (missed)"),
        Event::Deleted { final_state_unknown: false, .. } => format!("delete {name}={state}"),
    }
}

pub(crate) fn name(event: &Event<ConfigMap>) -> &str {
    event.object().metadata.name.as_deref().unwrap_or_default()
}

pub(crate) fn state(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|data| data.get("state")).map_or("", String::as_str)
}

/// How many tasks there are.
pub(crate) fn alive() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Lets everything happen that can.
pub(crate) async fn settle() {
    drop(timeout(Duration::from_millis(1), std::future::pending::<()>()).await);
}
