//! What the informer tests share: a world of Loggers, an informer that runs, and what a handler hears.

use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use logger_client::Clientset;
use logger_client::typed::example_v1::LoggerClient;
use logger_runtime::{Event, Registration, SharedInformer};
use logger_types::v1::Logger;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::line::{Line, PATIENCE};

/// Changes Loggers beside the line. The interval of a Logger is its state.
pub(crate) struct World(LoggerClient);

impl World {
    pub(crate) fn of(line: &Line) -> Self {
        World(Clientset::new(line.direct()).example_v1().loggers("default"))
    }

    pub(crate) async fn create(&self, name: &str, state: i32) -> Logger {
        let mut logger = tests::logger(name);
        logger.spec.time_interval = state;
        self.0.create(&logger, &PostParams::default()).await.unwrap()
    }

    pub(crate) async fn set(&self, name: &str, state: i32) {
        let patch = Patch::Merge(json!({"spec": {"timeInterval": state}}));
        self.0.patch(name, &patch, &PatchParams::default()).await.unwrap();
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.0.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

/// An informer at the end of the line.
pub(crate) fn informer(line: &Line) -> SharedInformer<Logger> {
    SharedInformer::new(Api::namespaced(line.client(), "default"))
}

/// Runs an informer on a task, until it is cancelled.
pub(crate) fn run(informer: &SharedInformer<Logger>) -> (CancellationToken, JoinHandle<()>) {
    let cancelled = CancellationToken::new();
    let (informer, token) = (informer.clone(), cancelled.clone());
    (cancelled, tokio::spawn(async move { informer.run(token).await }))
}

/// Runs an informer and waits until it has synced.
pub(crate) async fn synced(informer: &SharedInformer<Logger>) {
    run(informer);
    let waited = timeout(PATIENCE, informer.wait_for_sync()).await;
    waited.expect("the informer syncs");
}

/// What one handler hears.
pub(crate) struct Heard {
    pub(crate) registration: Registration,
    events: mpsc::UnboundedReceiver<String>,
}

/// Listens with a handler that writes down each event.
pub(crate) fn hear(informer: &SharedInformer<Logger>) -> Heard {
    hear_as(informer, told)
}

/// Listens with a handler that writes down what this makes of each event.
pub(crate) fn hear_as(
    informer: &SharedInformer<Logger>,
    told: impl Fn(&Event<Logger>) -> String + Send + Sync + 'static,
) -> Heard {
    let (tell, events) = mpsc::unbounded_channel();
    let registration = informer.add_event_handler(move |event| drop(tell.send(told(event))));
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

    /// What was heard up to now.
    pub(crate) fn now(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

/// `add audit=1 (initial)`, `update audit 1->2`, `delete audit=2`
pub(crate) fn told(event: &Event<Logger>) -> String {
    let name = name(event);
    let state = event.object().spec.time_interval;
    match event {
        Event::Added { initial: true, .. } => format!("add {name}={state} (initial)"),
        Event::Added { initial: false, .. } => format!("add {name}={state}"),
        Event::Updated { old, .. } => format!("update {name} {}->{state}", old.spec.time_interval),
        Event::Deleted { .. } => format!("delete {name}={state}"),
    }
}

pub(crate) fn name(event: &Event<Logger>) -> &str {
    event.object().metadata.name.as_deref().unwrap_or_default()
}
