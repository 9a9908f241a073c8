//! Applies the ConfigMap of each Logger and reports the observed state.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client, Error, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        controller::Action,
        reflector::{ObjectRef, Store},
    },
};
use logger_types::v2::{Logger, LoggerState, LoggerStatus};
use serde_json::json;

/// The name of the controller and of its field manager.
const NAME: &str = "loggers";

/// What the reconciler needs besides the Logger.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) config_maps: Store<ConfigMap>,
}

/// Drives the ConfigMap and the status of a Logger towards its spec.
pub(crate) async fn reconcile(logger: Arc<Logger>, context: Arc<Context>) -> Result<Action, Error> {
    let (name, namespace) = (logger.name_any(), logger.namespace().unwrap_or_default());
    context.apply_config_map(&logger, &name, &namespace).await?;
    context.patch_status(&logger, &name, &namespace).await?;
    Ok(Action::await_change())
}

/// Retries a failed reconciliation.
pub(crate) fn retry(_: Arc<Logger>, _: &Error, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(1))
}

impl Context {
    /// Applies the ConfigMap unless the cached one is as desired.
    async fn apply_config_map(&self, logger: &Logger, name: &str, namespace: &str) -> Result<(), Error> {
        let data = data(logger);
        let cached = self.config_maps.get(&ObjectRef::new(name).within(namespace));
        if cached.is_some_and(|cached| cached.data.as_ref() == Some(&data) && is_owned(&cached, logger)) {
            return Ok(());
        }
        let config_map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                labels: Some(BTreeMap::from([("app.kubernetes.io/managed-by".to_owned(), NAME.to_owned())])),
                owner_references: logger.controller_owner_ref(&()).map(|owner| vec![owner]),
                ..ObjectMeta::default()
            },
            data: Some(data),
            ..ConfigMap::default()
        };
        let config_maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        config_maps.patch(name, &PatchParams::apply(NAME).force(), &Patch::Apply(&config_map)).await.map(drop)
    }

    /// Writes the status unless the cached one is as observed. A merge patch has no conflicts.
    async fn patch_status(&self, logger: &Logger, name: &str, namespace: &str) -> Result<(), Error> {
        let status = status(logger);
        if logger.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let loggers: Api<Logger> = Api::namespaced(self.client.clone(), namespace);
        let params = PatchParams { field_manager: Some(NAME.to_owned()), ..PatchParams::default() };
        loggers.patch_status(name, &params, &Patch::Merge(json!({ "status": status }))).await.map(drop)
    }
}

fn is_owned(config_map: &ConfigMap, logger: &Logger) -> bool {
    let uid = logger.metadata.uid.as_ref();
    config_map.owner_references().iter().any(|owner| owner.controller == Some(true) && Some(&owner.uid) == uid)
}

fn data(logger: &Logger) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("name".to_owned(), logger.spec.name.clone()),
        ("interval".to_owned(), logger.spec.interval.clone()),
        ("replicas".to_owned(), replicas(logger).to_string()),
    ])
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
