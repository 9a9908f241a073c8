//! A controller, on this project's runtime and on kube's: it keeps a status true, a child there, and cleans up.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action as KubeAction;
use kube::runtime::wait::await_condition;
use kube::runtime::{Controller as KubeController, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use logger_client::{Clientset, SharedInformerFactory};
use logger_runtime::{Action, CancellationToken, Controller, ObjectKey, ReconcileError, Reconciler};
use logger_types::v1::{Logger, LoggerState};
use serde_json::{Value, json};

use crate::{logger, namespace};

const PATIENCE: Duration = Duration::from_secs(30);
const FINALIZER: &str = "example.com/close";

/// What both controllers do.
#[derive(Clone)]
struct Keeper {
    loggers: Api<Logger>,
    config_maps: Api<ConfigMap>,
}

impl Keeper {
    fn of(client: &Client, namespace: &str) -> Self {
        let (loggers, config_maps) = (client.clone(), client.clone());
        Self { loggers: Api::namespaced(loggers, namespace), config_maps: Api::namespaced(config_maps, namespace) }
    }

    /// Makes true what a Logger says, and lets it go when it goes.
    async fn keep(&self, name: &str) -> Result<(), kube::Error> {
        let Some(logger) = self.loggers.get_opt(name).await? else { return Ok(()) };
        if logger.metadata.deletion_timestamp.is_some() {
            self.config_maps.delete(name, &DeleteParams::default()).await.map(drop).or_else(gone)?;
            return self.apply(&logger, json!([])).await.or_else(gone);
        }
        self.apply(&logger, json!([FINALIZER])).await?;
        let owner = logger.controller_owner_ref(&()).expect("it is stored");
        let child = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "ownerReferences": [owner] },
            "data": { "interval": logger.spec.time_interval.to_string() },
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
    PatchParams::apply("keeper").force()
}

fn configuration(logger: &Logger, field: &str, value: Value) -> Value {
    let mut configuration = json!({
        "apiVersion": Logger::api_version(&()), "kind": Logger::kind(&()), "metadata": { "name": logger.name_any() },
    });
    configuration[field] = value;
    configuration
}

/// What is gone already need not be done.
fn gone(error: kube::Error) -> Result<(), kube::Error> {
    match error {
        kube::Error::Api(status) if status.is_not_found() => Ok(()),
        error => Err(error),
    }
}

impl Reconciler for Keeper {
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, ReconcileError> {
        self.keep(key.name()).await?;
        Ok(Action::Done)
    }
}

pub(super) async fn a_controller_keeps_what_it_is_for(client: Client) {
    let namespace = namespace(&client, "controller").await;
    let clientset = Clientset::new(client.clone());
    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let informer = factory.example_v1().loggers();
    let keeper = Keeper::of(&client, &namespace);
    let controller = Controller::for_informer("keeper", &informer).workers(2).build(keeper.clone());
    let stop = CancellationToken::new();
    factory.start();
    factory.wait_for_sync(PATIENCE).await.unwrap();
    let running = tokio::spawn(controller.run(stop.clone()));
    loggers_live_and_go(&keeper).await;
    stop.cancel();
    running.await.unwrap().unwrap();
    factory.shutdown().await;
}

pub(super) async fn kubes_controller_keeps_what_it_is_for(client: Client) {
    let namespace = namespace(&client, "kubes-controller").await;
    let keeper = Keeper::of(&client, &namespace);
    let controller = KubeController::new(keeper.loggers.clone(), watcher::Config::default())
        .owns(keeper.config_maps.clone(), watcher::Config::default())
        .run(
            |logger: Arc<Logger>, keeper: Arc<Keeper>| async move {
                keeper.keep(&logger.name_any()).await?;
                Ok::<_, kube::Error>(KubeAction::await_change())
            },
            |_, _, _| KubeAction::requeue(Duration::from_millis(50)),
            Arc::new(keeper.clone()),
        );
    let running = tokio::spawn(controller.for_each(|_| async {}));
    loggers_live_and_go(&keeper).await;
    running.abort();
}

/// Loggers are made, scaled and deleted while a controller runs, and are as it makes them.
async fn loggers_live_and_go(keeper: &Keeper) {
    let names = ["audit", "access", "debug"];
    for name in names {
        keeper.loggers.create(&PostParams::default(), &logger(name)).await.unwrap();
    }
    for name in names {
        until(keeper, name, |logger| replicas(logger) == Some(1)).await;
        let child = keeper.config_maps.get(name).await.unwrap();
        let owner = &child.owner_references()[0];
        assert_eq!((owner.kind.as_str(), child.data.as_ref().unwrap()["interval"].as_str()), ("Logger", "60"));
    }
    let scale = json!({ "spec": { "replicas": 3 } });
    keeper.loggers.patch_scale("audit", &PatchParams::default(), &Patch::Merge(&scale)).await.unwrap();
    until(keeper, "audit", |logger| replicas(logger) == Some(3)).await;
    for name in names {
        keeper.loggers.delete(name, &DeleteParams::default()).await.unwrap();
        let gone = await_condition(keeper.loggers.clone(), name, |logger: Option<&Logger>| logger.is_none());
        tokio::time::timeout(PATIENCE, gone).await.expect("the controller lets it go").unwrap();
    }
    assert!(keeper.config_maps.get_opt("audit").await.unwrap().is_none(), "the child went first");
}

fn replicas(logger: &Logger) -> Option<i32> {
    let status = logger.status.as_ref().filter(|status| status.state == Some(LoggerState::Available))?;
    status.replicas
}

/// Waits until a Logger is as it should be.
async fn until(keeper: &Keeper, name: &str, is: impl Fn(&Logger) -> bool) {
    let condition = move |logger: Option<&Logger>| logger.is_some_and(&is);
    let reached = await_condition(keeper.loggers.clone(), name, condition);
    tokio::time::timeout(PATIENCE, reached).await.expect("the controller acts").unwrap();
}
