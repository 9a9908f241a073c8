//! The fixture of the tests: replicas of one controller on one server, and a record of its reconciliations.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::{ApiServer, Faults};
use kubewright_runtime::{
    CancellationToken, Controller, InformerFactory, LeaderElectionConfig, Lister, ObjectKey, ReconcileError, Sharding,
    sharding::{ShardingError, SlotSet},
};
use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// How long a test waits for a condition. Exceeds every wait of a replica.
const TIMEOUT: Duration = Duration::from_secs(300);
/// How often a test checks a condition.
const POLL: Duration = Duration::from_millis(20);
/// The name of the fleet.
pub(crate) const FLEET: &str = "maps";

/// What the reconcilers of all replicas did.
#[derive(Clone, Default)]
pub(crate) struct Record(Arc<Mutex<Reconciled>>);

#[derive(Default)]
struct Reconciled {
    /// The replica that reconciles a key now.
    running: BTreeMap<ObjectKey, String>,
    /// The last version of each key that was reconciled, and by which replica.
    last: BTreeMap<ObjectKey, (String, Option<String>)>,
    overlaps: Vec<String>,
}

/// A running reconciliation, which can be dropped.
struct Reconciliation {
    record: Record,
    key: ObjectKey,
}

impl Record {
    fn start(&self, replica: &str, key: &ObjectKey) -> Reconciliation {
        let mut reconciled = self.0.lock().unwrap();
        if let Some(other) = reconciled.running.insert(key.clone(), replica.to_owned()) {
            reconciled.overlaps.push(format!("{other} and {replica} reconcile {key} at {:?}", Instant::now()));
        }
        drop(reconciled);
        Reconciliation { record: self.clone(), key: key.clone() }
    }

    fn completed(&self, replica: &str, key: &ObjectKey, text: Option<String>) {
        self.0.lock().unwrap().last.insert(key.clone(), (replica.to_owned(), text));
    }

    /// Returns the reconciliations of a key that ran at the same time.
    pub(crate) fn overlaps(&self) -> Vec<String> {
        self.0.lock().unwrap().overlaps.clone()
    }

    /// Returns the last reconciled data of a key; `None` if it was not reconciled, or does not exist.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap().last.get(&key(name))?.1.clone()
    }

    /// Returns the replica that last reconciled a key.
    pub(crate) fn replica(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap().last.get(&key(name)).map(|(replica, _)| replica.clone())
    }

    /// Returns the replicas that last reconciled a key, and the number of their keys.
    pub(crate) fn replicas(&self) -> BTreeMap<String, usize> {
        let mut replicas = BTreeMap::new();
        for (replica, _) in self.0.lock().unwrap().last.values() {
            *replicas.entry(replica.clone()).or_default() += 1;
        }
        replicas
    }

    /// Returns whether a key is being reconciled.
    pub(crate) fn is_running(&self, name: &str) -> bool {
        self.0.lock().unwrap().running.contains_key(&key(name))
    }

    /// Forgets the completed reconciliations.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().last.clear();
    }
}

impl Drop for Reconciliation {
    fn drop(&mut self) {
        self.record.0.lock().unwrap().running.remove(&self.key);
    }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("default", name)
}

/// How the replicas of a test work.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) sharding: fn(LeaderElectionConfig) -> Sharding,
    /// How long a reconciliation takes.
    pub(crate) duration: Duration,
    /// Whether the informer contains only the objects of the replica.
    pub(crate) is_cache_sharded: bool,
    pub(crate) controller: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            sharding: Sharding::by_uid,
            duration: Duration::from_millis(10),
            is_cache_sharded: true,
            controller: "config-maps",
        }
    }
}

/// A replica whose tasks run.
pub(crate) struct Replica {
    pub(crate) identity: String,
    pub(crate) sharding: Sharding,
    pub(crate) faults: Faults,
    pub(crate) lister: Lister<ConfigMap>,
    leaving: CancellationToken,
    stop: CancellationToken,
    runner: JoinHandle<Result<(), ShardingError>>,
    controller: JoinHandle<()>,
}

pub(crate) fn config(identity: &str) -> LeaderElectionConfig {
    LeaderElectionConfig::new(FLEET, identity)
}

impl Replica {
    pub(crate) fn start(server: &ApiServer, identity: &str, record: &Record) -> Self {
        Self::start_with(server, identity, record, &Options::default())
    }

    pub(crate) fn start_with(server: &ApiServer, identity: &str, record: &Record, options: &Options) -> Self {
        let (faults, sharding) = (Faults::new(), (options.sharding)(config(identity)));
        let client = server.client_with(faults.layer());
        let (shared, is_cache_sharded) = (sharding.clone(), options.is_cache_sharded);
        let factory = InformerFactory::builder(client.clone())
            .defaults(move |config| {
                config.reflector(|reflector| if is_cache_sharded { reflector.sharding(&shared) } else { reflector })
            })
            .build();
        let informer = factory.informer::<ConfigMap>();
        let lister = informer.lister();
        let reconciler = reconciler(identity, record, lister.clone(), options.duration);
        let controller = Controller::new(options.controller, &informer)
            .sharding(&sharding)
            .max_concurrent_reconciles(64)
            .start_factory(&factory)
            .build(reconciler);
        let (leaving, stop) = (CancellationToken::new(), CancellationToken::new());
        let runner = tokio::spawn(sharding.runner(client).unwrap().run(leaving.clone(), stop.clone()));
        let token = leaving.clone();
        let controller = tokio::spawn(async move {
            controller.run(token).await.unwrap();
            factory.shutdown().await;
        });
        Replica { identity: identity.to_owned(), sharding, faults, lister, leaving, stop, runner, controller }
    }

    pub(crate) fn slots(&self) -> SlotSet {
        self.sharding.slots()
    }

    /// Stops the replica as a manager does: the controllers end first.
    pub(crate) async fn stop(self) {
        self.leaving.cancel();
        self.controller.await.unwrap();
        self.stop.cancel();
        timeout(TIMEOUT, self.runner).await.unwrap().unwrap().unwrap();
    }

    /// Ends the replica without notice.
    pub(crate) fn kill(self) {
        self.runner.abort();
        self.controller.abort();
    }

    /// Waits until the runner ends.
    pub(crate) async fn runner_ended(self) -> Result<(), ShardingError> {
        timeout(TIMEOUT, self.runner).await.unwrap().unwrap()
    }
}

/// Creates a reconciler that records its runs and takes this time.
fn reconciler(
    identity: &str,
    record: &Record,
    lister: Lister<ConfigMap>,
    duration: Duration,
) -> impl kubewright_runtime::Reconciler + use<> {
    let (identity, record) = (identity.to_owned(), record.clone());
    move |key: ObjectKey| {
        let (identity, record, lister) = (identity.clone(), record.clone(), lister.clone());
        async move {
            let _running = record.start(&identity, &key);
            sleep(duration).await;
            let map = lister.namespace(key.namespace()).get(key.name()).ok();
            let text = map.and_then(|map| map.data.as_ref()?.get("text").cloned());
            record.completed(&identity, &key, text);
            Ok::<_, ReconcileError>(())
        }
    }
}

/// Waits until a condition is true, and returns how long that took.
pub(crate) async fn wait_until(what: &str, condition: impl Fn() -> bool) -> Duration {
    let started = Instant::now();
    let poll = async {
        while !condition() {
            sleep(POLL).await;
        }
    };
    timeout(TIMEOUT, poll).await.unwrap_or_else(|_| panic!("{what} within {TIMEOUT:?}"));
    started.elapsed()
}

/// Waits until each slot is active in one of the replicas, and returns how long that took.
pub(crate) async fn wait_until_owned(replicas: &[Replica]) -> Duration {
    wait_until("every slot has an owner", || is_owned(replicas)).await
}

pub(crate) fn is_owned(replicas: &[Replica]) -> bool {
    let all: BTreeSet<_> = replicas.iter().flat_map(|replica| replica.slots().iter()).collect();
    let count: usize = replicas.iter().map(|replica| replica.slots().len()).sum();
    all.len() == SlotSet::ALL.len() && count == all.len()
}

/// Waits until the replicas have equal numbers of slots.
pub(crate) async fn wait_until_even(replicas: &[Replica]) {
    let is_even = || {
        let lengths: Vec<_> = replicas.iter().map(|replica| replica.slots().len()).collect();
        is_owned(replicas) && lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1
    };
    wait_until("even numbers of slots", is_even).await;
}

/// The ConfigMaps of a test.
pub(crate) struct Maps {
    api: Api<ConfigMap>,
    pub(crate) names: Vec<String>,
}

impl Maps {
    pub(crate) async fn create(client: Client, count: usize) -> Self {
        let (api, names): (Api<ConfigMap>, _) =
            (Api::namespaced(client, "default"), (0..count).map(|number| format!("map-{number}")).collect::<Vec<_>>());
        for name in &names {
            let map = json!({"metadata": {"name": name}, "data": {"text": "0"}});
            api.create(&PostParams::default(), &serde_json::from_value(map).unwrap()).await.unwrap();
        }
        Maps { api, names }
    }

    pub(crate) async fn set(&self, name: &str, text: &str) {
        let patch = Patch::Merge(json!({"data": {"text": text}}));
        self.api.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub(crate) async fn set_all(&self, text: &str) {
        for name in &self.names {
            self.set(name, text).await;
        }
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Returns whether the last reconciliation of each object has this text.
    pub(crate) fn are_reconciled(&self, record: &Record, text: &str) -> bool {
        self.names.iter().all(|name| record.text(name).as_deref() == Some(text))
    }
}

pub(crate) fn leases(server: &ApiServer) -> Api<Lease> {
    Api::namespaced(server.client(), "default")
}
