//! Clients that send records to the agents of a Logger, and the check that acknowledged ones are in files.

use std::{
    mem,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::Arc,
    time::Duration,
};

use fastrand::Rng;
use http::StatusCode;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{Api, Client, api::ListParams};
use parking_lot::Mutex;
use tests::{
    availability::{Error, Observer},
    http_client::post_activity,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::segments::Segments;

/// The number of concurrent clients.
const CLIENTS: usize = 8;
/// How long an agent can take to acknowledge a record.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The pause of a client without an agent, or after a failed request.
const PAUSE: Duration = Duration::from_millis(50);
/// The interval of the discovery of agents, and of the check of files.
const INTERVAL: Duration = Duration::from_millis(200);

/// Sends records until it is stopped.
///
/// Guarantees:
/// - clients find agents by the EndpointSlices of the Service, as a proxy does, and each request is sent to a random
///   one. The last known ones are used while the API server does not respond;
/// - each request has another id, and none is repeated: an acknowledged record is in exactly one file, and another one
///   in at most one;
/// - an acknowledged record is in a file at once, which is checked throughout. Otherwise the observer gets a violation.
pub(crate) struct Load {
    shared: Arc<Shared>,
    stop: CancellationToken,
    clients: JoinSet<()>,
    checks: JoinSet<()>,
}

struct Shared {
    observer: Arc<Observer>,
    slices: Api<EndpointSlice>,
    selector: String,
    endpoints: Mutex<Vec<SocketAddr>>,
    segments: Mutex<Segments>,
    acknowledged: Mutex<Acknowledged>,
}

/// The acknowledged records.
#[derive(Default)]
struct Acknowledged {
    /// Those that are not checked yet.
    new: Vec<Record>,
    checked: Vec<Record>,
    failures: usize,
}

struct Record {
    id: String,
    agent: SocketAddr,
    at: Instant,
}

impl Load {
    /// Starts clients of a Service in the namespace `default`, whose agents write files below this directory.
    pub(crate) fn start(client: &Client, service: &str, root: &Path, observer: &Arc<Observer>, mut rng: Rng) -> Self {
        let shared = Arc::new(Shared {
            observer: Arc::clone(observer),
            slices: Api::namespaced(client.clone(), "default"),
            selector: format!("kubernetes.io/service-name={service}"),
            endpoints: Mutex::default(),
            segments: Mutex::new(Segments::new(root)),
            acknowledged: Mutex::default(),
        });
        let (stop, mut clients, mut checks) = (CancellationToken::new(), JoinSet::new(), JoinSet::new());
        checks.spawn(Arc::clone(&shared).discover());
        checks.spawn(Arc::clone(&shared).check_files());
        for number in 0..CLIENTS {
            clients.spawn(Arc::clone(&shared).send(number, rng.fork(), stop.clone()));
        }
        Load { shared, stop, clients, checks }
    }

    /// Completes the requests in progress, and checks all records. Returns a report.
    pub(crate) async fn stop(mut self) -> Result<String, Error> {
        self.stop.cancel();
        while let Some(ended) = self.clients.join_next().await {
            ended?;
        }
        self.checks.shutdown().await;
        self.shared.check();
        let segments = self.shared.segments.lock();
        for id in segments.repeated() {
            self.shared.observer.violate(format!("the record {id} is written several times"));
        }
        let acknowledged = self.shared.acknowledged.lock();
        for Record { id, agent, .. } in acknowledged.checked.iter().filter(|record| segments.count(&record.id) != 1) {
            let count = segments.count(id);
            self.shared.observer.violate(format!("the record {id}, acknowledged by {agent}, is written {count} times"));
        }
        let (count, failures) = (acknowledged.checked.len(), acknowledged.failures);
        if count == 0 {
            return Err(format!("no record was acknowledged, {failures} requests failed").into());
        }
        let (records, gap) = (segments.records(), acknowledged.longest_gap());
        Ok(format!(
            "{count} acknowledged records, {failures} failed requests, {records} records in files, longest time \
             without an acknowledgement: {:.1} s",
            gap.as_secs_f64()
        ))
    }
}

impl Acknowledged {
    fn longest_gap(&self) -> Duration {
        let mut times: Vec<_> = self.checked.iter().map(|record| record.at).collect();
        times.sort_unstable();
        times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }
}

impl Shared {
    /// Finds the agents periodically.
    async fn discover(self: Arc<Self>) {
        loop {
            if let Ok(slices) = self.slices.list(&ListParams::default().labels(&self.selector)).await {
                let endpoints = slices.items.iter().flat_map(ready_addresses).collect();
                // The segments of an agent are open before the first request is sent to it.
                self.refresh();
                *self.endpoints.lock() = endpoints;
            }
            sleep(INTERVAL).await;
        }
    }

    async fn check_files(self: Arc<Self>) {
        loop {
            self.check();
            sleep(INTERVAL).await;
        }
    }

    /// Checks that the records that have been acknowledged are in files.
    fn check(&self) {
        let new = mem::take(&mut self.acknowledged.lock().new);
        self.refresh();
        let segments = self.segments.lock();
        for Record { id, agent, .. } in new.iter().filter(|record| segments.count(&record.id) != 1) {
            self.observer.violate(format!("the record {id}, acknowledged by {agent}, is not in exactly one file"));
        }
        drop(segments);
        self.acknowledged.lock().checked.extend(new);
    }

    fn refresh(&self) {
        match self.segments.lock().refresh() {
            Ok(defects) => defects.into_iter().for_each(|defect| self.observer.violate(defect)),
            Err(error) => self.observer.violate(format!("a segment cannot be read: {error}")),
        }
    }

    /// Sends records one after the other.
    async fn send(self: Arc<Self>, number: usize, mut rng: Rng, stop: CancellationToken) {
        let mut count = 0;
        while !stop.is_cancelled() {
            let endpoint = rng.choice(self.endpoints.lock().iter().copied());
            let Some(agent) = endpoint else {
                sleep(PAUSE).await;
                continue;
            };
            let id = format!("{number}-{count}");
            count += 1;
            let body = format!("{{\"client\":{number},\"count\":{count}}}");
            match post_activity(agent, &id, body, TIMEOUT).await {
                Ok((StatusCode::OK, _)) => self.acknowledged.lock().new.push(Record { id, agent, at: Instant::now() }),
                _ => {
                    self.acknowledged.lock().failures += 1;
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

/// Returns the addresses of the ready endpoints of a slice.
fn ready_addresses(slice: &EndpointSlice) -> Vec<SocketAddr> {
    let port = slice.ports.iter().flatten().find_map(|port| u16::try_from(port.port?).ok());
    let endpoints = slice.endpoints.iter().flatten();
    let ready = endpoints
        .filter(|endpoint| endpoint.conditions.as_ref().is_some_and(|conditions| conditions.ready == Some(true)));
    let addresses = ready.flat_map(|endpoint| &endpoint.addresses).filter_map(|ip| ip.parse::<IpAddr>().ok());
    addresses.filter_map(|ip| Some(SocketAddr::new(ip, port?))).collect()
}
