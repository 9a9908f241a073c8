//! The quickstart: installs the generated CRD, runs a small controller on the generated client, and creates, updates
//! and deletes Loggers while printing the events.
//!
//! Without arguments it runs on an API server embedded in this process. Copy `controller.rs` to start your own
//! controller. No agent runs here: that is the scenario of `cargo xtask quickstart`, in `examples/demo`.

mod controller;
mod crd;
mod format;
mod output;
mod scenario;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::Parser;
use kubewright_runtime::kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use logger_client::Clientset;
use tracing_subscriber::EnvFilter;

use crate::output::{both, print};

/// Run a small controller on the generated client, and create, update and delete a few Loggers.
#[derive(Parser)]
#[command(name = "quickstart")]
struct Args {
    /// Run on the cluster of this kubeconfig instead of the embedded API server; created objects are removed at the
    /// end.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The CustomResourceDefinition to install; by default, the generated one.
    #[arg(long, value_name = "FILE")]
    crd: Option<PathBuf>,
    /// The namespace of the Loggers, which must exist.
    #[arg(long, default_value = "default")]
    namespace: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    // Errors are returned and printed once; RUST_LOG enables the logs of kube's client.
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,kube_client=off,kube_runtime=off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match run(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> Result<()> {
    let definition = crd::read(args.crd.as_deref())?;
    let client = match &args.kubeconfig {
        Some(file) => connect(file.clone()).await?,
        None => embedded(),
    };
    let is_installed = crd::install(&client, &definition).await?;
    let served = tokio::select! {
        served = crd::wait_until_served(&client, &definition) => served,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    let outcome = match served {
        Ok(()) => scenario::run(&Clientset::new(client.clone()), &args.namespace).await,
        Err(error) => Err(error),
    };
    let removal = if is_installed { crd::remove(&client, &definition).await } else { Ok(()) };
    both(outcome, removal)?;
    print("\nDone. Copy the controller, examples/quickstart/src/controller.rs, to start your own.");
    Ok(())
}

fn embedded() -> Client {
    print("API server: embedded in this process (use --kubeconfig FILE for a real one)");
    kubewright_apiserver::ApiServer::new().client()
}

/// Connects to the cluster of a kubeconfig. KUBECONFIG in the environment is ignored, so that a demo never runs in
/// production.
async fn connect(file: PathBuf) -> Result<Client> {
    let path = file.display().to_string();
    let context = || format!("cannot use the kubeconfig {path}");
    let kubeconfig = Kubeconfig::read_from(&file).with_context(context)?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.with_context(context)?;
    print(format!("API server: {} (from {path})", config.cluster_url));
    Client::try_from(config).with_context(context)
}
