//! The controller of the quickstart as a production process: leader election, health checks, metrics, graceful stop.

mod controller;

use anyhow::Result;
use kubewright_manager::{LeaderElectionConfig, Manager, Replicas, Telemetry, serving::ServerConfig};
use kubewright_runtime::{
    kube::{Client, Config},
    leader_election::unique_identity,
    metrics::Metrics,
};
use logger_client::{Clientset, SharedInformerFactory};

#[tokio::main]
async fn main() -> Result<()> {
    let telemetry = Telemetry::new().install()?;
    let (config, metrics) = (Config::infer().await?, Metrics::default());
    let client = Client::try_from(config.clone())?;
    let factory = SharedInformerFactory::new(&Clientset::new(client.clone()));
    let controller = controller::controller(&factory.example_v2().loggers());
    let manager = Manager::for_config(config)?
        .leader_election(LeaderElectionConfig::new("logger-operator", unique_identity()))
        .metrics(metrics.clone())
        .serve_health(ServerConfig::new("health", 8081))
        .serve_metrics(ServerConfig::new("metrics", 8080), metrics)
        .add(Replicas::All, "telemetry", telemetry)
        .add(Replicas::All, "informers", factory.factory().clone())
        .add(Replicas::Leader, "loggers", controller)
        .build()?;
    Ok(manager.run_until_signal().await?)
}
