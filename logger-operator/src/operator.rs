//! The operator in a manager: its informers, its controller, its events and the default Logger.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, StatefulSet},
    core::v1::{Pod, Service},
    policy::v1::PodDisruptionBudget,
};
use kubewright_manager::{ManagerBuilder, Replicas};
use kubewright_runtime::{
    ApiObject, Controller, EventRecorder, InformerFactoryBuilder,
    controller::{Allow, MANAGED_BY_LABEL, Verb},
    events::{EventConfig, InvalidControllerName},
    informer::Config,
    metrics::MetricsProvider,
};
use logger_client::{Clientset, SharedInformerFactory};
use logger_types::v2::Logger;

use crate::{
    default_logger::DefaultLogger,
    metrics::LoggerMetrics,
    names::{AGENT, CONTROLLER, NAME_LABEL, logger_of},
    options::OperatorOptions,
    reconcile::{BY_LOGGER, State, forget, reconcile},
};

/// The reason why the operator cannot be added to a manager.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The default Logger would be in a namespace that is not watched, so that it would be created again and again.
    #[error("the namespace `{namespace}` of the default Logger is not watched; add it with `--namespace`")]
    NamespaceNotWatched {
        /// The namespace.
        namespace: String,
    },
    /// The name of the controller is rejected.
    #[error(transparent)]
    Events(#[from] InvalidControllerName),
}

/// Adds the operator to a manager: informers and events in every process, the controller and the default Logger in the
/// leader. Its requests are sent with the client of the manager.
///
/// # Errors
/// Fails if the namespace of the default Logger is not watched, or if the name of the controller is rejected.
pub fn add_to(
    manager: ManagerBuilder,
    options: &OperatorOptions,
    metrics: Arc<dyn MetricsProvider>,
) -> Result<ManagerBuilder, OperatorError> {
    let clientset = Clientset::new(manager.client().clone());
    let default_logger = default_namespace(options)?;
    let factory = factory(&clientset, options, &metrics);
    let config = EventConfig::default().metrics(Arc::clone(&metrics));
    let (recorder, worker) = EventRecorder::new(clientset.client().clone(), CONTROLLER, config)?;
    let loggers = factory.example_v2().loggers();
    let controller = controller(&factory, options, recorder, metrics);
    let manager = manager
        .add(Replicas::All, "informers", factory.factory().clone())
        .add(Replicas::All, "events", worker)
        .add(Replicas::Leader, "loggers", controller);
    Ok(match default_logger {
        Some(namespace) => {
            manager.add(Replicas::Leader, "default-logger", DefaultLogger { loggers, clientset, namespace })
        }
        None => manager,
    })
}

/// Returns the namespace of the default Logger, if one is kept in existence.
fn default_namespace(options: &OperatorOptions) -> Result<Option<String>, OperatorError> {
    if !options.ensure_default_logger {
        return Ok(None);
    }
    let (namespace, watched) = (options.default_namespace(), options.watched_namespaces());
    match watched.is_empty() || watched.contains(&namespace) {
        true => Ok(Some(namespace)),
        false => Err(OperatorError::NamespaceNotWatched { namespace }),
    }
}

/// Creates the informers: of Loggers, and of the objects with the labels of the operator.
fn factory(
    clientset: &Clientset,
    options: &OperatorOptions,
    metrics: &Arc<dyn MetricsProvider>,
) -> SharedInformerFactory {
    let metrics = Arc::clone(metrics);
    SharedInformerFactory::with(clientset, |builder| {
        let builder = builder
            .namespaces(options.watched_namespaces())
            .defaults(|config| config.reflector(|reflector| reflector.metrics(metrics)));
        let builder = select::<Deployment>(builder, MANAGED_BY_LABEL, CONTROLLER);
        let builder = select::<DaemonSet>(builder, MANAGED_BY_LABEL, CONTROLLER);
        let builder = select::<StatefulSet>(builder, MANAGED_BY_LABEL, CONTROLLER);
        let builder = select::<Service>(builder, MANAGED_BY_LABEL, CONTROLLER);
        let builder = select::<PodDisruptionBudget>(builder, MANAGED_BY_LABEL, CONTROLLER);
        select::<Pod>(builder, NAME_LABEL, AGENT)
    })
}

/// Restricts the informer of a kind to objects with this label.
fn select<K: ApiObject>(builder: InformerFactoryBuilder, label: &str, value: &str) -> InformerFactoryBuilder {
    let selector = format!("{label}={value}");
    builder.configure(move |config: Config<K>| config.reflector(|reflector| reflector.labels(selector.clone())))
}

fn controller(
    factory: &SharedInformerFactory,
    options: &OperatorOptions,
    recorder: EventRecorder,
    metrics: Arc<dyn MetricsProvider>,
) -> Controller {
    let kinds = factory.factory();
    let pods = kinds.indexed_informer::<Pod>(&[BY_LOGGER]);
    let state = State {
        agent: options.agent(),
        pods: pods.store(),
        recorder,
        metrics: LoggerMetrics::new(Arc::clone(&metrics)),
    };
    Controller::new(CONTROLLER, &factory.example_v2().loggers())
        .owns(&kinds.informer::<Deployment>())
        .owns(&kinds.informer::<DaemonSet>())
        .owns(&kinds.informer::<StatefulSet>())
        .owns(&kinds.informer::<Service>())
        .owns(&kinds.informer::<PodDisruptionBudget>())
        .watches(&pods, logger_of)
        .allow(Allow::<Logger>::verbs([Verb::Patch]).status())
        .max_concurrent_reconciles(options.max_concurrent_reconciles)
        .metrics(metrics)
        .reconcile_with(|_| state, reconcile)
        .on_deleted(forget)
        .build()
}
