//! An operator on the generated client of adopted kinds, and a scenario that shows it and ends.

mod controller;
mod scenario;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

/// Reconcile a ConfigMap for each Widget in a short scenario.
#[derive(Parser)]
struct Args {
    /// Run on the cluster of this kubeconfig instead of an API server in this process; created objects are removed at
    /// the end.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The namespace of the Widgets, which must exist.
    #[arg(long, default_value = "default")]
    namespace: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    // The controller logs failures before it requeues them.
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .init();
    let args = Args::parse();
    let client = match args.kubeconfig {
        Some(file) => connect(file).await?,
        None => kubewright_apiserver::ApiServer::new().client(),
    };
    scenario::run(client, &args.namespace).await
}

/// Connects to the cluster of a kubeconfig. KUBECONFIG in the environment is ignored, so that an example never runs in
/// production.
async fn connect(file: PathBuf) -> Result<Client> {
    let message = format!("cannot use the kubeconfig {}", file.display());
    let kubeconfig = Kubeconfig::read_from(file).context(message.clone())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    Client::try_from(config.context(message.clone())?).context(message)
}
