//! The operators of both libraries on an API server in memory do the same.

use std::time::Duration;

use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    events::v1::Event,
};
use kube::{
    Api, Client, CustomResourceExt, Resource, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
    runtime::wait::{await_condition, conditions::is_deleted},
};
use kubewright::{
    Conditions, Controller, Operator, Setup, codegen, fake::ApiServer, manager::BoxError, serde_json::json,
};
use serde::de::DeserializeOwned;
use tokio::{task::JoinSet, time::timeout};

use crate::{
    buckets::Buckets,
    events, finalizer,
    kind::{self, App},
    plain_kube, references,
};

/// A deadline for what an operator does, in paused time.
const DEADLINE: Duration = Duration::from_secs(60);

const SECRET: &str = "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: x}}";
const CONFIG_MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}}";
const APP: &str = "{apiVersion: tasks.example.com/v1, kind: App, metadata: {name: a, namespace: x}, \
                   spec: {image: 'app:1', secret: s, config: c}}";

/// Returns a server with an App, and with the CRD that kubewright generates.
pub(crate) fn server() -> Result<ApiServer, BoxError> {
    let server = ApiServer::new();
    server.load_yaml(&codegen::definitions(&[kind::API_GROUP])?)?;
    server.load_yaml(APP)?;
    Ok(server)
}

/// Checks what an operator of kubewright does.
async fn ours(
    controller: impl Fn(&Setup) -> Controller + Send + Sync + 'static,
    check: impl AsyncFnOnce(ApiServer) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let server = server()?;
    let running = Operator::new("apps").controller(controller).start(&server.client())?;
    timeout(DEADLINE, check(server)).await??;
    running.stop().await
}

/// Checks what an operator of plain kube does, with the CRD of kube.
async fn plain<F: Future<Output = ()> + Send + 'static>(
    run: impl FnOnce(Client) -> F,
    check: impl AsyncFnOnce(ApiServer) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let server = ApiServer::new();
    server.load(&plain_kube::kind::App::crd())?;
    server.load_yaml(APP)?;
    let mut running = JoinSet::new();
    running.spawn(run(server.client()));
    timeout(DEADLINE, check(server)).await?
}

#[tokio::test(start_paused = true)]
async fn the_condition_is_set() -> Result<(), BoxError> {
    async fn check(server: ApiServer) -> Result<(), BoxError> {
        has_condition(&server, "Accepted", "True", "Checked").await
    }
    ours(kind::controller, check).await?;
    plain(plain_kube::kind::run, check).await
}

#[tokio::test(start_paused = true)]
async fn referenced_objects_are_annotated_also_if_they_are_created_later() -> Result<(), BoxError> {
    async fn check(server: ApiServer) -> Result<(), BoxError> {
        // The first reconciliations find neither object.
        tokio::time::sleep(DEADLINE / 10).await;
        server.load_yaml(SECRET)?;
        is_annotated::<Secret>(&server, "s").await?;
        server.load_yaml(CONFIG_MAP)?;
        is_annotated::<ConfigMap>(&server, "c").await
    }
    ours(references::controller, check).await?;
    plain(plain_kube::references::run, check).await
}

#[tokio::test(start_paused = true)]
async fn a_changed_condition_is_an_event() -> Result<(), BoxError> {
    async fn check(server: ApiServer) -> Result<(), BoxError> {
        has_condition(&server, "Pinned", "False", "Tag").await?;
        has_event(&server, "Tag").await?;
        let pinned = Patch::Merge(json!({"spec": {"image": "app@sha256:1"}}));
        api::<App>(&server).patch("a", &PatchParams::default(), &pinned).await?;
        has_condition(&server, "Pinned", "True", "Digest").await?;
        has_event(&server, "Digest").await
    }
    ours(events::controller, check).await?;
    plain(plain_kube::events::run, check).await
}

#[tokio::test(start_paused = true)]
async fn the_bucket_is_deleted_before_the_app() -> Result<(), BoxError> {
    async fn check(server: ApiServer, buckets: &Buckets) -> Result<(), BoxError> {
        let apps = api::<App>(&server);
        while !buckets.contains("a") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let app = apps.get("a").await?;
        assert_eq!(app.finalizers(), ["example.com/bucket"]);
        apps.delete("a", &DeleteParams::default()).await?;
        await_condition(apps, "a", is_deleted(&app.uid().ok_or("an App has a UID")?)).await?;
        assert!(!buckets.contains("a"), "the App is deleted, and its bucket exists");
        Ok(())
    }
    let (of_ours, of_plain) = (Buckets::default(), Buckets::default());
    let buckets = of_ours.clone();
    let controller = move |setup: &Setup| finalizer::controller(setup, buckets.clone());
    ours(controller, async |server| check(server, &of_ours).await).await?;
    let run = |client| plain_kube::finalizer::run(client, of_plain.clone());
    plain(run, async |server| check(server, &of_plain).await).await
}

fn api<K>(server: &ApiServer) -> Api<K>
where
    K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
{
    Api::namespaced(server.client(), "x")
}

/// Waits until the App has a condition of the first generation or a later one.
async fn has_condition(server: &ApiServer, type_: &str, status: &str, reason: &str) -> Result<(), BoxError> {
    let is_set = |app: Option<&App>| {
        let Some(app) = app else { return false };
        let condition = app.status.as_ref().and_then(|status| status.conditions.condition(type_));
        condition.is_some_and(|condition| {
            let is_current = condition.observed_generation == app.metadata.generation;
            is_current && condition.status == status && condition.reason == reason
        })
    };
    await_condition(api::<App>(server), "a", is_set).await?;
    Ok(())
}

/// Waits until an object has the annotation with the name of the App.
async fn is_annotated<K>(server: &ApiServer, name: &str) -> Result<(), BoxError>
where
    K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    K: Clone + std::fmt::Debug + DeserializeOwned + Send + 'static,
{
    let is_annotated = |object: Option<&K>| {
        object.and_then(|object| object.annotations().get("tasks.example.com/used-by")).is_some_and(|user| user == "a")
    };
    await_condition(api::<K>(server), name, is_annotated).await?;
    Ok(())
}

/// Waits until there is an event about the App.
async fn has_event(server: &ApiServer, reason: &str) -> Result<(), BoxError> {
    loop {
        let events = api::<Event>(server).list(&ListParams::default()).await?;
        let is_about = |event: &Event| event.regarding.as_ref().is_some_and(|app| app.name.as_deref() == Some("a"));
        if events.iter().any(|event| is_about(event) && event.reason.as_deref() == Some(reason)) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
