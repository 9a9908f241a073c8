//! Applies the ConfigMap of each Logger and reports the observed state.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apply::core_v1::ConfigMapApply;
use kubewright_runtime::{
    Controller, Error, ReconcileContext,
    controller::{Predicate, Watch},
    metrics::Metrics,
};
use logger_client::SharedInformerFactory;
use logger_types::v2::{Logger, LoggerState, LoggerStatus};

/// The number of concurrent reconciliations in all compared programs.
const WORKERS: usize = 4;

/// Creates the controller of Loggers, which owns ConfigMaps.
pub(crate) fn controller(informers: &SharedInformerFactory, metrics: Metrics) -> Controller {
    let loggers = Watch::new(&informers.example_v2().loggers()).with_predicate(Predicate::generation_changed());
    Controller::new("loggers", loggers)
        .owns(&informers.factory().informer::<ConfigMap>())
        .max_concurrent_reconciles(WORKERS)
        .metrics(metrics)
        .reconcile(reconcile)
        .build()
}

/// Drives the ConfigMap and the status of a Logger towards its spec.
async fn reconcile(logger: Arc<Logger>, ctx: ReconcileContext) -> Result<(), Error> {
    let config_map = ConfigMapApply::new(ctx.key().name(), ctx.key().namespace()).with_data(data(&logger));
    ctx.apply_owned(&*logger, config_map).await?;
    ctx.update_status(&*logger, |logger| logger.status = Some(status(logger))).await?;
    Ok(())
}

fn data(logger: &Logger) -> [(&'static str, String); 3] {
    [
        ("name", logger.spec.name.clone()),
        ("interval", logger.spec.interval.clone()),
        ("replicas", replicas(logger).to_string()),
    ]
}

fn status(logger: &Logger) -> LoggerStatus {
    let state = if replicas(logger) == 0 { LoggerState::Unavailable } else { LoggerState::Available };
    LoggerStatus {
        state: Some(state),
        observed_generation: logger.metadata.generation,
        replicas: Some(replicas(logger)),
        selector: Some(format!("logger={}", logger.spec.name)),
        ..LoggerStatus::default()
    }
}

fn replicas(logger: &Logger) -> i32 {
    logger.spec.replicas.unwrap_or(1)
}
