//! The fixture of the tests: a running manager, and runnables that record what happens to them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, api::PostParams};
use kubewright_manager::{BoxError, CancellationToken, HealthChecks, Manager, ManagerError, Probes, Runnable, Stage};
use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// How long a test waits for an event. Exceeds every timeout that the tests cause.
const TIMEOUT: Duration = Duration::from_hours(1);
/// How long a [`Step`] takes to start, and to stop.
pub(crate) const STEP_TIME: Duration = Duration::from_millis(100);

/// A manager that runs on its own task.
pub(crate) struct Running {
    pub(crate) stop: CancellationToken,
    pub(crate) health: HealthChecks,
    pub(crate) manager: Arc<Manager>,
    pub(crate) task: JoinHandle<Result<(), ManagerError>>,
}

impl Running {
    pub(crate) fn start(manager: Manager) -> Self {
        let (manager, stop) = (Arc::new(manager), CancellationToken::new());
        let (health, running, token) = (manager.health().clone(), Arc::clone(&manager), stop.clone());
        let task = tokio::spawn(async move { running.run(token).await });
        Running { stop, health, manager, task }
    }

    /// Starts a manager and waits until it is ready.
    pub(crate) async fn ready(manager: Manager) -> Self {
        let running = Self::start(manager);
        running.wait_until(|running| running.probe("/readyz") == "ok").await;
        running
    }

    /// Waits until a condition is true.
    pub(crate) async fn wait_until(&self, mut condition: impl FnMut(&Self) -> bool) {
        let poll = async {
            while !condition(self) {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TIMEOUT, poll).await.expect("the condition becomes true");
    }

    pub(crate) fn probe(&self, path: &str) -> String {
        self.health.respond(path, "").1
    }

    pub(crate) async fn stop(self) -> Result<(), ManagerError> {
        self.stop.cancel();
        self.result().await
    }

    pub(crate) async fn result(self) -> Result<(), ManagerError> {
        timeout(TIMEOUT, self.task).await.expect("the manager returns").unwrap()
    }
}

/// Records what happened, and when.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<(String, Instant)>>>);

impl Log {
    pub(crate) fn push(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push((entry.into(), Instant::now()));
    }

    pub(crate) fn entries(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(entry, _)| entry.clone()).collect()
    }

    pub(crate) fn contains(&self, entry: &str) -> bool {
        self.entries().iter().any(|other| other == entry)
    }

    pub(crate) fn time(&self, entry: &str) -> Instant {
        self.0.lock().unwrap().iter().find(|(other, _)| other == entry).expect("it is recorded").1
    }
}

/// A runnable that records its start (`+name`), the end of its start (`=name`) and its stop (`-name`).
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) stage: Stage,
    pub(crate) log: Log,
}

impl Runnable for Step {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        self.log.push(format!("+{}", self.name));
        stop.cancelled().await;
        sleep(STEP_TIME).await;
        self.log.push(format!("-{}", self.name));
        Ok(())
    }

    fn stage(&self) -> Stage {
        self.stage
    }

    fn probes(&self) -> Probes {
        let (log, name) = (self.log.clone(), self.name);
        Probes::default().started(async move {
            sleep(STEP_TIME).await;
            log.push(format!("={name}"));
            Ok::<_, BoxError>(())
        })
    }
}

pub(crate) fn step(name: &'static str, log: &Log) -> Step {
    Step { name, stage: Stage::Others, log: log.clone() }
}

/// A runnable that ignores the stop, and records when it is dropped (`dropped name`).
pub(crate) async fn ignore_stop(name: &'static str, log: Log) -> Result<(), BoxError> {
    struct Recorder(&'static str, Log);
    impl Drop for Recorder {
        fn drop(&mut self) {
            self.1.push(format!("dropped {}", self.0));
        }
    }
    log.push(format!("+{name}"));
    let _recorder = Recorder(name, log);
    std::future::pending().await
}

/// A runnable that ends this long after its start, without an error.
pub(crate) fn ending_after(time: Duration) -> impl Runnable {
    move |_: CancellationToken| async move {
        sleep(time).await;
        Ok::<_, BoxError>(())
    }
}

pub(crate) fn config_maps(client: Client) -> Api<ConfigMap> {
    Api::namespaced(client, "default")
}

pub(crate) async fn create_config_map(client: Client, name: &str) {
    let object = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    config_maps(client).create(&PostParams::default(), &object).await.unwrap();
}
