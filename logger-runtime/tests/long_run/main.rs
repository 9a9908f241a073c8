//! Hours of churn and faults, on the embedded server and a paused clock: at the end of each round every store and what every
//! handler knows equal the server, memory is flat, and at the very end no task is left.
//!
//! It runs a few rounds; with `LONG_RUN=10m` (or `s`, `h`) as many as fit into that much real time. What happens is decided by a
//! seed, which is printed, and taken from `LONG_RUN_SEED` if set.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod churn;
mod follower;
mod trouble;
mod view;

use std::time::Duration;

use fastrand::Rng;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{Api, Client, api::PostParams};
use logger_apiserver::{ApiServer, Faults, Requests, Verb};
use logger_runtime::reflector::{Config, InitialSync};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

use crate::follower::Follower;

const NAMESPACES: [&str; 3] = ["a", "b", "c"];

/// How many changes the server remembers: few, so that versions are too old after bursts and outages.
const HISTORY: u32 = 150;

/// How long a round's churn and faults last, on the paused clock.
const ROUND: Duration = Duration::from_secs(15 * 60);

/// How many rounds there are unless told.
const ROUNDS: usize = 6;

/// After so many rounds memory is as large as it gets.
const WARM: usize = 3;

#[tokio::test(start_paused = true)]
async fn after_hours_of_churn_and_faults_stores_and_handlers_equal_the_server() {
    let seed = std::env::var("LONG_RUN_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("to run it again: LONG_RUN_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let before = settled().await;
    let start = Instant::now();
    let rounds = run(&mut rng).await;
    println!("{rounds} rounds, {} h", start.elapsed().as_secs() / 3600);
    assert_eq!(settled().await, before, "tasks are left");
}

async fn run(rng: &mut Rng) -> usize {
    let (server, faults) = (ApiServer::builder().history(HISTORY as usize).build(), Faults::remembering(1000));
    let direct = server.client();
    make_namespaces(&direct).await;
    let client = || server.client_with(faults.layer());
    let maps = Api::<ConfigMap>::all(direct.clone());
    let (maps_of_a, secrets) = (Api::<ConfigMap>::namespaced(direct.clone(), "a"), Api::<Secret>::all(direct.clone()));
    let mut all = Follower::start(Api::all(client()), maps, rng.fork());
    let streamed = |config: Config<ConfigMap>| config.initial_sync(InitialSync::WatchList);
    let mut of_a = Follower::start_with(Api::namespaced(client(), "a"), maps_of_a, rng.fork(), streamed);
    let mut other = Follower::start(Api::all(client()), secrets, rng.fork());

    let mut budget = Budget::new();
    let mut memory = Vec::new();
    while budget.has_more() {
        let churn = churn::go_on(direct.clone(), rng.fork(), ROUND);
        let trouble = trouble::go_on(faults.clone(), rng.fork(), ROUND);
        tokio::join!(
            churn,
            trouble,
            all.change_handlers(ROUND),
            of_a.change_handlers(ROUND),
            other.change_handlers(ROUND)
        );
        all.equals_the_server().await;
        of_a.equals_the_server().await;
        other.equals_the_server().await;
        assert_eq!(faults.open(Verb::Watch) + faults.waiting(Requests::all()), 3, "one request for each informer");
        memory.push(resident());
    }
    println!("memory after each round: {memory:?} KiB");
    let (warm, last) = (memory[WARM - 1], *memory.last().unwrap());
    assert!(last < warm + warm / 4, "memory grows: {memory:?} KiB");
    tokio::join!(all.stop(), of_a.stop(), other.stop());
    assert_eq!(faults.open(Requests::all()) + faults.waiting(Requests::all()), 0, "requests are left");
    budget.rounds
}

/// How many rounds there are to be.
struct Budget {
    rounds: usize,
    end: Option<std::time::Instant>,
}

impl Budget {
    fn new() -> Self {
        let end = std::env::var("LONG_RUN").ok().map(|time| std::time::Instant::now() + parse(&time));
        Self { rounds: 0, end }
    }

    fn has_more(&mut self) -> bool {
        let has_more = self.rounds < ROUNDS || self.end.is_some_and(|end| std::time::Instant::now() < end);
        self.rounds += usize::from(has_more);
        has_more
    }
}

fn parse(time: &str) -> Duration {
    let unit = |unit, seconds| Some(Duration::from_secs(time.strip_suffix(unit)?.parse::<u64>().ok()? * seconds));
    let time = unit('s', 1).or_else(|| unit('m', 60)).or_else(|| unit('h', 3600));
    time.expect("LONG_RUN is a number of `s`, `m` or `h`")
}

async fn make_namespaces(client: &Client) {
    for name in NAMESPACES {
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(name.into());
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    }
}

/// KiB of memory that this process has, as Linux counts it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
}

/// How many tasks there are once those that can end have ended.
async fn settled() -> usize {
    drop(timeout(Duration::from_secs(3600), std::future::pending::<()>()).await);
    Handle::current().metrics().num_alive_tasks()
}
