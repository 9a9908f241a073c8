//! The replicas of a fleet, each behind a proxy of the API server, and their objects.

use std::{
    collections::BTreeSet,
    mem,
    net::SocketAddr,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use envtest::ControlPlane;
use fastrand::Rng;
use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{Api, Client, api::ListParams};
use kubewright_runtime::sharding::SlotSet;
use libtest_mimic::Failed;
use tempfile::TempDir;
use tests::{
    history::{Run, overlapping},
    journal::Event,
    load::{Load, Values, different},
    ownership::{Fault, Gap, gaps},
    process::{Exit, Signal, wait_until},
    proxy::Proxy,
    replica::{LEASE_DURATION, Options, RETRY_PERIOD, Replica, ShardingField},
};
use tokio::runtime::Runtime;

use super::latency::{Latency, Observer};

/// How long a reconciliation takes before it writes.
pub(super) const DURATION: Duration = Duration::from_millis(50);
/// The time between two changes.
const PERIOD: Duration = Duration::from_millis(20);
/// How late the replicas notice and record changes, without their requests.
const DELAY: Duration = Duration::from_millis(500);
/// How long a slot has no owner at most after a crash, without the requests.
pub(super) const TAKEOVER: Duration = LEASE_DURATION.saturating_add(RETRY_PERIOD).saturating_add(DELAY);
/// How long a slot has no owner at most when it is handed over, without the requests.
pub(super) const HAND_OVER: Duration = DURATION.saturating_add(RETRY_PERIOD).saturating_add(DELAY);

/// The replicas of a fleet, of which some are replaced.
pub(super) struct Fleet {
    pub(super) runtime: Runtime,
    pub(super) members: Vec<Member>,
    pub(super) ended: Vec<Run>,
    kubeconfig: PathBuf,
    server: SocketAddr,
    namespace: &'static str,
    maps: Api<ConfigMap>,
    leases: Api<Lease>,
    directory: TempDir,
    started: usize,
}

/// A replica, and the proxy to which it connects.
pub(super) struct Member {
    pub(super) replica: Replica,
    pub(super) proxy: Proxy,
}

impl Fleet {
    /// Creates the namespace of a fleet without replicas.
    pub(super) fn new(control_plane: &ControlPlane, namespace: &'static str) -> Result<Self, Failed> {
        let (runtime, kubeconfig) = (Runtime::new()?, control_plane.kubeconfig().to_owned());
        let (client, server) = runtime.block_on(async {
            let config = tests::config(&kubeconfig).await?;
            let server = config.cluster_url.authority().ok_or("a URL without a server")?.as_str().parse()?;
            let client = Client::try_from(config)?;
            tests::namespace(&client, namespace).await;
            Ok::<(_, SocketAddr), Failed>((client, server))
        })?;
        Ok(Fleet {
            runtime,
            members: Vec::new(),
            ended: Vec::new(),
            kubeconfig,
            server,
            namespace,
            maps: Api::namespaced(client.clone(), namespace),
            leases: Api::namespaced(client, namespace),
            directory: tempfile::tempdir()?,
            started: 0,
        })
    }

    /// Creates objects, and changes them.
    pub(super) fn load(&self, count: usize, rng: Rng) -> Result<Load, Failed> {
        Ok(self.runtime.block_on(Load::start(self.maps.clone(), count, PERIOD, rng))?)
    }

    /// Starts to observe the response times of the API server.
    pub(super) fn observe_latency(&self) -> Observer {
        let _runtime = self.runtime.enter();
        Observer::start(self.maps.clone())
    }

    /// Starts a replica.
    pub(super) fn start(&mut self, field: ShardingField) -> Result<Member, Failed> {
        self.started += 1;
        let proxy = self.runtime.block_on(Proxy::start(self.server))?;
        let identity = format!("replica-{}", self.started);
        let options = Options {
            server: Some(proxy.address()),
            sharding: Some(field),
            duration: DURATION,
            ..Options::new(&self.kubeconfig, self.namespace, &identity, self.directory.path())
        };
        let replica = Replica::start(Path::new(env!("CARGO_BIN_EXE_replica")), &options)?;
        Ok(Member { replica, proxy })
    }

    /// Adds replicas that share the keys by UID, and waits until they are ready.
    pub(super) fn add(&mut self, count: usize) -> Result<(), Failed> {
        let first = self.members.len();
        for _ in 0..count {
            let member = self.start(ShardingField::Uid)?;
            self.members.push(member);
        }
        for member in &mut self.members[first..] {
            member.replica.wait_for("/readyz", &self.runtime)?;
        }
        Ok(())
    }

    /// Starts another replica in place of one that ends. Waits for the end, and until the other one is ready.
    pub(super) fn replace(&mut self, index: usize) -> Result<Exit, Failed> {
        let member = self.start(ShardingField::Uid)?;
        let exit = self.end(index, Some(member))?;
        self.members[index].replica.wait_for("/readyz", &self.runtime)?;
        Ok(exit)
    }

    /// Terminates a replica, and waits for its end.
    pub(super) fn remove(&mut self, index: usize) -> Result<(), Failed> {
        self.members[index].replica.signal(Signal::TERM)?;
        let exit = self.end(index, None)?;
        assert_eq!(exit.code, Some(0), "{}", exit.errors);
        Ok(())
    }

    /// Waits for the end of a replica, which another one replaces.
    fn end(&mut self, index: usize, other: Option<Member>) -> Result<Exit, Failed> {
        let member = match other {
            Some(other) => mem::replace(&mut self.members[index], other),
            None => self.members.remove(index),
        };
        let (run, exit) = member.replica.end()?;
        self.ended.push(run);
        Ok(exit)
    }

    /// Returns the slots of each replica.
    pub(super) fn slots(&self) -> Vec<SlotSet> {
        self.members.iter().map(|member| member.replica.slots()).collect()
    }

    /// Waits until each slot has one owner, and the numbers of slots of the replicas differ by at most one.
    pub(super) fn wait_until_even(&mut self) -> Result<(), Failed> {
        let mut slots = Vec::new();
        let waited = wait_until("even numbers of slots", || {
            for Member { replica, .. } in &mut self.members {
                if !replica.is_running()? {
                    return Err(Failed::from(format!("{} ended: {}", replica.identity(), replica.log()?)));
                }
            }
            slots = self.slots();
            Ok(is_even(&slots))
        });
        waited.map_err(|error| format!("{}: {slots:?}", error.message().unwrap_or_default()).into())
    }

    /// Waits until the observed value of every object is the desired one.
    pub(super) fn wait_until_converged(&self, desired: &Values) -> Result<(), Failed> {
        let mut names = BTreeSet::new();
        let converged = wait_until("convergence", || {
            names = self.runtime.block_on(different(&self.maps, desired))?;
            Ok::<_, Failed>(names.is_empty())
        });
        let (count, first) = (names.len(), names.first());
        assert!(converged.is_ok(), "{count} of {} changes are not reconciled, such as {first:?}", desired.len());
        Ok(())
    }

    /// Terminates all replicas. Returns an error if a Lease has a holder afterwards.
    pub(super) fn stop(&mut self) -> Result<(), Failed> {
        for member in &self.members {
            member.replica.signal(Signal::TERM)?;
        }
        while !self.members.is_empty() {
            let exit = self.end(0, None)?;
            assert_eq!(exit.code, Some(0), "{}", exit.errors);
        }
        let leases = self.runtime.block_on(self.leases.list(&ListParams::default()))?;
        let holders: Vec<_> = leases.into_iter().filter_map(|lease| lease.spec?.holder_identity).collect();
        assert!(holders.iter().all(String::is_empty), "{holders:?} hold Leases");
        Ok(())
    }

    /// Returns the number of reconciliations of the replicas that ended.
    pub(super) fn reconciliations(&self) -> usize {
        let entries = self.ended.iter().flat_map(|run| &run.entries);
        entries.filter(|entry| matches!(entry.event, Event::Started(_))).count()
    }

    /// Prints the longest time for which a slot had no owner, and fails if one exceeds the limit, counted from the end
    /// of the last fault in it.
    pub(super) fn assert_owned(&self, within: &Range<Duration>, faults: &[Fault], limit: Duration, latency: &Latency) {
        let gaps = gaps(&self.ended, within);
        let length = |gap: &Gap| {
            let time = gap.after(faults).0;
            time.end - time.start
        };
        let requests = |gap: &Gap| latency.of_requests(&gap.after(faults).0);
        let describe = |gap: &Gap| {
            let fault = gap.after(faults).1.map_or("no fault", |fault| fault.name);
            let (after, total, requests) = (length(gap), gap.length(), requests(gap));
            format!("{after:.1?} after {fault}, {total:.1?} in total, {requests:.1?} allowed for requests")
        };
        let Some(longest) = gaps.iter().max_by_key(|gap| length(gap)) else { return };
        println!("longest time without an owner: {}", describe(longest));
        let long: Vec<_> = gaps.iter().filter(|gap| length(gap) > limit + requests(gap)).map(describe).collect();
        assert!(long.is_empty(), "{} slots had no owner for more than {limit:?}: {}", long.len(), long.join("; "));
    }

    /// Fails if two of the replicas that ended reconciled a key at a time.
    pub(super) fn assert_no_overlap(&self) {
        let overlaps = overlapping(&self.ended);
        assert!(overlaps.is_empty(), "{}", overlaps.join("\n"));
    }
}

fn is_even(slots: &[SlotSet]) -> bool {
    let counts = || slots.iter().map(|slots| slots.len());
    let all: BTreeSet<_> = slots.iter().flat_map(|slots| slots.iter()).collect();
    let difference = counts().max().unwrap_or_default() - counts().min().unwrap_or_default();
    all.len() == SlotSet::ALL.len() && counts().sum::<usize>() == all.len() && difference <= 1
}
