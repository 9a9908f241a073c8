//! The main job in one program: installs the generated CRD, runs a small controller on the generated client, and
//! creates, updates and deletes Loggers while showing what happens.
//!
//! Without arguments all of it happens in this process, on the embedded API server. Copy `controller.rs` to start your
//! own controller.

mod controller;
mod definition;
mod picture;
mod story;
mod voice;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use logger_client::Clientset;
use logger_runtime::kube::config::{KubeConfigOptions, Kubeconfig};
use logger_runtime::kube::{Client, Config};
use tracing_subscriber::EnvFilter;

use voice::{both, say};

/// Shows the life of a few Loggers: embedded API server, generated CRD, generated client, a small controller.
#[derive(Parser)]
#[command(name = "quickstart")]
struct Args {
    /// Run on the cluster of this kubeconfig instead of the embedded API server. What was made is removed again.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The CustomResourceDefinition to install; by default the generated one.
    #[arg(long, value_name = "FILE")]
    crd: Option<PathBuf>,
    /// Namespace of the Loggers; it must exist.
    #[arg(long, default_value = "default")]
    namespace: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    // Errors are returned and printed once; RUST_LOG shows what kube's client logs beside them.
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
    let crd = definition::read(args.crd.as_deref())?;
    let client = match &args.kubeconfig {
        Some(file) => connect(file.clone()).await?,
        None => embedded(),
    };
    let made = definition::install(&client, &crd).await?;
    let served = tokio::select! {
        served = definition::established(&client, &crd) => served,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    let told = match served {
        Ok(()) => story::tell(&Clientset::new(client.clone()), &args.namespace).await,
        Err(error) => Err(error),
    };
    let cleaned = definition::remove(&client, &crd, made).await;
    both(told, cleaned)?;
    say("\nDone. The controller is examples/quickstart/src/controller.rs: copy it to start your own.");
    Ok(())
}

fn embedded() -> Client {
    say("API server: embedded in this process (give --kubeconfig FILE for a real one)");
    logger_apiserver::ApiServer::new().client()
}

/// Only a file named on the command line counts: a KUBECONFIG in the environment never sends a demo to production.
async fn connect(file: PathBuf) -> Result<Client> {
    let shown = file.display().to_string();
    let unusable = || format!("cannot use the kubeconfig {shown}");
    let kubeconfig = Kubeconfig::read_from(&file).with_context(unusable)?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.with_context(unusable)?;
    say(format!("API server: {} (from {shown})", config.cluster_url));
    Client::try_from(config).with_context(unusable)
}
