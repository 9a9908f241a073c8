//! An operator that runs in the process of a test.

use clap::Args;
use kube::Client;
use kubewright_runtime::{CancellationToken, metrics::Metrics};
use tokio::task::JoinSet;

use super::Operator;
use crate::manager::{BoxError, Manager, ManagerError};

/// An operator that was started for a test. If it is dropped, it is aborted.
#[derive(Debug)]
#[must_use = "the operator is aborted when it is dropped"]
pub struct RunningOperator {
    stop: CancellationToken,
    task: JoinSet<Result<(), ManagerError>>,
}

impl<O: Args + Clone + Default + Send + Sync + 'static> Operator<O> {
    /// Starts the operator in all namespaces of an API server, such as that of a fake clientset, without servers and
    /// leader election. It runs until it is [stopped](RunningOperator::stop).
    ///
    /// # Errors
    /// Fails if a part of the operator cannot be added.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&self, client: &Client) -> Result<RunningOperator, BoxError> {
        let manager = Manager::builder(client.clone());
        let manager = self.add_to(manager, O::default(), Vec::new(), Metrics::default())?.build()?;
        let (stop, mut task) = (CancellationToken::new(), JoinSet::new());
        let stopped = stop.clone();
        task.spawn(async move { manager.run(stopped).await });
        Ok(RunningOperator { stop, task })
    }
}

impl RunningOperator {
    /// Stops the operator, and waits until it has ended.
    ///
    /// # Errors
    /// Fails with the error with which it ended, or if it panicked.
    pub async fn stop(mut self) -> Result<(), BoxError> {
        self.stop.cancel();
        while let Some(ended) = self.task.join_next().await {
            ended??;
        }
        Ok(())
    }
}
