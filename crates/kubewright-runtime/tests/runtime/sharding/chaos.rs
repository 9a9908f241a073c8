//! Chaos: five replicas that are killed, stopped, cut off and slowed down at random while objects change.

use std::time::Duration;

use fastrand::Rng;
use kubewright_apiserver::{ApiServer, Fault, Requests};
use tokio::time::sleep;

use super::fixture::{Maps, Options, Record, Replica, SECOND, wait_until, wait_until_even};

const REPLICAS: usize = 5;
const OBJECTS: usize = 60;
/// The number of faults of one run.
const FAULTS: usize = 25;

/// The replicas, of which some are replaced.
struct Fleet {
    server: ApiServer,
    record: Record,
    options: Options,
    replicas: Vec<Replica>,
    started: usize,
    random: Rng,
}

impl Fleet {
    fn start(&mut self) {
        let identity = format!("replica-{}", self.started);
        self.started += 1;
        self.replicas.push(Replica::start_with(&self.server, &identity, &self.record, &self.options));
    }

    /// Lets a fault occur in a random replica.
    async fn disrupt(&mut self) {
        let index = self.random.usize(..REPLICAS);
        let faults = self.replicas[index].faults.clone();
        match self.random.u8(..5) {
            0 => {
                self.replicas.remove(index).kill();
                self.start();
            }
            1 => {
                let replica = self.replicas.remove(index);
                self.start();
                replica.stop().await;
            }
            2 => drop(faults.always(Requests::all(), Fault::hang())),
            3 => {
                let delay = Duration::from_millis(self.random.u64(..3000));
                faults.always(Requests::to("leases"), Fault::late(delay));
            }
            _ => {
                // Others of its requests are lost.
                faults.always(Requests::to("leases"), Fault::lost_answer());
            }
        }
        sleep(self.up_to(25 * SECOND)).await;
        faults.heal();
        faults.cut(Requests::all());
    }

    fn up_to(&mut self, limit: Duration) -> Duration {
        limit.mul_f64(self.random.f64())
    }
}

#[tokio::test(start_paused = true)]
async fn no_key_is_reconciled_by_two_replicas_at_a_time_and_each_change_is_reconciled() {
    for seed in 0..3 {
        run(seed).await;
    }
}

async fn run(seed: u64) {
    let (server, record) = (ApiServer::new(), Record::default());
    let maps = Maps::create(server.client(), OBJECTS).await;
    let options = Options { duration: Duration::from_millis(700), ..Options::default() };
    let (random, replicas) = (Rng::with_seed(seed), Vec::new());
    let mut fleet = Fleet { server, record: record.clone(), options, replicas, started: 0, random };
    (0..REPLICAS).for_each(|_| fleet.start());
    wait_until_even(&fleet.replicas).await;
    for fault in 1..=FAULTS {
        maps.set_all(&fault.to_string()).await;
        fleet.disrupt().await;
        assert!(record.overlaps().is_empty(), "seed {seed}: {:?}", record.overlaps());
    }
    wait_until_even(&fleet.replicas).await;
    maps.set_all("last").await;
    wait_until("changes are reconciled", || maps.are_reconciled(&record, "last")).await;
    assert!(record.overlaps().is_empty(), "seed {seed}: {:?}", record.overlaps());
    for replica in fleet.replicas {
        replica.stop().await;
    }
}
