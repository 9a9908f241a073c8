//! The fixture of the tests: a server with ConfigMaps, a running informer, and the events that a handler received.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::{ApiServer, Faults};
use kubewright_runtime::{
    InformerFactory,
    informer::{Config, Event, HandlerOptions, HandlerRegistration, SharedInformer},
};
use serde_json::json;
use tokio::{runtime::Handle, sync::mpsc, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use super::MEMORY;

/// Exceeds every wait: the clock is paused, so it elapses only when no task can make progress.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A server, the faults between it and the informers, and a client without faults.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) server: ApiServer,
    pub(crate) faults: Faults,
    config_maps: Api<ConfigMap>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let server = ApiServer::new();
        let config_maps = Api::namespaced(server.client(), "default");
        Fixture { server, faults: Faults::new(), config_maps }
    }

    /// Returns a client behind the faults.
    pub(crate) fn client(&self) -> kube::Client {
        self.server.client_with(self.faults.layer())
    }

    /// Creates an informer behind the faults.
    pub(crate) fn informer(&self) -> SharedInformer<ConfigMap> {
        self.informer_with(Config::default())
    }

    /// Creates an informer with custom options behind the faults.
    pub(crate) fn informer_with(&self, config: Config<ConfigMap>) -> SharedInformer<ConfigMap> {
        SharedInformer::with_config([Api::namespaced(self.client(), "default")], config.memory(MEMORY))
    }

    /// Creates a factory of informers behind the faults.
    pub(crate) fn factory(&self) -> InformerFactory {
        InformerFactory::builder(self.client()).defaults(|config| config.memory(MEMORY)).build()
    }

    /// Creates these objects in state 1, and an informer that has synced with them.
    pub(crate) async fn synced_informer(&self, names: &[&str]) -> SharedInformer<ConfigMap> {
        for name in names {
            self.create(name, 1).await;
        }
        let informer = self.informer();
        start_synced(&informer).await;
        informer
    }

    pub(crate) async fn create(&self, name: &str, state: i32) -> ConfigMap {
        self.config_maps.create(&PostParams::default(), &config_map(name, state)).await.unwrap()
    }

    pub(crate) async fn update(&self, name: &str, state: i32) {
        let patch = Patch::Merge(json!({"data": {"state": state.to_string()}}));
        self.config_maps.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Sets the state to a text, creating the object if needed.
    pub(crate) async fn set(&self, name: &str, state: &str) {
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"state": state}});
        let params = PatchParams::apply("test").force();
        self.config_maps.patch(name, &params, &Patch::Apply(map)).await.unwrap();
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.config_maps.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

pub(crate) fn config_map(name: &str, state: i32) -> ConfigMap {
    let mut config_map = ConfigMap::default();
    config_map.metadata.name = Some(name.to_owned());
    config_map.data = Some(BTreeMap::from([("state".to_owned(), state.to_string())]));
    config_map
}

/// Runs an informer on a task until it is cancelled.
pub(crate) fn start(informer: &SharedInformer<ConfigMap>) -> (CancellationToken, JoinHandle<()>) {
    let cancelled = CancellationToken::new();
    let (informer, token) = (informer.clone(), cancelled.clone());
    (cancelled, tokio::spawn(async move { informer.run(token).await.unwrap() }))
}

/// Runs an informer and waits until it has synced.
pub(crate) async fn start_synced(informer: &SharedInformer<ConfigMap>) -> (CancellationToken, JoinHandle<()>) {
    let running = start(informer);
    informer.wait_for_sync_within(TIMEOUT).await.unwrap();
    running
}

/// The events that one handler received.
pub(crate) struct RecordedEvents {
    pub(crate) registration: HandlerRegistration,
    events: mpsc::UnboundedReceiver<String>,
}

/// Adds a handler that records a description of each event.
pub(crate) fn record_events(informer: &SharedInformer<ConfigMap>) -> RecordedEvents {
    record_events_with(informer, HandlerOptions::new(), describe)
}

/// Adds a handler with these options that records a custom description of each event.
pub(crate) fn record_events_with(
    informer: &SharedInformer<ConfigMap>,
    options: HandlerOptions<ConfigMap>,
    mut describe: impl FnMut(&Event<ConfigMap>) -> String + Send + 'static,
) -> RecordedEvents {
    let (sender, events) = mpsc::unbounded_channel();
    let registration =
        informer.add_event_handler_with(options, move |event| drop(sender.send(describe(event)))).unwrap();
    RecordedEvents { registration, events }
}

impl RecordedEvents {
    pub(crate) async fn next(&mut self) -> String {
        let next = timeout(TIMEOUT, self.events.recv()).await;
        next.expect("an event before the timeout").expect("a live handler")
    }

    /// Expects these events in this order.
    pub(crate) async fn expect_events(&mut self, expected: &[&str]) {
        for expected in expected {
            assert_eq!(self.next().await, *expected);
        }
    }

    /// Expects these events in any order: no order is guaranteed across objects.
    pub(crate) async fn expect_unordered(&mut self, expected: &[&str]) {
        let mut received = Vec::new();
        for _ in expected {
            received.push(self.next().await);
        }
        received.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(received, expected);
    }

    /// Expects no further event before the timeout.
    pub(crate) async fn expect_none(&mut self) {
        assert_eq!(timeout(TIMEOUT, self.events.recv()).await.ok().flatten(), None);
    }

    /// Returns the events received so far.
    pub(crate) fn drain(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

/// Describes an event as `add audit=1 (initial)`, `update audit 1->2` or `delete audit=2 (missed)`.
pub(crate) fn describe(event: &Event<ConfigMap>) -> String {
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

/// Returns the number of live tasks.
pub(crate) fn alive_tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Runs all tasks until none can make progress.
pub(crate) async fn run_until_idle() {
    drop(timeout(Duration::from_millis(1), std::future::pending::<()>()).await);
}

/// Implements `Resource` for a type that contains a ConfigMap, as that of ConfigMaps.
macro_rules! impl_resource_of_config_map {
    ($type:ident) => {
        impl ::kube::Resource for $type {
            type DynamicType = ();
            type Scope = ::k8s_openapi::NamespaceResourceScope;

            fn kind((): &()) -> ::std::borrow::Cow<'_, str> {
                <ConfigMap as ::kube::Resource>::kind(&())
            }

            fn group((): &()) -> ::std::borrow::Cow<'_, str> {
                <ConfigMap as ::kube::Resource>::group(&())
            }

            fn version((): &()) -> ::std::borrow::Cow<'_, str> {
                <ConfigMap as ::kube::Resource>::version(&())
            }

            fn plural((): &()) -> ::std::borrow::Cow<'_, str> {
                <ConfigMap as ::kube::Resource>::plural(&())
            }

            fn meta(&self) -> &::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.0.metadata
            }

            fn meta_mut(&mut self) -> &mut ::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.0.metadata
            }
        }
    };
}
pub(crate) use impl_resource_of_config_map;
