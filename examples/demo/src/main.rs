//! The program of the Logger scenario: on this machine, on a real cluster, or left running for kubectl.

mod agents;
mod local;
mod observer;
mod progress;
mod remote;
mod scenario;
mod signals;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::{progress::Printer, signals::Signals};

/// Run the Logger scenario: agents record activity to files, a node is killed, and no record is lost.
#[derive(Parser)]
#[command(name = "demo")]
struct Args {
    /// Leave the cluster running with a Logger, for kubectl, until Ctrl-C.
    #[arg(long, conflicts_with = "kubeconfig")]
    serve: bool,
    /// The directory of all files, which remain. By default a temporary one, which is removed.
    #[arg(long, value_name = "DIR", conflicts_with = "kubeconfig")]
    directory: Option<PathBuf>,
    /// The program of agents. By default `logger-agent` in the directory of this program.
    #[arg(long, value_name = "FILE", conflicts_with = "kubeconfig")]
    agent: Option<PathBuf>,
    /// Run on the cluster of this kubeconfig instead; created objects are removed at the end.
    #[arg(long, value_name = "FILE", requires = "image")]
    kubeconfig: Option<PathBuf>,
    /// The image of agents in that cluster.
    #[arg(long, requires = "kubeconfig")]
    image: Option<String>,
    /// The namespace of the Logger in that cluster, which must exist.
    #[arg(long, default_value = "default", requires = "kubeconfig")]
    namespace: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    // Errors are returned and printed once. RUST_LOG enables the logs of the operator and of the nodes.
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match run(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> Result<()> {
    let (mut signals, printer) = (Signals::new().context("cannot install signal handlers")?, Printer::new());
    if let (Some(kubeconfig), Some(image)) = (args.kubeconfig, args.image) {
        let options = remote::Options { kubeconfig, image, namespace: args.namespace };
        return remote::run(options, &printer, &mut signals).await;
    }
    let agent = match args.agent {
        Some(agent) => agent,
        None => beside_this_program("logger-agent")?,
    };
    let options = local::Options { agent, directory: args.directory };
    match args.serve {
        true => local::serve(options, &printer, &mut signals).await,
        false => local::run(options, &printer, &mut signals).await,
    }
}

/// Returns the path of another program in the directory of this one, as cargo builds them.
fn beside_this_program(name: &str) -> Result<PathBuf> {
    let this = std::env::current_exe().context("cannot determine the path of this program; use --agent FILE")?;
    Ok(this.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Combines two results; if both fail, the error contains both messages.
fn both(first: Result<()>, second: Result<()>) -> Result<()> {
    match (first, second) {
        (Err(first), Err(second)) => Err(anyhow!("{first:#}; and afterwards: {second:#}")),
        (first, second) => first.and(second),
    }
}
