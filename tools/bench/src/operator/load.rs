//! The load: creates Loggers, changes them at a constant rate, and verifies their ConfigMaps.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use http::{Method, Request, header::CONTENT_TYPE};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Config,
    api::ListParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{interval, sleep},
};

use super::observer::ObservedLogger;

/// The path of all Loggers.
pub(super) const LOGGERS: &str = "/apis/example.com/v2/loggers";

const NAMESPACES: usize = 100;
/// The number of concurrent requests that create objects.
const WRITERS: usize = 32;
/// A prime number: changes visit all Loggers before they visit one again, unless there is a multiple of it.
const STRIDE: usize = 7919;
/// The interval of a new Logger in seconds.
const FIRST_INTERVAL: u32 = 10;
/// How long the API server may take to serve Loggers.
const TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

/// A client of the API server, and the current desired state of its Loggers.
pub(super) struct Load {
    client: Client,
    /// `spec.interval` in seconds by number.
    intervals: Vec<u32>,
}

/// A write of a Logger.
pub(super) struct Change {
    pub(super) name: String,
    /// The generation that the write resulted in.
    pub(super) generation: i64,
    /// When its response was received.
    pub(super) written: Instant,
}

impl Load {
    /// Creates the namespaces of this number of Loggers.
    pub(super) async fn start(kubeconfig: &Path, objects: u32) -> Result<Load> {
        let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        let load = Load { client: Client::try_from(config)?, intervals: vec![FIRST_INTERVAL; objects as usize] };
        load.wait_until_served().await?;
        for number in 0..NAMESPACES {
            let namespace =
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace(number) } });
            let _: Value = send(&load.client, Method::POST, "/api/v1/namespaces", &namespace).await?;
        }
        Ok(load)
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Waits until Loggers and their group in the discovery are served.
    async fn wait_until_served(&self) -> Result<()> {
        let served = async {
            for path in [LOGGERS, "/apis/example.com", "/apis/example.com/v2"] {
                while self.client.request::<Value>(Request::get(path).body(Vec::new())?).await.is_err() {
                    sleep(POLL).await;
                }
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(TIMEOUT, served).await.context("Loggers are not served")?
    }

    /// Creates all Loggers.
    pub(super) async fn create(&self) -> Result<Vec<Change>> {
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let (client, objects) = (self.client.clone(), self.intervals.len());
            writers.spawn(async move {
                let mut changes = Vec::new();
                for number in (writer..objects).step_by(WRITERS) {
                    changes.push(write(&client, Method::POST, &loggers(number), &logger(number)).await?);
                }
                anyhow::Ok(changes)
            });
        }
        let mut changes = Vec::new();
        while let Some(created) = writers.join_next().await {
            changes.extend(created??);
        }
        Ok(changes)
    }

    /// Changes the spec of Loggers at a constant rate, whether or not earlier changes are reconciled.
    pub(super) async fn change(&mut self, per_second: u32, seconds: u32) -> Result<Vec<Change>> {
        let mut ticks = interval(Duration::from_secs(1) / per_second);
        let mut writes = JoinSet::new();
        for change in 0..(per_second * seconds) as usize {
            let number = change * STRIDE % self.intervals.len();
            self.intervals[number] += 1;
            let (client, patch) =
                (self.client.clone(), json!({ "spec": { "interval": interval_of(self.intervals[number]) } }));
            let path = format!("{}/{}", loggers(number), name(number));
            ticks.tick().await;
            writes.spawn(async move { write(&client, Method::PATCH, &path, &patch).await });
        }
        let mut changes = Vec::new();
        while let Some(written) = writes.join_next().await {
            changes.push(written??);
        }
        Ok(changes)
    }

    /// Verifies that each Logger has a ConfigMap with its current interval.
    pub(super) async fn verify(&self) -> Result<()> {
        let all: Api<ConfigMap> = Api::all(self.client.clone());
        let config_maps = all.list(&ListParams::default().labels("app.kubernetes.io/managed-by=loggers")).await?;
        let current = config_maps.iter().filter(|config_map| self.is_current(config_map)).count();
        ensure!(
            current == self.intervals.len(),
            "{current} of {} ConfigMaps are as desired, there are {}",
            self.intervals.len(),
            config_maps.items.len()
        );
        Ok(())
    }

    fn is_current(&self, config_map: &ConfigMap) -> bool {
        let name = config_map.metadata.name.as_deref().unwrap_or_default();
        let number = name.strip_prefix("logger-").and_then(|number| number.parse::<usize>().ok());
        let desired = number.and_then(|number| self.intervals.get(number)).copied().map(interval_of);
        let interval = config_map.data.as_ref().and_then(|data| data.get("interval"));
        desired.is_some() && desired.as_ref() == interval
    }
}

fn name(number: usize) -> String {
    format!("logger-{number:06}")
}

fn namespace(number: usize) -> String {
    format!("bench-{:03}", number % NAMESPACES)
}

/// Returns the path of the Loggers in the namespace of this one.
fn loggers(number: usize) -> String {
    format!("/apis/example.com/v2/namespaces/{}/loggers", namespace(number))
}

/// Returns the value of `spec.interval`.
fn interval_of(seconds: u32) -> String {
    format!("{seconds}s")
}

fn logger(number: usize) -> Value {
    let name = name(number);
    json!({
        "apiVersion": "example.com/v2",
        "kind": "Logger",
        "metadata": {
            "name": name,
            "labels": { "app.kubernetes.io/name": "logger", "team": format!("team-{:02}", number % 40) },
            "annotations": { "example.com/owner": format!("owner-{:03}@example.com", number % 300) },
        },
        "spec": { "name": name, "interval": interval_of(FIRST_INTERVAL), "replicas": 1 + number % 3 },
    })
}

/// Writes a Logger.
async fn write(client: &Client, method: Method, path: &str, body: &Value) -> Result<Change> {
    let logger: ObservedLogger = send(client, method, path, body).await?;
    Ok(Change { name: logger.metadata.name, generation: logger.metadata.generation, written: Instant::now() })
}

async fn send<T: DeserializeOwned>(client: &Client, method: Method, path: &str, body: &Value) -> Result<T> {
    let content_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let request = Request::builder().method(method).uri(path).header(CONTENT_TYPE, content_type);
    client.request(request.body(serde_json::to_vec(body)?)?).await.with_context(|| format!("cannot write {path}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn changes_visit_all_loggers_before_they_visit_one_again() {
        for objects in [1, 200, 10_000] {
            let visited: BTreeSet<_> = (0..objects).map(|change| change * STRIDE % objects).collect();
            assert_eq!(visited.len(), objects);
        }
    }

    #[test]
    fn a_logger_is_in_the_namespace_of_its_number() {
        assert_eq!(loggers(107), "/apis/example.com/v2/namespaces/bench-007/loggers");
        assert_eq!(logger(107)["metadata"]["name"], "logger-000107");
    }
}
