//! A replica of a small operator: it copies the desired value of ConfigMaps to the observed one while it is the leader,
//! and records each reconciliation in a journal.
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
use logger_manager::{
    Group, LeaderElectionConfig, Manager,
    serving::{Certificates, MetricsHandler, Router, Server, ServerConfig},
};
use logger_runtime::{
    Context, Controller, InformerFactory, ReconcileError,
    metrics::{Gauge, Metric, MetricsProvider, PrometheusMetrics, Refresh},
};
use serde_json::json;
use tests::{
    journal::{Event, Journal, Reconciliation},
    replica::{ALIVE_TASKS, CONCURRENCY, DESIRED, LEASE, OBSERVED, Options, WRITER},
};
use tokio::runtime::Handle;
use tracing_subscriber::filter::LevelFilter;

/// How long reconciliations can take to end after SIGTERM. The manager has more time.
const GRACE: Duration = Duration::from_secs(10);

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
    let config = tests::config(&options.kubeconfig).await?;
    let (metrics, journal) = (PrometheusMetrics::default(), Journal::create(&options.journal)?);
    let _alive_tasks = AliveTasks::register(&metrics);
    let builder = Manager::for_config(config)?
        .metrics(Arc::new(metrics.clone()))
        .leader_election(election(&options).metrics(Arc::new(metrics.clone())))
        .graceful_shutdown_timeout(GRACE + Duration::from_secs(5));
    let factory = InformerFactory::namespaced(builder.client().clone(), &options.namespace);
    let writer = Writer { identity: options.identity.clone(), writes: AtomicU64::new(0), journal: journal.clone() };
    let controller = Controller::for_informer("config-maps", &factory.informer::<ConfigMap>())
        .max_concurrent_reconciles(CONCURRENCY)
        .graceful_shutdown_timeout(GRACE)
        .metrics(Arc::new(metrics.clone()))
        .for_object(builder.client().clone(), |_| writer, reconcile)
        .build();
    let router = Router::new().health(builder.health()).get("/metrics", MetricsHandler::from(metrics));
    let mut server = Server::bind(ServerConfig::new("status", options.port), router)?;
    if let Some(directory) = &options.certificates {
        server = server.tls(Certificates::from_files(directory.join("tls.crt"), directory.join("tls.key"))?);
    }
    journal.record(&Event::Serving(server.local_address()));
    let manager = builder
        .add(Group::Always, "status", server)
        .add(Group::Always, "informers", factory)
        .add(Group::LeaderElected, "config-maps", controller)
        .build()?;
    Ok(manager.run_until_signal().await?)
}

/// Returns the options of the elector: a lease that expires soon, so that tests with crashes are short.
fn election(options: &Options) -> LeaderElectionConfig {
    LeaderElectionConfig::new(LEASE, &options.identity)
        .namespace(&options.namespace)
        .lease_duration(Duration::from_secs(5))
        .renew_deadline(Duration::from_secs(4))
        .retry_period(Duration::from_millis(300))
}

/// The identity of the writes, and the journal.
struct Writer {
    identity: String,
    /// The number of writes.
    writes: AtomicU64,
    journal: Journal,
}

async fn reconcile(map: Arc<ConfigMap>, context: Context<Writer>) -> Result<(), ReconcileError> {
    let reconciliation = context.journal.start(context.key());
    let result = converge(&map, &context, &reconciliation).await;
    reconciliation.end();
    result
}

/// Writes the desired value as the observed one, if the object has not changed since it was read.
async fn converge(
    map: &ConfigMap,
    context: &Context<Writer>,
    reconciliation: &Reconciliation,
) -> Result<(), ReconcileError> {
    let value = |name: &str| map.data.as_ref()?.get(name);
    let Some(desired) = value(DESIRED).filter(|desired| value(OBSERVED) != Some(*desired)) else { return Ok(()) };
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
    gauge: Arc<dyn Gauge>,
    runtime: Handle,
}

impl AliveTasks {
    /// Registers the gauge. It is current for as long as the result is alive.
    fn register(metrics: &PrometheusMetrics) -> Arc<Self> {
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
