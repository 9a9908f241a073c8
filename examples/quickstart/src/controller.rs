//! A small controller on the generated client: informer → queue → reconcile → status. Copy it to start your own.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use logger_client::Clientset;
use logger_client::informers::example_v1::LoggerInformer;
use logger_core::DeepCopy;
use logger_runtime::kube::api::PostParams;
use logger_runtime::{Error, ObjectKey, WorkQueue};
use logger_types::v1::{Logger, LoggerState, LoggerStatus};

/// Keeps the status of every Logger true.
#[derive(Clone)]
pub(crate) struct Controller {
    clientset: Clientset,
    loggers: LoggerInformer,
    queue: WorkQueue<ObjectKey>,
}

impl Controller {
    /// A controller that hears of changes through this informer.
    pub(crate) fn new(clientset: Clientset, loggers: LoggerInformer) -> Self {
        let queue = WorkQueue::new();
        let events = queue.clone();
        let heard = loggers.add_event_handler(move |event| events.add(ObjectKey::of(event.object().as_ref())));
        heard.expect("the informer has not run yet");
        Controller { clientset, loggers, queue }
    }

    /// Works on one key after the other until [`stop`](Self::stop). Run it several times for several workers.
    pub(crate) async fn work(self) {
        while let Some(key) = self.queue.get().await {
            match self.reconcile(&key).await {
                Ok(()) => self.queue.forget(&key),
                // A conflict means that the informer is about to bring something newer.
                Err(error) => {
                    if !error.is_conflict() {
                        eprintln!("{key}: {error}; trying again");
                    }
                    self.queue.add_rate_limited(key.clone());
                }
            }
        }
    }

    /// Ends all workers once they have done what is queued.
    pub(crate) fn stop(&self) {
        self.queue.shut_down();
    }

    /// Compares what is wanted with what is reported, and reports anew if they differ.
    async fn reconcile(&self, key: &ObjectKey) -> Result<(), Error> {
        let Ok(logger) = self.loggers.lister().namespace(key.namespace()).get(key.name()) else {
            return Ok(()); // deleted: nothing is left to report on
        };
        let status = observe(&logger);
        if logger.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let mut logger = logger.deep_copy();
        logger.status = Some(status);
        let loggers = self.clientset.example_v1().loggers(key.namespace());
        match loggers.update_status(&logger, &PostParams::default()).await {
            Err(error) if error.is_not_found() => Ok(()), // deleted meanwhile
            result => result.map(drop),
        }
    }
}

/// What there is to say of a Logger. A real controller would look at its Pods here.
fn observe(logger: &Logger) -> LoggerStatus {
    let replicas = logger.spec.replicas.unwrap_or(1);
    let state = if replicas > 0 { LoggerState::Available } else { LoggerState::Unavailable };
    let (status, reason) = match state {
        LoggerState::Available => ("True", "InstancesWriting"),
        LoggerState::Unavailable => ("False", "NoInstances"),
    };
    let before = logger.status.as_ref().and_then(|status| status.conditions.as_ref()?.first());
    let available = Condition {
        type_: "Available".to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: format!("{replicas} instances write every {} s", logger.spec.time_interval),
        observed_generation: logger.metadata.generation,
        last_transition_time: match before {
            Some(before) if before.status == status => before.last_transition_time.clone(),
            _ => Time(Timestamp::now()),
        },
    };
    LoggerStatus {
        state: Some(state),
        observed_generation: logger.metadata.generation,
        replicas: Some(replicas),
        selector: Some(format!("logger={}", logger.spec.name)),
        conditions: Some(vec![available]),
    }
}
