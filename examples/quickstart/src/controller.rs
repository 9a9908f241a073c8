//! A small controller on the generated client, which reports the observed state of each Logger in its status. Copy it
//! to start your own.

use std::sync::Arc;

use kubewright_core::{Conditions, new_condition};
use kubewright_runtime::{Controller, Error, ReconcileContext};
use logger_client::informers::example_v2::LoggerInformer;
use logger_types::v2::{Logger, LoggerState, LoggerStatus};

const WORKERS: usize = 2;

/// Creates a controller that updates the status of every Logger on events of this informer.
pub(crate) fn controller(loggers: &LoggerInformer) -> Controller {
    let builder = Controller::new("loggers", loggers).max_concurrent_reconciles(WORKERS);
    builder.reconcile(reconcile).build()
}

/// Updates the status if it differs from the observed state. Errors are retried with back-off.
async fn reconcile(logger: Arc<Logger>, ctx: ReconcileContext) -> Result<(), Error> {
    ctx.update_status(&*logger, |logger| logger.status = Some(observe(logger))).await?;
    Ok(())
}

/// Returns the observed state of a Logger. A real controller would inspect its Pods here.
fn observe(logger: &Logger) -> LoggerStatus {
    let replicas = logger.spec.replicas.unwrap_or(1);
    let (state, reason) = match replicas {
        0 => (LoggerState::Unavailable, "NoInstances"),
        _ => (LoggerState::Available, "InstancesWriting"),
    };
    let message = format!("{replicas} instances write every {}", logger.spec.interval);
    let mut conditions = logger.status.as_ref().and_then(|status| status.conditions.clone());
    conditions.set_condition(new_condition(&logger.metadata, "Available", replicas > 0, reason, message));
    LoggerStatus {
        state: Some(state),
        observed_generation: logger.metadata.generation,
        desired_replicas: Some(replicas),
        ready_replicas: Some(replicas),
        selector: Some(format!("logger={}", logger.spec.name)),
        conditions,
        ..LoggerStatus::default()
    }
}
