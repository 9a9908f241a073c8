//! Two managers that share the keys of a controller, one of which is replaced from time to time.

use std::{ops::Range, sync::Arc, time::Duration};

use fastrand::Rng;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Config,
    api::{Patch, PatchParams},
};
use kubewright_manager::{Manager, ManagerError, Replicas, Sharding};
use kubewright_runtime::{
    CancellationToken, Controller, InformerFactory, Memory, ReconcileContext, ReconcileError, Store,
};
use serde_json::json;
use tests::replica::{DESIRED, Error, OBSERVED, lease};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{MEMORIES, NAMESPACE, Versions, versions};

const MANAGERS: usize = 2;
/// The maximum number of objects that a manager reconciles concurrently.
const CONCURRENCY: usize = 8;
/// The time between two replacements of a manager, in seconds.
const LIFE: Range<u64> = 5..15;

/// The managers.
pub(super) struct Shards {
    config: Config,
    shards: Vec<Shard>,
    started: usize,
}

/// A running manager.
struct Shard {
    store: Store<ConfigMap>,
    stop: CancellationToken,
    tasks: JoinSet<Result<(), ManagerError>>,
}

impl Shards {
    pub(super) fn start(config: Config) -> Result<Self, Error> {
        let mut shards = Shards { config, shards: Vec::new(), started: 0 };
        for _ in 0..MANAGERS {
            let shard = shards.start_shard()?;
            shards.shards.push(shard);
        }
        Ok(shards)
    }

    fn start_shard(&mut self) -> Result<Shard, Error> {
        self.started += 1;
        let memory = MEMORIES[self.started % MEMORIES.len()];
        Shard::start(&self.config, &format!("manager-{}", self.started), memory)
    }

    /// Replaces random managers, after a stop or a crash.
    pub(super) async fn churn(&mut self, mut rng: Rng, end: Instant) -> Result<(), Error> {
        loop {
            let next = Instant::now() + Duration::from_secs(rng.u64(LIFE));
            sleep_until(next.min(end)).await;
            if next >= end {
                return Ok(());
            }
            let mut shard = self.shards.swap_remove(rng.usize(..MANAGERS));
            let other = self.start_shard()?;
            self.shards.push(other);
            if let Some(ended) = shard.tasks.try_join_next() {
                return Err(format!("a manager ended: {ended:?}").into());
            }
            match rng.bool() {
                true => shard.stop().await?,
                false => shard.tasks.shutdown().await,
            }
        }
    }

    /// Returns the versions in the caches. Each object is in one of them.
    pub(super) fn stored(&self) -> Versions {
        let stores = self.shards.iter().map(|shard| shard.store.list());
        stores.flat_map(|maps| versions(maps.iter().map(AsRef::as_ref))).collect()
    }

    /// Returns the number of managers that were started.
    pub(super) fn started(&self) -> usize {
        self.started
    }

    pub(super) async fn stop(&mut self) -> Result<(), Error> {
        for shard in self.shards.drain(..) {
            shard.stop().await?;
        }
        Ok(())
    }
}

impl Shard {
    fn start(config: &Config, identity: &str, memory: Memory) -> Result<Self, Error> {
        let sharding = Sharding::by_uid(lease(NAMESPACE, identity));
        let builder = Manager::for_config(config.clone())?.sharding(&sharding);
        let client = builder.client().clone();
        let factory = InformerFactory::builder(client.clone())
            .namespace(NAMESPACE)
            .defaults(|config| config.memory(memory).reflector(|reflector| reflector.sharding(&sharding)))
            .build();
        let informer = factory.informer::<ConfigMap>();
        let controller = Controller::new("config-maps", &informer)
            .max_concurrent_reconciles(CONCURRENCY)
            .reconcile(reconcile)
            .build();
        let manager =
            builder.add(Replicas::All, "informers", factory).add(Replicas::All, "config-maps", controller).build()?;
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        let stopped = stop.clone();
        tasks.spawn(async move { manager.run(stopped).await });
        Ok(Shard { store: informer.store(), stop, tasks })
    }

    async fn stop(mut self) -> Result<(), Error> {
        self.stop.cancel();
        Ok(self.tasks.join_next().await.ok_or("a manager runs once")???)
    }
}

/// Writes the desired value as the observed one, if the object has not changed since it was read.
async fn reconcile(map: Arc<ConfigMap>, context: ReconcileContext<()>) -> Result<(), ReconcileError> {
    let value = |name: &str| map.data.as_ref()?.get(name);
    let Some(desired) = value(DESIRED).filter(|desired| value(OBSERVED) != Some(*desired)) else { return Ok(()) };
    let patch = Patch::Merge(json!({
        "metadata": { "resourceVersion": map.metadata.resource_version },
        "data": { OBSERVED: desired },
    }));
    context.typed::<ConfigMap>().patch(context.key().name(), &patch, &PatchParams::default()).await?;
    Ok(())
}
