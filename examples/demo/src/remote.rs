//! The scenario on a real cluster: the operator runs in this process, and the nodes of the cluster run the agents.
//!
//! Everything that was created is removed at the end, also after an error and after a signal. Another signal ends the
//! removal of objects, and the error lists what may remain.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Error, Result, anyhow};
use demo::definition;
use kubewright_manager::{Manager, ManagerError};
use kubewright_runtime::{
    CancellationToken,
    kube::{
        Client, Config,
        config::{KubeConfigOptions, Kubeconfig},
    },
    metrics::Metrics,
};
use logger_operator::{OperatorOptions, operator};
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    both,
    progress::Printer,
    scenario::{self, Machines, NAME, Scenario},
    signals::Signals,
};

/// How long each step can take, with the pull of the image.
const LIMIT: Duration = Duration::from_mins(3);
/// The interval of the Logger.
const INTERVAL: &str = "5s";

/// The cluster and what runs in it.
pub(crate) struct Options {
    pub(crate) kubeconfig: PathBuf,
    pub(crate) image: String,
    pub(crate) namespace: String,
}

/// Runs the scenario, and removes what it created.
pub(crate) async fn run(options: Options, printer: &Printer, signals: &mut Signals) -> Result<()> {
    let config = config(&options, printer).await?;
    let client = Client::try_from(config.clone())?;
    let is_installed = definition::install(&client).await?;
    printer.line(format!("CRD:        {} {}", definition::NAME, if is_installed { "installed" } else { "exists" }));
    let outcome = with_definition(config, &client, &options, printer, signals).await;
    let removal = if is_installed { remove_definition(&client, printer).await } else { Ok(()) };
    both(outcome, removal)
}

/// Reads the kubeconfig. KUBECONFIG in the environment is ignored, so that the scenario never runs in production.
async fn config(options: &Options, printer: &Printer) -> Result<Config> {
    let path = options.kubeconfig.display();
    let context = || format!("cannot use the kubeconfig {path}");
    let kubeconfig = Kubeconfig::read_from(&options.kubeconfig).with_context(context)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let config = config.with_context(context)?;
    printer.line(format!("API server: {} (from {path})", config.cluster_url));
    Ok(config)
}

async fn remove_definition(client: &Client, printer: &Printer) -> Result<()> {
    let hint = || format!("the CRD still exists; remove it with `kubectl delete crd {}`", definition::NAME);
    definition::remove(client).await.with_context(hint)?;
    printer.line(format!("CRD:        {} removed", definition::NAME));
    Ok(())
}

async fn with_definition(
    config: Config,
    client: &Client,
    options: &Options,
    printer: &Printer,
    signals: &mut Signals,
) -> Result<()> {
    tokio::select! {
        served = definition::wait_until_served(client) => served?,
        error = signals.interrupted() => return Err(error),
    }
    let namespace = options.namespace.as_str();
    let scenario =
        scenario::Options { machines: Machines::Remote, client, namespace, limit: LIMIT, interval: INTERVAL };
    let scenario = Scenario::new(scenario, printer).await?;
    // Loggers of other namespaces are not touched.
    let (manager, namespaces) = (Manager::for_config(config)?, vec![namespace.to_owned()]);
    let options = OperatorOptions::new(options.image.as_str());
    let manager = operator().add_to(manager, options, namespaces, Metrics::default());
    let manager = manager.map_err(Error::from_boxed)?.build()?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    // It also runs while the objects are removed.
    let mut operator = AbortOnDropHandle::new(tokio::spawn(async move { manager.run(token).await }));
    let outcome = tokio::select! {
        outcome = scenario.run() => outcome,
        ended = &mut operator => {
            let ended = outcome_of(ended).and_then(|()| Err(anyhow!("the operator ended")));
            return both(ended, clean_up(scenario, namespace, printer, signals).await);
        }
        error = signals.interrupted() => Err(error),
    };
    let removal = clean_up(scenario, namespace, printer, signals).await;
    stop.cancel();
    both(both(outcome, removal), outcome_of(operator.await))
}

/// Deletes the Logger of a scenario that failed, and waits until its objects are gone, or until a signal.
async fn clean_up(scenario: Scenario<'_>, namespace: &str, printer: &Printer, signals: &mut Signals) -> Result<()> {
    let removal = async {
        tokio::select! {
            removed = scenario.clean_up() => removed,
            error = signals.interrupted() => Err(error),
        }
    };
    let removed = printer.during("Removing the objects", removal).await;
    scenario.stop().await;
    removed.with_context(|| {
        format!(
            "the Logger {namespace}/{NAME} and its Deployment, Service, PodDisruptionBudget and Pods may remain; \
             remove them with `kubectl delete logger {NAME} --namespace {namespace}`"
        )
    })
}

/// Returns the outcome of the task of the operator.
fn outcome_of(ended: Result<Result<(), ManagerError>, JoinError>) -> Result<()> {
    ended.context("the operator panicked")?.context("the operator failed")
}
