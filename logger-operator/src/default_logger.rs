//! Keeps one Logger in existence: it creates a default one when there is none.

use std::{convert::Infallible, time::Duration};

use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_manager::{BoxError, CancellationToken, DescribeFn, OperatorDescription, Runnable};
use kubewright_runtime::{
    Error, ObjectKey,
    controller::{Allow, Verb},
    informer::{Delivery, HandlerOptions},
    kube::api::PostParams,
};
use logger_client::{Clientset, informers::example_v2::LoggerInformer};
use logger_types::v2::{Logger, LoggerSpec};
use tokio::time::sleep;

/// The name of the Logger that is created.
pub const DEFAULT_LOGGER: &str = "default";

const MIN_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_mins(1);

/// Creates the Logger [`DEFAULT_LOGGER`] when the last Logger is deleted.
///
/// Guarantees:
/// - it changes and deletes no Logger;
/// - no deletion is missed, also not that of a Logger that existed for a moment;
/// - a failed creation is logged and retried, after at most a minute.
pub(crate) struct DefaultLogger {
    pub(crate) loggers: LoggerInformer,
    pub(crate) clientset: Clientset,
    pub(crate) namespace: String,
}

impl Runnable for DefaultLogger {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        match stop.run_until_cancelled(self.keep()).await {
            None => Ok(()),
            Some(Err(error)) => Err(error),
        }
    }

    fn describe(&self) -> DescribeFn {
        Box::new(|| OperatorDescription::from_permissions([Allow::<Logger>::verbs([Verb::Create]).into()]))
    }
}

impl DefaultLogger {
    async fn keep(&self) -> Result<Infallible, BoxError> {
        let mut events = self.loggers.events_with(HandlerOptions::new().delivery(Delivery::EVERY_EVENT))?;
        self.loggers.wait_for_sync().await?;
        self.ensure().await;
        loop {
            let event = events.next().await.ok_or("the informer of loggers was stopped")?;
            // The cache can be ahead of the event.
            let current = self.loggers.store().get_by_key(&ObjectKey::from_object(&**event.object()));
            if current.is_none_or(|logger| logger.metadata.deletion_timestamp.is_some()) {
                self.ensure().await;
            }
        }
    }

    /// Creates the Logger, unless there is one that is not being deleted.
    async fn ensure(&self) {
        let mut delay = MIN_DELAY;
        while self.loggers.store().list().iter().all(|logger| logger.metadata.deletion_timestamp.is_some()) {
            match self.create().await {
                // It is not in the cache yet, or it is being deleted: the next event follows.
                Ok(()) => return,
                Err(error) if error.is_already_exists() => return,
                Err(error) => tracing::warn!(%error, "cannot create the default Logger; retrying"),
            }
            sleep(delay).await;
            delay = (delay * 2).min(MAX_DELAY);
        }
    }

    async fn create(&self) -> Result<(), Error> {
        let metadata = ObjectMeta { name: Some(DEFAULT_LOGGER.to_owned()), ..ObjectMeta::default() };
        let (name, interval) = (DEFAULT_LOGGER.to_owned(), "60s".to_owned());
        let spec = LoggerSpec { name, interval, replicas: Some(2), ..LoggerSpec::default() };
        let logger = Logger { metadata, spec, status: None };
        let loggers = self.clientset.example_v2().loggers(&self.namespace);
        loggers.create(&logger, &PostParams::default()).await?;
        tracing::info!(namespace = %self.namespace, "created the default Logger");
        Ok(())
    }
}
