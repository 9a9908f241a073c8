//! Load on an API server: creates, updates, full lists and watches. Prints one measurement per line as JSON.
//!
//! `apiserver-load OBJECTS WATCHERS` uses the server of `KUBECONFIG`, whose processes are `PIDS`; by default, an API
//! server in memory in this process.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use bench::measure::{memory_of, report};
use futures::StreamExt;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use kube::{Client, Config, client::Body};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

const DEFINITION: &str = include_str!("../../../config/crd/bases/example.com_loggers.yaml");
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LOGGERS: &str = "/apis/example.com/v2/namespaces/default/loggers";

/// The number of concurrent requests.
const WRITERS: usize = 8;
/// The number of full lists.
const LISTS: usize = 7;
/// The number of changes that the watchers receive.
const CHANGES: usize = 300;
/// How long a definition may take to be served.
const TIMEOUT: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map_while(|number| number.parse().ok());
    let (objects, watchers) = (numbers.next().unwrap_or(10_000), numbers.next().unwrap_or(100));
    let load = Load { client: client().await?, pids: pids() };
    load.define().await?;
    let before = load.memory();
    let mut versions = load.create(objects).await?;
    // Lets the servers finish background work.
    tokio::time::sleep(Duration::from_secs(1)).await;
    report("memory", json!({ "bytes": (load.memory() - before) * 1e6 / objects as f64 }));
    load.update(&mut versions).await?;
    load.list(objects).await?;
    load.watch(watchers, &mut versions).await
}

/// Returns a client of the measured server. Reports the start of a server in memory until its first response.
async fn client() -> Result<Client> {
    if std::env::var_os("KUBECONFIG").is_some() {
        return Ok(Client::try_from(Config::infer().await?)?);
    }
    let start = Instant::now();
    let client = ApiServer::new().client();
    send(&client, Method::GET, "/version", Vec::new()).await?;
    report("start", json!({ "ms": millis(start.elapsed()) }));
    Ok(client)
}

/// Returns the processes whose memory is measured.
fn pids() -> Vec<String> {
    let named = std::env::var("PIDS").unwrap_or_else(|_| "self".to_owned());
    named.split_whitespace().map(str::to_owned).collect()
}

fn millis(taken: Duration) -> f64 {
    taken.as_secs_f64() * 1e3
}

/// The load on a server.
struct Load {
    client: Client,
    pids: Vec<String>,
}

impl Load {
    /// Creates the CRD and waits until it is served.
    async fn define(&self) -> Result<()> {
        let definition: Value = serde_saphyr::from_str(DEFINITION)?;
        send(&self.client, Method::POST, DEFINITIONS, serde_json::to_vec(&definition)?).await?;
        let served = async {
            while send(&self.client, Method::GET, LOGGERS, Vec::new()).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(TIMEOUT, served).await.context("Loggers are not served")
    }

    /// Returns the resident memory in megabytes of 10^6 bytes.
    fn memory(&self) -> f64 {
        self.pids.iter().map(|pid| memory_of(pid, "VmRSS")).sum()
    }

    /// Creates the objects and returns their versions.
    async fn create(&self, objects: usize) -> Result<Vec<u64>> {
        let start = Instant::now();
        let versions = self.write(&vec![0; objects], 5).await?;
        report("create", json!({ "per_s": objects as f64 / start.elapsed().as_secs_f64() }));
        Ok(versions)
    }

    async fn update(&self, versions: &mut Vec<u64>) -> Result<()> {
        let start = Instant::now();
        *versions = self.write(versions, 7).await?;
        report("update", json!({ "per_s": versions.len() as f64 / start.elapsed().as_secs_f64() }));
        Ok(())
    }

    async fn list(&self, objects: usize) -> Result<()> {
        for _ in 0..LISTS {
            let start = Instant::now();
            let list = send(&self.client, Method::GET, LOGGERS, Vec::new()).await?;
            let taken = millis(start.elapsed());
            ensure!(list.len() > objects * 100, "the list is too short: {} bytes", list.len());
            report("list", json!({ "ms": taken, "bytes": list.len() }));
        }
        Ok(())
    }

    /// Updates objects and waits until all watchers have received the events.
    async fn watch(&self, watchers: usize, versions: &mut [u64]) -> Result<()> {
        let now = versions.iter().copied().max().unwrap_or_default();
        let mut open = Vec::new();
        for _ in 0..watchers {
            let uri = format!("{LOGGERS}?watch=1&resourceVersion={now}");
            let response = self.client.send(Request::get(uri).body(Body::empty())?).await?;
            ensure!(response.status() == StatusCode::OK, "unexpected response to a watch: {}", response.status());
            open.push(tokio::spawn(events(response.into_body())));
        }
        let start = Instant::now();
        self.write(&versions[..CHANGES.min(versions.len())], 9).await?;
        for watcher in open {
            watcher.await??;
        }
        let events = (watchers * CHANGES.min(versions.len())) as f64;
        report("watch", json!({ "per_s": events / start.elapsed().as_secs_f64() }));
        Ok(())
    }

    /// Writes every object, creating those with version 0, and returns the new versions.
    async fn write(&self, versions: &[u64], interval: u32) -> Result<Vec<u64>> {
        let versions: Arc<[u64]> = versions.into();
        let writers = (0..WRITERS).map(|writer| {
            let (client, versions) = (self.client.clone(), Arc::clone(&versions));
            tokio::spawn(async move {
                let mut written = Vec::new();
                for number in (writer..versions.len()).step_by(WRITERS) {
                    written.push((number, put(&client, number, versions[number], interval).await?));
                }
                anyhow::Ok(written)
            })
        });
        let mut written = vec![0; versions.len()];
        for writer in writers.collect::<Vec<_>>() {
            writer.await??.into_iter().for_each(|(number, version)| written[number] = version);
        }
        Ok(written)
    }
}

/// Waits for as many events as there are changes.
async fn events(body: Body) -> Result<()> {
    let mut frames = Box::pin(body.into_data_stream());
    let mut left = CHANGES;
    while left > 0 {
        let frame = frames.next().await.context("the watch has ended")??;
        left = left.saturating_sub(frame.iter().filter(|byte| **byte == b'\n').count());
    }
    Ok(())
}

/// Creates an object, or updates it if it has a version, and returns its new version.
async fn put(client: &Client, number: usize, version: u64, interval: u32) -> Result<u64> {
    let name = format!("logger-{number:06}");
    let mut logger = json!({
        "apiVersion": "example.com/v2",
        "kind": "Logger",
        "metadata": { "name": name, "labels": { "app.kubernetes.io/name": "logger", "number": number.to_string() } },
        "spec": { "name": name, "interval": format!("{interval}s"), "replicas": 2 },
    });
    let response = if version == 0 {
        send(client, Method::POST, LOGGERS, serde_json::to_vec(&logger)?).await?
    } else {
        logger["metadata"]["resourceVersion"] = version.to_string().into();
        send(client, Method::PUT, &format!("{LOGGERS}/{name}"), serde_json::to_vec(&logger)?).await?
    };
    version_in(&response).context("the response has no resourceVersion")
}

fn version_in(response: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(response).ok()?;
    let (_, rest) = text.split_once("\"resourceVersion\":\"")?;
    rest.split_once('"')?.0.parse().ok()
}

/// Sends a request and returns the body of a successful response.
async fn send(client: &Client, method: Method, path: &str, body: Vec<u8>) -> Result<Vec<u8>> {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let response = client.send(request.body(Body::from(body))?).await?;
    let code = response.status();
    let body = response.into_body().collect_bytes().await?;
    ensure!(code.is_success(), "{path}: {code} {}", String::from_utf8_lossy(&body));
    Ok(body.into())
}
