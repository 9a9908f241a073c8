//! The parts of the operator: its informers, its controller and the default Logger.

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    core::v1::{Pod, Service},
    networking::v1::NetworkPolicy,
    policy::v1::PodDisruptionBudget,
};
use kubewright_manager::{Operator, Replicas, Setup};
use kubewright_runtime::{
    ApiObject, Controller, InformerFactoryBuilder, ObjectKey, Store,
    controller::{Allow, MANAGED_BY_LABEL, Verb},
    informer::Config,
    kube::core::PartialObjectMeta,
};
use logger_client::Clientset;
use logger_types::v2::Logger;

use crate::{
    default_logger::DefaultLogger,
    metrics::LoggerMetrics,
    names::{AGENT, CONTROLLER, NAME_LABEL, controller_of, logger_of},
    observability,
    options::OperatorOptions,
    reconcile::{BY_LOGGER, State, forget, reconcile},
    webhooks::webhooks,
};

/// The definitions of the kinds, as `cargo xtask codegen` writes them.
pub const DEFINITIONS: &str = include_str!("definitions/example.com_loggers.yaml");

/// The namespace of the default Logger is not watched, so that the Logger would be created again and again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the namespace `{namespace}` of the default Logger is not watched; add it with `--namespace`")]
pub struct NamespaceNotWatched {
    /// The namespace.
    pub namespace: String,
}

/// Returns the operator: informers and events in every process, the controller and the default Logger in the leader.
pub fn operator() -> Operator<OperatorOptions> {
    Operator::with_options(CONTROLLER)
        .version(env!("CARGO_PKG_VERSION"))
        .about("Runs agents for Loggers, and reports their observed state")
        .definitions(DEFINITIONS)
        .informers(|builder, _| select_children(builder))
        .controller(controller)
        .configure(|manager, setup| {
            Ok::<_, NamespaceNotWatched>(match default_logger(setup)? {
                Some(default) => manager.add(Replicas::Leader, "default-logger", default),
                None => manager,
            })
        })
        .webhooks(|_| webhooks())
        .command("alerts", "Prints the alerts as a PrometheusRule", || {
            serde_saphyr::to_string(&observability::prometheus_rule())
        })
        .command("alert-groups", "Prints the groups of alerts, which is the format of Prometheus and promtool", || {
            serde_saphyr::to_string(&observability::prometheus_rule().spec)
        })
        .command("dashboard", "Prints the Grafana dashboard", || {
            serde_json::to_string_pretty(&observability::dashboard())
        })
}

/// Returns what ensures that the default Logger exists, if it is enabled.
fn default_logger(setup: &Setup<OperatorOptions>) -> Result<Option<DefaultLogger>, NamespaceNotWatched> {
    let (options, watched) = (setup.options(), setup.namespaces());
    if !options.ensure_default_logger {
        return Ok(None);
    }
    let namespace = options.default_namespace(watched);
    if !watched.is_empty() && !watched.contains(&namespace) {
        return Err(NamespaceNotWatched { namespace });
    }
    Ok(Some(DefaultLogger { loggers: setup.informer(), clientset: Clientset::new(setup.client().clone()), namespace }))
}

/// Returns the key of the Logger whose Deployment controls a ReplicaSet.
fn logger_of_replica_set(
    replica_set: &PartialObjectMeta<ReplicaSet>,
    deployments: &Store<Deployment>,
) -> Option<ObjectKey> {
    let namespace = replica_set.metadata.namespace.as_deref()?;
    let deployment = deployments.get(namespace, &controller_of(replica_set)?.name)?;
    Some(ObjectKey::namespaced(namespace, &controller_of(&*deployment)?.name))
}

/// Restricts the informers to the objects with the labels of the operator.
fn select_children(builder: InformerFactoryBuilder) -> InformerFactoryBuilder {
    let builder = select::<Deployment>(builder, MANAGED_BY_LABEL, CONTROLLER);
    let builder = select::<DaemonSet>(builder, MANAGED_BY_LABEL, CONTROLLER);
    let builder = select::<StatefulSet>(builder, MANAGED_BY_LABEL, CONTROLLER);
    let builder = select::<Service>(builder, MANAGED_BY_LABEL, CONTROLLER);
    let builder = select::<NetworkPolicy>(builder, MANAGED_BY_LABEL, CONTROLLER);
    let builder = select::<PodDisruptionBudget>(builder, MANAGED_BY_LABEL, CONTROLLER);
    let builder = select::<PartialObjectMeta<ReplicaSet>>(builder, NAME_LABEL, AGENT);
    select::<Pod>(builder, NAME_LABEL, AGENT)
}

/// Restricts the informer of a kind to objects with this label.
fn select<K: ApiObject>(builder: InformerFactoryBuilder, label: &str, value: &str) -> InformerFactoryBuilder {
    let selector = format!("{label}={value}");
    builder.configure(move |config: Config<K>| config.reflector(|reflector| reflector.labels(selector.clone())))
}

fn controller(setup: &Setup<OperatorOptions>) -> Controller {
    let pods = setup.indexed_informer::<Pod>(&[BY_LOGGER]);
    let replica_sets = setup.metadata_informer::<ReplicaSet>();
    let deployments = setup.informer::<Deployment>();
    let deployed = deployments.store();
    let state = State {
        agent: setup.options().agent(setup.client().default_namespace()),
        pods: pods.store(),
        replica_sets: replica_sets.store(),
        recorder: setup.recorder().clone(),
        metrics: LoggerMetrics::new(setup.metrics().clone()),
    };
    setup
        .controller::<Logger>(CONTROLLER)
        .owns(&deployments)
        .owns(&setup.informer::<DaemonSet>())
        .owns(&setup.informer::<StatefulSet>())
        .owns(&setup.informer::<Service>())
        .owns(&setup.informer::<NetworkPolicy>())
        .owns(&setup.informer::<PodDisruptionBudget>())
        .watches(&pods, logger_of)
        .watches(&replica_sets, move |replica_set| logger_of_replica_set(replica_set, &deployed))
        .allow(Allow::<Logger>::verbs([Verb::Patch]).status())
        .max_concurrent_reconciles(setup.options().max_concurrent_reconciles)
        .reconcile_with(|_| state, reconcile)
        .on_deleted(forget)
        .build()
}
