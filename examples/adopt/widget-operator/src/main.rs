//! An operator on the generated client of adopted kinds, and a story that shows it at work. It ends by itself.

mod controller;
mod story;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// Keeps a ConfigMap for each Widget, and shows how.
#[derive(Parser)]
struct Args {
    /// Run on the cluster of this kubeconfig instead of an API server in this process. What was made is removed again.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Namespace of the Widgets; it must exist.
    #[arg(long, default_value = "default")]
    namespace: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    // The controller logs what fails before it tries again.
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .init();
    let args = Args::parse();
    let client = match args.kubeconfig {
        Some(file) => connect(file).await?,
        None => logger_apiserver::ApiServer::new().client(),
    };
    story::tell(client, &args.namespace).await
}

/// Only a file named on the command line counts: a KUBECONFIG in the environment never sends an example to production.
async fn connect(file: PathBuf) -> Result<Client> {
    let unusable = format!("cannot use the kubeconfig {}", file.display());
    let kubeconfig = Kubeconfig::read_from(file).context(unusable.clone())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    Client::try_from(config.context(unusable.clone())?).context(unusable)
}
