//! The response times of the API server, which are long on a busy machine: the limits of hand-overs contain them.

use std::{ops::Range, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kubewright_runtime::CancellationToken;
use tests::journal;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

/// The time between two requests.
const PERIOD: Duration = Duration::from_millis(50);
/// The limit of a request. One that takes longer counts as one that takes so long.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The number of requests, one after another, with which replicas take over slots or hand them over: a list of the
/// Leases, a write of one, another list, a list of the objects, and the write of the slots, which can conflict once.
const REQUESTS: u32 = 6;

/// Sends requests until it is ended.
pub(super) struct Observer {
    stop: CancellationToken,
    tasks: JoinSet<Latency>,
}

/// When each request was sent and when its response was received.
pub(super) struct Latency(Vec<Range<Duration>>);

impl Observer {
    /// Starts to send requests. Must be called in a runtime.
    pub(super) fn start(maps: Api<ConfigMap>) -> Self {
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tasks.spawn(observe(maps, stop.clone()));
        Observer { stop, tasks }
    }

    /// Returns the response times.
    pub(super) async fn end(mut self) -> Latency {
        self.stop.cancel();
        self.tasks.join_next().await.and_then(Result::ok).expect("the task runs once and does not panic")
    }
}

async fn observe(maps: Api<ConfigMap>, stop: CancellationToken) -> Latency {
    let mut requests = Vec::new();
    while !stop.is_cancelled() {
        let sent = journal::now();
        // It fails while the API server restarts.
        if !matches!(timeout(TIMEOUT, maps.get_opt("probe")).await, Ok(Err(_))) {
            requests.push(sent..journal::now());
        }
        sleep(PERIOD).await;
    }
    Latency(requests)
}

impl Latency {
    /// Returns how long replicas take at most for their requests in this time.
    pub(super) fn of_requests(&self, time: &Range<Duration>) -> Duration {
        let requests = self.0.iter().filter(|request| time.contains(&request.start));
        requests.map(|request| request.end - request.start).max().unwrap_or_default() * REQUESTS
    }
}
