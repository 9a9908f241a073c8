//! A replica of a small operator: it copies the desired value of ConfigMaps to the observed one while it is the leader,
//! or of those in its slots, and records each reconciliation in a journal.
//!
//! The only argument is [`Options`] in JSON. The program stops on SIGTERM. An error is written to the standard error,
//! and the exit code is then 1.

use std::{
    error::Error,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kubewright_manager::{
    LeaderElectionConfig, Manager, ManagerBuilder, Replicas, Sharding,
    serving::{Certificates, MetricsHandler, Router, Server, ServerConfig},
};
use kubewright_runtime::{
    Controller, InformerFactory, ReconcileContext, ReconcileError,
    metrics::{Gauge, Metric, Metrics, Refresh},
    sharding::SlotSet,
};
use serde_json::json;
use tests::{
    journal::{Event, Journal, Reconciliation},
    replica::{ALIVE_TASKS, CONCURRENCY, DESIRED, OBSERVED, Options, ShardingField, WRITER, lease},
};
use tokio::{
    runtime::Handle,
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep},
};
use tracing_subscriber::filter::LevelFilter;

/// How long reconciliations can take to end after SIGTERM. The manager has more time.
const GRACE: Duration = Duration::from_secs(10);
/// How often the slots are compared with those that were recorded last.
const SLOTS_PERIOD: Duration = Duration::from_millis(10);

/// One thread: a pause interrupts at most one poll.
#[tokio::main(worker_threads = 1)]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_max_level(LevelFilter::INFO).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let options: Options = serde_json::from_str(&std::env::args().nth(1).ok_or("usage: replica OPTIONS")?)?;
    let mut config = tests::config(&options.kubeconfig).await?;
    if let Some(server) = options.server {
        config.cluster_url = format!("https://{server}").parse()?;
    }
    let (metrics, journal) = (Metrics::default(), Journal::create(&options.journal)?);
    let _alive_tasks = AliveTasks::register(&metrics);
    let builder =
        Manager::for_config(config)?.metrics(metrics.clone()).graceful_shutdown_timeout(GRACE + Duration::from_secs(5));
    let lease = lease(&options.namespace, &options.identity).metrics(metrics.clone());
    let sharding = options.sharding.map(|field| sharding(field, lease.clone()));
    let (builder, group) = match &sharding {
        Some(sharding) => (builder.sharding(sharding), Replicas::All),
        None => (builder.leader_election(lease), Replicas::Leader),
    };
    let factory = informers(&builder, &options, sharding.as_ref());
    let (identity, duration) = (options.identity.clone(), options.duration);
    let writer = Writer { identity, duration, writes: AtomicU64::new(0), journal: journal.clone() };
    let controller = Controller::new("config-maps", &factory.informer::<ConfigMap>())
        .max_concurrent_reconciles(CONCURRENCY)
        .graceful_shutdown_timeout(GRACE)
        .metrics(metrics.clone())
        .reconcile_with(|_| writer, reconcile)
        .build();
    let router = Router::new().health(builder.health()).get("/metrics", MetricsHandler::from(metrics));
    let mut server = Server::bind(ServerConfig::new("status", options.port), router)?;
    if let Some(directory) = &options.certificates {
        server = server.tls(Certificates::from_files(directory.join("tls.crt"), directory.join("tls.key"))?);
    }
    journal.record(&Event::Serving(server.local_address()));
    let mut tasks = JoinSet::new();
    if let Some(sharding) = sharding {
        tasks.spawn(record_slots(sharding, journal));
    }
    let manager = builder
        .add(Replicas::All, "status", server)
        .add(Replicas::All, "informers", factory)
        .add(group, "config-maps", controller)
        .build()?;
    Ok(manager.run_until_signal().await?)
}

fn sharding(field: ShardingField, lease: LeaderElectionConfig) -> Sharding {
    match field {
        ShardingField::Uid => Sharding::by_uid(lease),
        ShardingField::Namespace => Sharding::by_namespace(lease),
    }
}

/// Creates the informers of the namespace, of the objects in the slots of this replica if it shares them.
fn informers(builder: &ManagerBuilder, options: &Options, sharding: Option<&Sharding>) -> InformerFactory {
    let factory = InformerFactory::builder(builder.client().clone()).namespace(&options.namespace);
    let factory = match sharding {
        Some(sharding) => factory.defaults(|config| config.reflector(|reflector| reflector.sharding(sharding))),
        None => factory,
    };
    factory.build()
}

/// Records the slots of this replica when they change.
async fn record_slots(sharding: Sharding, journal: Journal) {
    let mut ticks = interval(SLOTS_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut recorded = SlotSet::EMPTY;
    loop {
        ticks.tick().await;
        let slots = sharding.slots();
        if slots != recorded {
            journal.record(&Event::Slots(slots));
            recorded = slots;
        }
    }
}

/// The identity of the writes, and the journal.
struct Writer {
    identity: String,
    /// How long a reconciliation takes before it writes.
    duration: Duration,
    /// The number of writes.
    writes: AtomicU64,
    journal: Journal,
}

async fn reconcile(map: Arc<ConfigMap>, context: ReconcileContext<Writer>) -> Result<(), ReconcileError> {
    let reconciliation = context.journal.start(context.key());
    let result = converge(&map, &context, &reconciliation).await;
    reconciliation.end();
    result
}

/// Writes the desired value as the observed one, if the object has not changed since it was read.
async fn converge(
    map: &ConfigMap,
    context: &ReconcileContext<Writer>,
    reconciliation: &Reconciliation,
) -> Result<(), ReconcileError> {
    let value = |name: &str| map.data.as_ref()?.get(name);
    let Some(desired) = value(DESIRED).filter(|desired| value(OBSERVED) != Some(*desired)) else { return Ok(()) };
    sleep(context.duration).await;
    let number = context.writes.fetch_add(1, Ordering::Relaxed);
    let patch = Patch::Merge(json!({
        "metadata": { "resourceVersion": map.metadata.resource_version },
        "data": { OBSERVED: desired, WRITER: format!("{}/{number}", context.identity) },
    }));
    reconciliation.write();
    context.typed::<ConfigMap>().patch(context.key().name(), &patch, &PatchParams::default()).await?;
    Ok(())
}

/// Reports the number of alive tasks of the runtime.
struct AliveTasks {
    gauge: Gauge,
    runtime: Handle,
}

impl AliveTasks {
    /// Registers the gauge. It is current for as long as the result is alive.
    fn register(metrics: &Metrics) -> Arc<Self> {
        let gauge = metrics.gauge(Metric { name: ALIVE_TASKS, help: "Number of alive tasks of the runtime." }, &[]);
        let tasks = Arc::new(AliveTasks { gauge, runtime: Handle::current() });
        let refresh: Arc<dyn Refresh> = tasks.clone();
        metrics.register_refresh(Arc::downgrade(&refresh));
        tasks
    }
}

impl Refresh for AliveTasks {
    fn refresh(&self) {
        let count = self.runtime.metrics().num_alive_tasks();
        self.gauge.set(u32::try_from(count).unwrap_or(u32::MAX).into());
    }
}
