//! Hours of churn and faults, on the embedded server and a paused clock. After each round every store and the state of
//! every handler equal the server's objects; memory stays flat after a warm-up; at the end no task is left.
//!
//! By default it runs a few rounds; with `LONG_RUN=10m` (or `s`, `h`) as many as fit into that much real time. A seed
//! determines the operations and the faults. It is printed, and taken from `LONG_RUN_SEED` if that is set.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

mod churn;
mod faults;
mod replica;
mod test_informer;

use std::time::Duration;

use fastrand::Rng;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{Api, Client, api::PostParams};
use kubewright_apiserver::{ApiServer, Faults, Requests, Verb};
use kubewright_runtime::reflector::{Config, InitialListStrategy};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep, timeout},
};

use crate::test_informer::TestInformer;

const NAMESPACES: [&str; 3] = ["a", "b", "c"];

/// The length of the server's watch history: short, so that versions expire during bursts and outages.
const HISTORY: u32 = 150;

/// The duration of a round's churn and faults on the paused clock.
const ROUND: Duration = Duration::from_secs(15 * 60);

/// The default number of rounds.
const ROUNDS: usize = 6;

/// More than the longest delay between a fault and the next request of an informer: 30 s, doubled by the jitter.
const LONGEST_DELAY: Duration = Duration::from_secs(90);

/// The number of rounds after which memory must not grow.
const WARM_UP: usize = 3;

#[tokio::test(start_paused = true)]
async fn stores_and_handlers_equal_the_server_after_hours_of_churn_and_faults() {
    let seed = std::env::var("LONG_RUN_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("reproduce with LONG_RUN_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let before = alive_tasks_when_idle().await;
    let start = Instant::now();
    let rounds = run(&mut rng).await;
    println!("{rounds} rounds, {} h", start.elapsed().as_secs() / 3600);
    assert_eq!(alive_tasks_when_idle().await, before, "tasks are left");
}

async fn run(rng: &mut Rng) -> usize {
    let (server, faults) = (ApiServer::builder().history(HISTORY as usize).build(), Faults::remembering(1000));
    let direct = server.client();
    create_namespaces(&direct).await;
    let client = || server.client_with(faults.layer());
    let maps = Api::<ConfigMap>::all(direct.clone());
    let (maps_of_a, secrets) = (Api::<ConfigMap>::namespaced(direct.clone(), "a"), Api::<Secret>::all(direct.clone()));
    let mut all = TestInformer::start(Api::all(client()), maps, rng.fork());
    let watch_list = |config: Config<ConfigMap>| config.initial_list_strategy(InitialListStrategy::WatchList);
    let mut of_a = TestInformer::start_with(Api::namespaced(client(), "a"), maps_of_a, rng.fork(), watch_list);
    let mut other = TestInformer::start(Api::all(client()), secrets, rng.fork());

    let mut budget = Budget::new();
    let mut memory = Vec::new();
    while budget.has_more() {
        let churn = churn::run(direct.clone(), rng.fork(), ROUND);
        let injection = faults::inject(faults.clone(), rng.fork(), ROUND);
        tokio::join!(
            churn,
            injection,
            all.change_handlers(ROUND),
            of_a.change_handlers(ROUND),
            other.change_handlers(ROUND)
        );
        all.assert_equals_server().await;
        of_a.assert_equals_server().await;
        other.assert_equals_server().await;
        wait_for_requests(&faults, 3).await;
        memory.push(resident_memory());
    }
    println!("memory after each round: {memory:?} KiB");
    let (warm, last) = (memory[WARM_UP - 1], *memory.last().unwrap());
    assert!(last < warm + warm / 4, "memory grows: {memory:?} KiB");
    tokio::join!(all.stop(), of_a.stop(), other.stop());
    assert_eq!(faults.open(Requests::all()) + faults.waiting(Requests::all()), 0, "requests are left");
    budget.rounds
}

/// Waits until there is one request for each informer: after a fault, an informer makes its next request after a delay.
async fn wait_for_requests(faults: &Faults, informers: usize) {
    let deadline = Instant::now() + LONGEST_DELAY;
    loop {
        let requests = faults.open(Verb::Watch) + faults.waiting(Requests::all());
        assert!(requests <= informers, "{requests} requests of {informers} informers");
        if requests == informers {
            break;
        }
        assert!(Instant::now() < deadline, "{requests} requests of {informers} informers after {LONGEST_DELAY:?}");
        sleep(Duration::from_millis(100)).await;
    }
}

/// The number of rounds to run.
struct Budget {
    rounds: usize,
    end: Option<std::time::Instant>,
}

impl Budget {
    fn new() -> Self {
        let end = std::env::var("LONG_RUN").ok().map(|time| std::time::Instant::now() + parse_duration(&time));
        Self { rounds: 0, end }
    }

    fn has_more(&mut self) -> bool {
        let has_more = self.rounds < ROUNDS || self.end.is_some_and(|end| std::time::Instant::now() < end);
        self.rounds += usize::from(has_more);
        has_more
    }
}

fn parse_duration(text: &str) -> Duration {
    let unit = |unit, seconds| Some(Duration::from_secs(text.strip_suffix(unit)?.parse::<u64>().ok()? * seconds));
    let duration = unit('s', 1).or_else(|| unit('m', 60)).or_else(|| unit('h', 3600));
    duration.expect("LONG_RUN is a number of `s`, `m` or `h`")
}

async fn create_namespaces(client: &Client) {
    for name in NAMESPACES {
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(name.into());
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    }
}

/// Returns the resident memory of this process in KiB, as Linux reports it.
fn resident_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
}

/// Returns the number of live tasks after an idle hour.
async fn alive_tasks_when_idle() -> usize {
    drop(timeout(Duration::from_secs(3600), std::future::pending::<()>()).await);
    Handle::current().metrics().num_alive_tasks()
}
