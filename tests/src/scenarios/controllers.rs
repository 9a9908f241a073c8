//! One controller, on this project's runtime and on kube's: it reconciles the status and a child object, and cleans up
//! with a finalizer.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{Controller as KubeController, controller::Action as KubeAction, wait::await_condition, watcher},
};
use kubewright_apply::core_v1::ConfigMapApply;
use kubewright_runtime::{
    Action, CancellationToken, Controller, Error, ObjectKey, ReconcileContext, ReconcileError, Reconciler,
    controller::FinalizerEvent,
};
use logger_client::{Clientset, SharedInformerFactory};
use logger_types::v2::{Logger, LoggerState};
use serde_json::{Value, json};

use crate::{logger, namespace};

const TIMEOUT: Duration = Duration::from_secs(30);
const FINALIZER: &str = "example.com/close";

/// The reconciliation of both controllers.
#[derive(Clone)]
struct LoggerReconciler {
    loggers: Api<Logger>,
    config_maps: Api<ConfigMap>,
}

impl LoggerReconciler {
    fn new(client: &Client, namespace: &str) -> Self {
        let (loggers, config_maps) = (client.clone(), client.clone());
        Self { loggers: Api::namespaced(loggers, namespace), config_maps: Api::namespaced(config_maps, namespace) }
    }

    /// Reconciles a Logger: its child ConfigMap, its status and its finalizer.
    async fn reconcile_logger(&self, name: &str) -> Result<(), kube::Error> {
        let Some(logger) = self.loggers.get_opt(name).await? else { return Ok(()) };
        if logger.metadata.deletion_timestamp.is_some() {
            self.config_maps.delete(name, &DeleteParams::default()).await.map(drop).or_else(ignore_not_found)?;
            return self.apply(&logger, json!([])).await.or_else(ignore_not_found);
        }
        self.apply(&logger, json!([FINALIZER])).await?;
        let owner = logger.controller_owner_ref(&()).expect("a stored object has a uid");
        let child = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "ownerReferences": [owner] },
            "data": { "interval": logger.spec.interval },
        });
        self.config_maps.patch(name, &manager(), &Patch::Apply(&child)).await?;
        let status = json!({ "state": "Available", "replicas": logger.spec.replicas.unwrap_or(1) });
        let status = configuration(&logger, "status", status);
        self.loggers.patch_status(name, &manager(), &Patch::Apply(&status)).await.map(drop)
    }

    async fn apply(&self, logger: &Logger, finalizers: Value) -> Result<(), kube::Error> {
        let applied = configuration(logger, "metadata", json!({ "name": logger.name_any(), "finalizers": finalizers }));
        self.loggers.patch(&logger.name_any(), &manager(), &Patch::Apply(&applied)).await.map(drop)
    }
}

fn manager() -> PatchParams {
    PatchParams::apply("reconciler").force()
}

fn configuration(logger: &Logger, field: &str, value: Value) -> Value {
    let mut configuration = json!({
        "apiVersion": Logger::api_version(&()), "kind": Logger::kind(&()), "metadata": { "name": logger.name_any() },
    });
    configuration[field] = value;
    configuration
}

/// Ignores that an object is already deleted.
fn ignore_not_found(error: kube::Error) -> Result<(), kube::Error> {
    match error {
        kube::Error::Api(status) if status.is_not_found() => Ok(()),
        error => Err(error),
    }
}

impl Reconciler for LoggerReconciler {
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, ReconcileError> {
        self.reconcile_logger(key.name()).await?;
        Ok(Action::Done)
    }
}

pub(super) async fn a_controller_reconciles_status_child_and_finalizer(client: Client) {
    let namespace = namespace(&client, "controller").await;
    let clientset = Clientset::new(client.clone());
    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let informer = factory.example_v2().loggers();
    let reconciler = LoggerReconciler::new(&client, &namespace);
    let controller = Controller::new("reconciler", &informer).max_concurrent_reconciles(2).build(reconciler.clone());
    let stop = CancellationToken::new();
    factory.start();
    factory.wait_for_sync(TIMEOUT).await.unwrap();
    let running = tokio::spawn(controller.run(stop.clone()));
    exercise_controller(&reconciler).await;
    stop.cancel();
    running.await.unwrap().unwrap();
    factory.shutdown().await;
}

/// The same reconciliation of an object, with the context of the controller.
async fn reconcile_object(logger: Arc<Logger>, ctx: ReconcileContext) -> Result<Action, ReconcileError> {
    ctx.finalize(FINALIZER, logger, async |event| {
        let logger = match event {
            FinalizerEvent::Apply(logger) => logger,
            FinalizerEvent::Cleanup(logger) => {
                ctx.prune_owned::<_, ConfigMap>(&*logger, &[]).await?;
                return Ok::<_, Error>(Action::Done);
            }
        };
        let interval = logger.spec.interval.clone();
        let child = ConfigMapApply::new(ctx.key().name(), ctx.key().namespace()).with_data([("interval", interval)]);
        ctx.apply_owned(&*logger, child).await?;
        ctx.update_status(&*logger, |logger| {
            let status = logger.status.get_or_insert_default();
            (status.state, status.replicas) = (Some(LoggerState::Available), Some(logger.spec.replicas.unwrap_or(1)));
        })
        .await?;
        Ok(Action::Done)
    })
    .await
}

pub(super) async fn a_controller_of_objects_reconciles_status_child_and_finalizer(client: Client) {
    let namespace = namespace(&client, "object-controller").await;
    let clientset = Clientset::new(client.clone());
    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let config_maps = factory.factory().informer::<ConfigMap>();
    let controller = Controller::new("object-reconciler", &factory.example_v2().loggers())
        .owns(&config_maps)
        .max_concurrent_reconciles(2)
        .start_factory(factory.factory())
        .reconcile(reconcile_object)
        .build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(controller.run(stop.clone()));
    exercise_controller(&LoggerReconciler::new(&client, &namespace)).await;
    stop.cancel();
    running.await.unwrap().unwrap();
    factory.shutdown().await;
}

pub(super) async fn kubes_controller_reconciles_status_child_and_finalizer(client: Client) {
    let namespace = namespace(&client, "kubes-controller").await;
    let reconciler = LoggerReconciler::new(&client, &namespace);
    let controller = KubeController::new(reconciler.loggers.clone(), watcher::Config::default())
        .owns(reconciler.config_maps.clone(), watcher::Config::default())
        .run(
            |logger: Arc<Logger>, reconciler: Arc<LoggerReconciler>| async move {
                reconciler.reconcile_logger(&logger.name_any()).await?;
                Ok::<_, kube::Error>(KubeAction::await_change())
            },
            |_, _, _| KubeAction::requeue(Duration::from_millis(50)),
            Arc::new(reconciler.clone()),
        );
    let running = tokio::spawn(controller.for_each(|_| async {}));
    exercise_controller(&reconciler).await;
    running.abort();
}

/// Creates, scales and deletes Loggers while a controller runs, and waits for their reconciled state.
async fn exercise_controller(reconciler: &LoggerReconciler) {
    let names = ["audit", "access", "debug"];
    for name in names {
        reconciler.loggers.create(&PostParams::default(), &logger(name)).await.unwrap();
    }
    for name in names {
        wait_until(reconciler, name, |logger| replicas(logger) == Some(1)).await;
        let child = reconciler.config_maps.get(name).await.unwrap();
        let owner = &child.owner_references()[0];
        assert_eq!((owner.kind.as_str(), child.data.as_ref().unwrap()["interval"].as_str()), ("Logger", "1m"));
    }
    let scale = json!({ "spec": { "replicas": 3 } });
    reconciler.loggers.patch_scale("audit", &PatchParams::default(), &Patch::Merge(&scale)).await.unwrap();
    wait_until(reconciler, "audit", |logger| replicas(logger) == Some(3)).await;
    for name in names {
        reconciler.loggers.delete(name, &DeleteParams::default()).await.unwrap();
        let gone = await_condition(reconciler.loggers.clone(), name, |logger: Option<&Logger>| logger.is_none());
        tokio::time::timeout(TIMEOUT, gone).await.expect("the controller removes the finalizer").unwrap();
    }
    assert!(reconciler.config_maps.get_opt("audit").await.unwrap().is_none(), "the child is deleted first");
}

fn replicas(logger: &Logger) -> Option<i32> {
    let status = logger.status.as_ref().filter(|status| status.state == Some(LoggerState::Available))?;
    status.replicas
}

/// Waits until a Logger fulfils a condition.
async fn wait_until(reconciler: &LoggerReconciler, name: &str, holds: impl Fn(&Logger) -> bool) {
    let condition = move |logger: Option<&Logger>| logger.is_some_and(&holds);
    let reached = await_condition(reconciler.loggers.clone(), name, condition);
    tokio::time::timeout(TIMEOUT, reached).await.expect("the controller reconciles the Logger").unwrap();
}
