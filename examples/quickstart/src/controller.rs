//! A small controller on the generated client: it observes each Logger and reports in its status. Copy it to start your own.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use logger_client::Clientset;
use logger_client::informers::example_v1::LoggerInformer;
use logger_client::listers::example_v1::LoggerLister;
use logger_core::DeepCopy;
use logger_runtime::kube::api::PostParams;
use logger_runtime::{Action, Controller, ObjectKey, ReconcileError, Reconciler};
use logger_types::v1::{Logger, LoggerState, LoggerStatus};

const WORKERS: usize = 2;

/// A controller that keeps the status of every Logger true. It hears of changes through this informer.
pub(crate) fn controller(clientset: Clientset, loggers: &LoggerInformer) -> Controller {
    let reporter = Reporter { clientset, loggers: loggers.lister() };
    Controller::for_informer("loggers", loggers).workers(WORKERS).build(reporter)
}

/// Reports on Loggers.
struct Reporter {
    clientset: Clientset,
    loggers: LoggerLister,
}

impl Reconciler for Reporter {
    /// Compares what is observed with what is reported, and reports anew if they differ.
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, ReconcileError> {
        let Ok(logger) = self.loggers.namespace(key.namespace()).get(key.name()) else {
            return Ok(Action::Done); // deleted: nothing is left to report on
        };
        let status = observe(&logger);
        if logger.status.as_ref() == Some(&status) {
            return Ok(Action::Done);
        }
        let mut logger = logger.deep_copy();
        logger.status = Some(status);
        let loggers = self.clientset.example_v1().loggers(key.namespace());
        match loggers.update_status(&logger, &PostParams::default()).await {
            Err(error) if !error.is_not_found() => Err(error.into()), // it comes again, soon
            _ => Ok(Action::Done),                                    // reported, or deleted meanwhile
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
