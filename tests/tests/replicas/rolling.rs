//! A rolling update under load: replicas are terminated, killed and paused at random while objects change.

use std::{
    mem,
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

use envtest::ControlPlane;
use fastrand::Rng;
use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{Api, Client, ResourceExt, api::ListParams};
use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;
use tests::{
    history::{self, Run},
    process::{Exit, Signal, wait_until},
    replica::{CONCURRENCY, DESIRED, Figures, LEASE, OBSERVED, Options, Replica},
};
use tokio::runtime::Runtime;

use super::{
    Suite,
    load::{Load, Values},
    observer::Observer,
    replica::start_replica,
};

const NAMESPACE: &str = "rolling";
const REPLICAS: usize = 3;
/// The number of objects and the time by default, and the number of objects if `ROLLING` is set.
const OBJECTS: usize = 300;
const TIME: Duration = Duration::from_secs(30);
const MANY_OBJECTS: usize = 5000;
/// Longer than the lease duration: a follower misses that the leader changes.
const FOLLOWER_PAUSE: Duration = Duration::from_secs(6);
/// By how many the sockets of a replica can exceed those before the load: the connections of concurrent requests remain
/// open for a while, and requests of the test are in progress.
const MORE_SOCKETS: usize = CONCURRENCY + 4;
/// By how many the tasks can: each connection has one, and so has each request in progress.
const MORE_TASKS: usize = 2 * CONCURRENCY + 4;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![suite.test("rolling::leaders_exclude_each_other_and_objects_converge", run)]
}

fn run(control_plane: &ControlPlane) -> Result<(), Failed> {
    let seed = std::env::var("ROLLING_SEED").map_or_else(|_| Ok(fastrand::u64(..)), |seed| seed.parse())?;
    println!("reproduce the signals with ROLLING_SEED={seed}");
    let (time, objects) = match tests::duration_of_env("ROLLING") {
        Some(time) => (time, MANY_OBJECTS),
        None => (TIME, OBJECTS),
    };
    let mut rolling = Rolling::start(control_plane, Rng::with_seed(seed))?;
    let observer = Observer::start(&rolling.runtime, rolling.maps.clone())?;
    let idle = rolling.idle_figures()?;
    let load = Load::start(&rolling.runtime, rolling.maps.clone(), objects, rolling.rng.fork())?;
    rolling.disrupt(time)?;
    let desired = load.stop(&rolling.runtime)?;
    rolling.assert_converged(&desired)?;
    rolling.assert_no_leak(idle)?;
    rolling.stop()?;
    let writers = observer.end(&rolling.runtime)?;
    println!("{} replicas, {} writes, signals: {}", rolling.ended.len(), writers.len(), rolling.signals.join(" "));
    assert!(writers.len() >= objects, "every object is written");
    let violations = history::violations(&rolling.ended, &writers);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    Ok(())
}

/// The replicas of an operator, of which some are replaced.
struct Rolling<'a> {
    control_plane: &'a ControlPlane,
    runtime: Runtime,
    maps: Api<ConfigMap>,
    leases: Api<Lease>,
    directory: TempDir,
    rng: Rng,
    replicas: Vec<Replica>,
    ended: Vec<Run>,
    started: usize,
    /// What was sent, to describe the run.
    signals: Vec<&'static str>,
}

impl<'a> Rolling<'a> {
    /// Starts all replicas, and waits until they are ready and there is a leader.
    fn start(control_plane: &'a ControlPlane, rng: Rng) -> Result<Self, Failed> {
        let runtime = Runtime::new()?;
        let client = runtime.block_on(async {
            let client = Client::try_from(tests::config(control_plane.kubeconfig()).await?)?;
            tests::namespace(&client, NAMESPACE).await;
            Ok::<_, Failed>(client)
        })?;
        let mut rolling = Rolling {
            control_plane,
            runtime,
            maps: Api::namespaced(client.clone(), NAMESPACE),
            leases: Api::namespaced(client, NAMESPACE),
            directory: tempfile::tempdir()?,
            rng,
            replicas: Vec::new(),
            ended: Vec::new(),
            started: 0,
            signals: Vec::new(),
        };
        for _ in 0..REPLICAS {
            let replica = rolling.start_replica()?;
            rolling.replicas.push(replica);
        }
        for replica in &mut rolling.replicas {
            replica.wait_for("/readyz", &rolling.runtime)?;
        }
        rolling.leader()?;
        Ok(rolling)
    }

    fn start_replica(&mut self) -> Result<Replica, Failed> {
        self.started += 1;
        let identity = format!("replica-{}", self.started);
        let kubeconfig = self.control_plane.kubeconfig();
        start_replica(&Options::new(kubeconfig, NAMESPACE, &identity, self.directory.path()))
    }

    /// Returns the largest figures of a replica without load. The leader has more than the others.
    fn idle_figures(&self) -> Result<Figures, Failed> {
        let mut idle = Figures { sockets: 0, tasks: 0 };
        for replica in &self.replicas {
            let Figures { sockets, tasks } = replica.figures(&self.runtime)?;
            idle = Figures { sockets: idle.sockets.max(sockets), tasks: idle.tasks.max(tasks) };
        }
        Ok(idle)
    }

    /// Sends each signal to a leader once, and then random ones to random replicas for this time.
    fn disrupt(&mut self, time: Duration) -> Result<(), Failed> {
        let end = Instant::now() + time;
        for disruption in [Self::pause_long, Self::kill, Self::terminate, Self::pause_shortly] {
            self.replace_lost()?;
            let leader = self.reconciling_leader()?;
            disruption(self, leader)?;
        }
        while Instant::now() < end {
            sleep(Duration::from_millis(self.rng.u64(100..3000)));
            self.replace_lost()?;
            let replica = self.rng.usize(..REPLICAS);
            match self.rng.u8(..4) {
                0 => self.pause_long(replica)?,
                1 => self.kill(replica)?,
                2 => self.terminate(replica)?,
                _ => self.pause_shortly(replica)?,
            }
        }
        Ok(())
    }

    /// Pauses a replica until another one has taken over, if it is the leader. It then ends by itself.
    fn pause_long(&mut self, index: usize) -> Result<(), Failed> {
        self.signals.push("STOP..CONT");
        self.replicas[index].pause()?;
        let is_leader = self.holder()? == self.replicas[index].identity();
        if !is_leader {
            sleep(FOLLOWER_PAUSE);
            return Ok(self.replicas[index].resume()?);
        }
        wait_until("another leader", || {
            let holder = self.holder()?;
            let other = self.replicas.iter().enumerate().find(|(_, replica)| replica.identity() == holder);
            Ok::<_, Failed>(other.is_some_and(|(other, replica)| other != index && replica.has_reconciled()))
        })?;
        self.replicas[index].resume()?;
        let exit = self.replace(index)?;
        assert_lost(&exit);
        Ok(())
    }

    /// Pauses a replica for less than the renew deadline.
    fn pause_shortly(&mut self, index: usize) -> Result<(), Failed> {
        self.signals.push("STOP,CONT");
        self.replicas[index].pause()?;
        sleep(Duration::from_millis(self.rng.u64(50..1000)));
        Ok(self.replicas[index].resume()?)
    }

    fn kill(&mut self, index: usize) -> Result<(), Failed> {
        self.signals.push("KILL");
        self.replicas[index].signal(Signal::KILL)?;
        let exit = self.replace(index)?;
        assert_eq!(exit.code, None, "{}", exit.errors);
        Ok(())
    }

    fn terminate(&mut self, index: usize) -> Result<(), Failed> {
        self.signals.push("TERM");
        self.replicas[index].signal(Signal::TERM)?;
        let exit = self.replace(index)?;
        assert_eq!(exit.code, Some(0), "{}", exit.errors);
        Ok(())
    }

    /// Replaces replicas that have lost the lease, because they were paused or the host is busy.
    fn replace_lost(&mut self) -> Result<(), Failed> {
        for index in 0..REPLICAS {
            if !self.replicas[index].is_running()? {
                let exit = self.replace(index)?;
                assert_lost(&exit);
            }
        }
        Ok(())
    }

    /// Starts another replica in place of one that ends. Waits for the end, and until the other one is ready.
    fn replace(&mut self, index: usize) -> Result<Exit, Failed> {
        let replica = self.start_replica()?;
        let (run, exit) = mem::replace(&mut self.replicas[index], replica).end()?;
        self.ended.push(run);
        self.replicas[index].wait_for("/readyz", &self.runtime)?;
        Ok(exit)
    }

    /// Waits until a running replica holds the lease, and returns its index.
    fn leader(&self) -> Result<usize, Failed> {
        let mut leader = None;
        wait_until("a leader", || {
            let holder = self.holder()?;
            leader = self.replicas.iter().position(|replica| replica.identity() == holder);
            Ok::<_, Failed>(leader.is_some())
        })?;
        Ok(leader.ok_or("no leader")?)
    }

    /// Waits until the leader reconciles, and returns its index.
    fn reconciling_leader(&self) -> Result<usize, Failed> {
        let mut leader = self.leader()?;
        wait_until("a reconciliation", || {
            leader = self.leader()?;
            Ok::<_, Failed>(self.replicas[leader].has_reconciled())
        })?;
        Ok(leader)
    }

    /// Returns the identity of the holder of the lease; the empty string if it is released.
    fn holder(&self) -> Result<String, Failed> {
        let lease = self.runtime.block_on(self.leases.get_opt(LEASE))?;
        Ok(lease.and_then(|lease| lease.spec?.holder_identity).unwrap_or_default())
    }

    /// Waits until the observed value of every object is the desired one.
    fn assert_converged(&mut self, desired: &Values) -> Result<(), Failed> {
        let mut different = Vec::new();
        let converged = wait_until("convergence", || {
            let maps = self.runtime.block_on(self.maps.list(&ListParams::default()))?;
            assert_eq!(maps.items.len(), desired.len());
            let is_converged = |map: &ConfigMap| {
                let value = |name: &str| map.data.as_ref()?.get(name);
                let expected = desired.get(&map.name_any());
                expected.is_some() && value(DESIRED) == expected && value(OBSERVED) == expected
            };
            different = maps.items.into_iter().filter(|map| !is_converged(map)).collect();
            // An idle host can have lost the lease as well.
            self.replace_lost()?;
            Ok::<_, Failed>(different.is_empty())
        });
        let (count, first) = (different.len(), different.first());
        assert!(converged.is_ok(), "{count} objects have not converged, such as {first:?}: {converged:?}");
        Ok(())
    }

    /// Waits until every replica uses as many resources as before the load, up to the bounds.
    fn assert_no_leak(&self, idle: Figures) -> Result<(), Failed> {
        for replica in &self.replicas {
            let mut last = idle;
            let freed = wait_until("unused resources", || {
                last = replica.figures(&self.runtime)?;
                Ok::<_, Failed>(last.sockets <= idle.sockets + MORE_SOCKETS && last.tasks <= idle.tasks + MORE_TASKS)
            });
            assert!(freed.is_ok(), "{} leaks: {last:?}, before the load {idle:?}: {freed:?}", replica.identity());
        }
        Ok(())
    }

    /// Terminates all replicas.
    fn stop(&mut self) -> Result<(), Failed> {
        self.replace_lost()?;
        for replica in &self.replicas {
            replica.signal(Signal::TERM)?;
        }
        for replica in mem::take(&mut self.replicas) {
            let (run, exit) = replica.end()?;
            assert_eq!(exit.code, Some(0), "{}", exit.errors);
            self.ended.push(run);
        }
        assert_eq!(self.holder()?, "", "the lease is released");
        Ok(())
    }
}

/// A replica that lost its lease ended with an error.
fn assert_lost(exit: &Exit) {
    assert_eq!(exit.code, Some(1), "{}", exit.errors);
    let lost = format!("error: leader election lost: lease `{NAMESPACE}/{LEASE}` ");
    assert!(exit.errors.contains(&lost), "{}", exit.errors);
}
