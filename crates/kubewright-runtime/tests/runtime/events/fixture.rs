//! The fixture of the tests: a server with faults and a recorder whose worker runs.

use std::time::Duration;

use k8s_openapi::{
    api::{core::v1::ConfigMap, events::v1::Event},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use kubewright_apiserver::{Actions, ApiServer, Faults, Reactors, Requests, Verb};
use kubewright_runtime::{
    EventRecorder, EventType,
    events::{EventConfig, EventWorker, FlushError},
    metrics::Metrics,
};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::metrics::value;

pub(crate) struct Fixture {
    pub(crate) server: ApiServer,
    pub(crate) faults: Faults,
    pub(crate) reactors: Reactors,
    pub(crate) metrics: Metrics,
    pub(crate) recorder: EventRecorder,
    worker: Option<EventWorker>,
    stop: CancellationToken,
    running: Option<JoinHandle<Result<(), FlushError>>>,
}

impl Fixture {
    /// Creates a recorder whose worker does not run yet.
    pub(crate) fn new() -> Self {
        Self::with_config(EventConfig::default())
    }

    pub(crate) fn with_config(config: EventConfig) -> Self {
        let (server, faults, reactors) = (ApiServer::new(), Faults::new(), Reactors::new());
        let client = server.client_with((faults.layer(), reactors.layer()));
        let metrics = Metrics::default();
        let config = config.metrics(metrics.clone());
        let (recorder, worker) = EventRecorder::new(client, "maps", config).unwrap();
        let (worker, stop) = (Some(worker), CancellationToken::new());
        Fixture { server, faults, reactors, metrics, recorder, worker, stop, running: None }
    }

    /// Creates a recorder whose worker runs.
    pub(crate) fn started() -> Self {
        let mut fixture = Self::new();
        fixture.start();
        fixture
    }

    pub(crate) fn start(&mut self) {
        self.running = self.worker.take().map(|worker| tokio::spawn(worker.run(self.stop.clone())));
    }

    /// Stops the worker and returns its result.
    pub(crate) async fn stop(&mut self) -> Result<(), FlushError> {
        self.stop.cancel();
        self.running.take().unwrap().await.unwrap()
    }

    /// Drops the worker, whether it runs or not.
    pub(crate) async fn abort(&mut self) {
        self.worker = None;
        if let Some(running) = self.running.take() {
            running.abort();
            drop(running.await);
        }
    }

    /// Records a warning about a ConfigMap and waits until nothing happens at this time any more.
    pub(crate) async fn record(&self, name: &str, note: &str) {
        self.recorder.event(&config_map(name), EventType::Warning, "Failed", "Writing", note);
        settle().await;
    }

    /// Returns all events of the server, from the oldest to the latest.
    pub(crate) async fn events(&self) -> Vec<Event> {
        let api: Api<Event> = Api::all(self.server.client());
        let mut events = api.list(&ListParams::default()).await.unwrap().items;
        events.sort_by_key(|event| event.event_time.clone().map(|time| time.0));
        events
    }

    /// Returns the only event of the server.
    pub(crate) async fn event(&self) -> Event {
        let mut events = self.events().await;
        assert_eq!(events.len(), 1, "{events:#?}");
        events.remove(0)
    }

    /// Deletes all events of the server.
    pub(crate) async fn delete_events(&self) {
        let api: Api<Event> = Api::default_namespaced(self.server.client());
        api.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    }

    /// Returns the counter `event_recorder_<name>` with these labels, such as `dropped_total` and
    /// `controller="maps",reason="queue_full"`.
    pub(crate) fn counter(&self, name: &str, labels: &str) -> f64 {
        let series = format!("event_recorder_{name}{{{labels}}}");
        value(&self.metrics, &series).unwrap_or_else(|| panic!("no counter {series} in {}", self.metrics.text()))
    }

    /// Returns the number of requests with this verb for events.
    pub(crate) fn requests(&self, verb: Verb) -> usize {
        self.faults.count(Requests::to("events").group("events.k8s.io").verb(verb))
    }

    /// Returns what was sent to the server.
    pub(crate) fn actions(&self) -> Actions {
        self.reactors.actions()
    }
}

/// Waits until every task waits: time is paused, so it advances only then.
pub(crate) async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

pub(crate) fn config_map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("default".to_owned()),
        uid: Some(format!("uid-of-{name}")),
        ..ObjectMeta::default()
    };
    ConfigMap { metadata, ..ConfigMap::default() }
}

/// Returns the count of the series of an event; `None` for a single event.
pub(crate) fn count(event: &Event) -> Option<i32> {
    event.series.as_ref().map(|series| series.count)
}
