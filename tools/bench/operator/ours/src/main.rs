//! The operator of the benchmark on our runtime and manager. It prints `ready` when its caches have synced.

mod reconciler;

use std::io;

use anyhow::Result;
use kubewright_manager::{
    BoxError, CancellationToken, Manager, Replicas,
    serving::{MetricsHandler, Router, Server, ServerConfig},
};
use kubewright_runtime::{
    kube::Config,
    metrics::{Metrics, client_with_metrics},
};
use logger_client::{Clientset, SharedInformerFactory};
use tracing_subscriber::filter::LevelFilter;

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().with_max_level(LevelFilter::INFO).with_writer(io::stderr).init();
    let (config, metrics) = (Config::infer().await?, Metrics::default());
    let client = client_with_metrics(config.clone(), metrics.clone())?;
    let reflector_metrics = metrics.clone();
    let informers = SharedInformerFactory::with(&Clientset::new(client.clone()), |options| {
        options.defaults(|config| config.reflector(|reflector| reflector.metrics(reflector_metrics)))
    });
    let controller = reconciler::controller(&informers, metrics.clone());

    let manager = Manager::for_config(config)?.metrics(metrics.clone());
    // No program requests the metrics or the health.
    let router = Router::new().health(manager.health()).get("/metrics", MetricsHandler::from(metrics));
    let server = Server::bind(ServerConfig::new("http", 0), router)?;
    let manager = manager
        .add(Replicas::All, "http", server)
        .add(Replicas::All, "informers", informers.factory().clone())
        .add(Replicas::Leader, "loggers", controller)
        .add(Replicas::Leader, "ready", report_ready)
        .build()?;
    manager.run_until_signal().await?;
    Ok(())
}

/// Runs when the informers have synced, as the controller does.
async fn report_ready(stop: CancellationToken) -> Result<(), BoxError> {
    println!("ready");
    stop.cancelled().await;
    Ok(())
}
