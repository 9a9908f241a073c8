//! Leader election: three electors on one Lease, with clean stops and a crash, and no two leaders at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::{Api, Client};
use kubewright_runtime::{
    CancellationToken,
    leader_election::{LeaderElectionConfig, LeaderElectionError, LeaderElector},
};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::namespace;

const TIMEOUT: Duration = Duration::from_secs(60);
const LEASE_DURATION: Duration = Duration::from_secs(5);
const RETRY_PERIOD: Duration = Duration::from_millis(200);
/// The retry period with its jitter.
const MAX_RETRY: Duration = Duration::from_millis(440);
/// How long requests to a busy server can take.
const LATENCY: Duration = Duration::from_secs(2);

/// The number of processes that work.
#[derive(Clone, Default)]
struct Workers(Arc<AtomicUsize>);

impl Workers {
    /// Counts a worker until the guard is dropped.
    fn start(&self) -> WorkerGuard {
        assert_eq!(self.0.fetch_add(1, Ordering::SeqCst), 0, "another leader works");
        WorkerGuard(self.clone())
    }
}

struct WorkerGuard(Workers);

impl Drop for WorkerGuard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Elector {
    stop: CancellationToken,
    /// Whether the work runs.
    working: watch::Receiver<bool>,
    task: JoinHandle<Result<(), LeaderElectionError>>,
}

impl Elector {
    fn start(client: &Client, namespace: &str, identity: &str, workers: &Workers) -> Self {
        let config = LeaderElectionConfig::new("election", identity)
            .namespace(namespace)
            .lease_duration(LEASE_DURATION)
            .renew_deadline(Duration::from_secs(4))
            .retry_period(RETRY_PERIOD);
        let elector = LeaderElector::new(client.clone(), config).unwrap();
        let (stop, (sender, working), workers) = (CancellationToken::new(), watch::channel(false), workers.clone());
        let task = tokio::spawn(elector.run(stop.clone(), move |leading| async move {
            let _worker = workers.start();
            sender.send_replace(true);
            leading.cancelled().await;
            // A clean end takes a while.
            sleep(Duration::from_millis(300)).await;
            sender.send_replace(false);
        }));
        Elector { stop, working, task }
    }

    async fn stop(self) {
        self.stop.cancel();
        timeout(TIMEOUT, self.task).await.expect("the elector stops").unwrap().unwrap();
    }
}

/// Waits until one of the electors works, and removes it.
async fn next_leader(electors: &mut Vec<Elector>) -> Elector {
    let started = Instant::now();
    loop {
        if let Some(leader) = electors.iter().position(|elector| *elector.working.borrow()) {
            return electors.remove(leader);
        }
        assert!(started.elapsed() < TIMEOUT, "an elector acquires the lease");
        sleep(Duration::from_millis(10)).await;
    }
}

async fn spec(client: &Client, namespace: &str) -> LeaseSpec {
    let api = Api::<Lease>::namespaced(client.clone(), namespace);
    api.get("election").await.unwrap().spec.unwrap()
}

pub(super) async fn three_electors_lead_one_after_another(client: Client) {
    let namespace = namespace(&client, "election").await;
    let workers = Workers::default();
    let start = |identity: &str| Elector::start(&client, &namespace, identity, &workers);
    let mut electors: Vec<_> = ["a", "b", "c"].map(start).into();

    let first = next_leader(&mut electors).await;
    let LeaseSpec { acquire_time, lease_duration_seconds, lease_transitions, .. } = spec(&client, &namespace).await;
    assert_eq!((lease_duration_seconds, lease_transitions), (Some(5), Some(0)));
    sleep(LEASE_DURATION + RETRY_PERIOD).await;
    let renewed = spec(&client, &namespace).await;
    assert_eq!(renewed.acquire_time, acquire_time, "the leader is still the same");
    assert!(renewed.renew_time > acquire_time);

    // A clean stop releases the lease.
    first.stop().await;
    let released = Instant::now();
    let second = next_leader(&mut electors).await;
    assert!(released.elapsed() < MAX_RETRY + LATENCY, "{:?}", released.elapsed());

    // A crash does not.
    second.task.abort();
    let crashed = Instant::now();
    let third = next_leader(&mut electors).await;
    let waited = crashed.elapsed();
    assert!(waited > LEASE_DURATION - RETRY_PERIOD - LATENCY && waited < LEASE_DURATION + MAX_RETRY + LATENCY * 2);
    assert_eq!(spec(&client, &namespace).await.lease_transitions, Some(2));
    third.stop().await;
    let spec = spec(&client, &namespace).await;
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_duration_seconds), (Some(""), Some(1)));
}
