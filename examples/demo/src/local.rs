//! The scenario on this machine, and a cluster that is left running for kubectl.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use demo::{LocalCluster, LocalClusterConfig};

use crate::{
    both,
    progress::Printer,
    scenario::{self, Machines, NAME, Scenario},
    signals::Signals,
};

const NAMESPACE: &str = "default";
/// How long each step can take. They take seconds; this is for machines with other load.
const LIMIT: Duration = Duration::from_secs(60);
/// The interval of the Logger in the scenario, in seconds: the shortest one, so that its files grow while one watches.
const SCENARIO_INTERVAL: &str = "1s";
/// The interval of the Logger in a cluster that is left running.
const SERVE_INTERVAL: &str = "5s";

/// The files of the cluster.
pub(crate) struct Options {
    pub(crate) agent: PathBuf,
    /// The directory of all files; `None` for a temporary one.
    pub(crate) directory: Option<PathBuf>,
}

/// Runs the scenario.
pub(crate) async fn run(options: Options, printer: &Printer, signals: &mut Signals) -> Result<()> {
    let agent = options.agent.clone();
    let ran = with_cluster(options, printer, signals, async |cluster: &LocalCluster, signals: &mut Signals| {
        let scenario = Scenario::new(scenario_options(cluster, &agent, SCENARIO_INTERVAL), printer).await?;
        let outcome = tokio::select! {
            outcome = scenario.run() => outcome,
            error = signals.interrupted() => Err(error),
        };
        scenario.stop().await;
        outcome
    });
    ran.await?;
    printer.line("\nDone. `cargo xtask demo --serve` leaves such a cluster running for kubectl.");
    Ok(())
}

/// Creates a Logger, and leaves the cluster running until a signal.
pub(crate) async fn serve(options: Options, printer: &Printer, signals: &mut Signals) -> Result<()> {
    let agent = options.agent.clone();
    let served = with_cluster(options, printer, signals, async |cluster: &LocalCluster, signals: &mut Signals| {
        let scenario = Scenario::new(scenario_options(cluster, &agent, SERVE_INTERVAL), printer).await?;
        let started = tokio::select! {
            started = scenario.start_logger() => started,
            error = signals.interrupted() => Err(error),
        };
        scenario.stop().await;
        started?;
        printer.line(instructions(cluster));
        signals.received().await;
        Ok(())
    });
    served.await
}

/// Starts a cluster, and stops it after the work, also if that failed.
async fn with_cluster(
    options: Options,
    printer: &Printer,
    signals: &mut Signals,
    work: impl AsyncFnOnce(&LocalCluster, &mut Signals) -> Result<()>,
) -> Result<()> {
    // A temporary directory is removed when this function returns.
    let (directory, _temporary) = match options.directory {
        Some(directory) => (directory, None),
        None => {
            let temporary = tempfile::Builder::new().prefix("logger-demo-").tempdir();
            let temporary = temporary.context("cannot create a temporary directory; use --directory DIR")?;
            (temporary.path().to_owned(), Some(temporary))
        }
    };
    let starting = LocalCluster::start(LocalClusterConfig::new(options.agent, directory));
    let cluster = tokio::select! {
        started = printer.during("Starting the cluster", starting) => started?,
        error = signals.interrupted() => return Err(error),
    };
    printer.line(format!("API server: https://{}", cluster.address()));
    printer.line("Nodes:      zone-a-1, zone-a-2 and zone-b-1");
    printer.line(format!("Files:      {}", cluster.directory().display()));
    let outcome = work(&cluster, signals).await;
    let stopped = printer.during("Stopping the cluster", cluster.stop()).await;
    both(outcome, stopped.map_err(Into::into))
}

fn scenario_options<'a>(cluster: &'a LocalCluster, agent: &'a Path, interval: &'a str) -> scenario::Options<'a> {
    scenario::Options {
        machines: Machines::Local { cluster, agent },
        client: cluster.client(),
        namespace: NAMESPACE,
        limit: LIMIT,
        interval,
    }
}

/// Returns what to try.
fn instructions(cluster: &LocalCluster) -> String {
    let kubeconfig = cluster.kubeconfig().display();
    format!(
        "\nThe cluster runs until Ctrl-C. In another terminal:\n\n\
         export KUBECONFIG={kubeconfig}\n\
         kubectl get nodes,loggers,deployments,pods -o wide\n\
         kubectl describe logger {NAME}\n\
         kubectl logs deployment/logger-{NAME} --follow\n\
         kubectl scale logger {NAME} --replicas 3\n\
         kubectl rollout status deployment/logger-{NAME}\n\
         kubectl drain zone-a-1 --delete-emptydir-data\n\
         kubectl uncordon zone-a-1\n\
         kubectl get events --sort-by .lastTimestamp\n\n\
         The files of the agents: {}/nodes/*/pods/*/volumes/logs/*.ndjson",
        cluster.directory().display()
    )
}
