//! A replica of the sharding benchmark: each reconciliation of a changed ConfigMap takes a fixed time.
//!
//! Arguments: kubeconfig, address of the API server, namespace, identity, the value that a changed object has, the time
//! of a reconciliation in milliseconds, and the file to which the replica appends what happens: `slots 13` when the
//! number of its slots changes, and `reconciled NAME NANOSECONDS`. It prints `ready` when it runs, and stops on
//! SIGTERM.

use std::{
    fs::File,
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use bench::clock::now;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{
    CancellationToken, Controller, InformerFactory, LeaderElectionConfig, Lister, ObjectKey, ReconcileError, Sharding,
    kube::{
        Client, Config,
        config::{KubeConfigOptions, Kubeconfig},
    },
    leader_election::lease_client,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
    time::{interval, sleep},
};

/// The number of concurrent reconciliations, as in the published measurements.
const WORKERS: usize = 5;
/// How often the number of slots is compared with the one that was recorded last.
const PERIOD: Duration = Duration::from_millis(20);

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kubeconfig, server, namespace, identity, changed, millis, journal] = args.as_slice() else {
        bail!("usage: sharded-replica KUBECONFIG SERVER NAMESPACE IDENTITY CHANGED MILLISECONDS JOURNAL");
    };
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.cluster_url = format!("https://{server}").parse()?;
    let work = Arc::new(Work {
        changed: changed.clone(),
        time: Duration::from_millis(millis.parse().context("the time is invalid")?),
        journal: Journal(File::options().append(true).create_new(true).open(journal)?),
    });
    run(config, namespace, identity, work).await
}

async fn run(config: Config, namespace: &str, identity: &str, work: Arc<Work>) -> Result<()> {
    let sharding = Sharding::by_uid(LeaderElectionConfig::new("bench", identity).namespace("default"));
    let factory = InformerFactory::builder(Client::try_from(config.clone())?)
        .namespace(namespace)
        .defaults(|config| config.reflector(|reflector| reflector.sharding(&sharding)))
        .build();
    let informer = factory.informer::<ConfigMap>();
    let (lister, reconciling) = (informer.lister(), Arc::clone(&work));
    let controller = Controller::new("config-maps", &informer)
        .max_concurrent_reconciles(WORKERS)
        .start_factory(&factory)
        .build(move |key: ObjectKey| {
            let (lister, work) = (lister.clone(), Arc::clone(&reconciling));
            async move { work.reconcile(&lister, &key).await }
        });
    let runner = sharding.runner(lease_client(config)?)?;
    let (leaving, stop, mut tasks) = (CancellationToken::new(), CancellationToken::new(), JoinSet::new());
    tasks.spawn(async move { work.record_slots(&sharding).await });
    let mut runners = JoinSet::new();
    runners.spawn(runner.run(leaving.clone(), stop.clone()));
    let mut terminated = signal(SignalKind::terminate())?;
    println!("ready");
    let stopped = leaving.clone();
    tasks.spawn(async move {
        terminated.recv().await;
        stopped.cancel();
        Ok(())
    });
    controller.run(leaving).await?;
    factory.shutdown().await;
    stop.cancel();
    Ok(runners.join_next().await.context("the runner runs once")???)
}

/// What a reconciliation does.
struct Work {
    /// The data `round` of a changed object.
    changed: String,
    time: Duration,
    journal: Journal,
}

impl Work {
    async fn reconcile(&self, lister: &Lister<ConfigMap>, key: &ObjectKey) -> Result<(), ReconcileError> {
        let map = lister.get_by_key(key).ok();
        if map.is_some_and(|map| map.data.as_ref().and_then(|data| data.get("round")) == Some(&self.changed)) {
            sleep(self.time).await;
            self.journal.append(&format!("reconciled {} {}", key.name(), now().as_nanos()))?;
        }
        Ok(())
    }

    async fn record_slots(&self, sharding: &Sharding) -> io::Result<()> {
        let (mut ticks, mut recorded) = (interval(PERIOD), 0);
        loop {
            ticks.tick().await;
            let count = sharding.slots().len();
            if count != recorded {
                self.journal.append(&format!("slots {count}"))?;
                recorded = count;
            }
        }
    }
}

/// The file to which lines are appended, each with one write.
struct Journal(File);

impl Journal {
    fn append(&self, line: &str) -> io::Result<()> {
        (&self.0).write_all(format!("{line}\n").as_bytes())
    }
}
