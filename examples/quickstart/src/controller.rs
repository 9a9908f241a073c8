//! A small controller on the generated client, which reports the observed state of each Logger in its status. Copy it
//! to start your own.

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use logger_client::{Clientset, informers::example_v1::LoggerInformer, listers::example_v1::LoggerLister};
use logger_core::DeepCopy;
use logger_runtime::{Action, Controller, ObjectKey, ReconcileError, Reconciler, kube::api::PostParams};
use logger_types::v1::{Logger, LoggerState, LoggerStatus};

const WORKERS: usize = 2;

/// Creates a controller that updates the status of every Logger on events of this informer.
pub(crate) fn controller(clientset: Clientset, loggers: &LoggerInformer) -> Controller {
    let reconciler = LoggerReconciler { clientset, loggers: loggers.lister() };
    Controller::for_informer("loggers", loggers).max_concurrent_reconciles(WORKERS).build(reconciler)
}

/// Reconciles Loggers.
struct LoggerReconciler {
    clientset: Clientset,
    loggers: LoggerLister,
}

impl Reconciler for LoggerReconciler {
    /// Updates the status if it differs from the observed state.
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, ReconcileError> {
        let Ok(logger) = self.loggers.namespace(key.namespace()).get(key.name()) else {
            return Ok(Action::Done); // deleted: there is no status to update
        };
        let status = observe(&logger);
        if logger.status.as_ref() == Some(&status) {
            return Ok(Action::Done);
        }
        let mut logger = logger.deep_copy();
        logger.status = Some(status);
        let loggers = self.clientset.example_v1().loggers(key.namespace());
        match loggers.update_status(&logger, &PostParams::default()).await {
            Err(error) if !error.is_not_found() => Err(error.into()), // requeued with back-off
            _ => Ok(Action::Done),                                    // updated, or deleted meanwhile
        }
    }
}

/// Returns the observed state of a Logger. A real controller would inspect its Pods here.
fn observe(logger: &Logger) -> LoggerStatus {
    let replicas = logger.spec.replicas.unwrap_or(1);
    let state = if replicas > 0 { LoggerState::Available } else { LoggerState::Unavailable };
    let (status, reason) = match state {
        LoggerState::Available => ("True", "InstancesWriting"),
        LoggerState::Unavailable => ("False", "NoInstances"),
    };
    let previous = logger.status.as_ref().and_then(|status| status.conditions.as_ref()?.first());
    let available = Condition {
        type_: "Available".to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: format!("{replicas} instances write every {} s", logger.spec.time_interval),
        observed_generation: logger.metadata.generation,
        last_transition_time: match previous {
            Some(previous) if previous.status == status => previous.last_transition_time.clone(),
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
