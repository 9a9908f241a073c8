//! The writes of a context: applies and status updates that change nothing, owned objects, and reconcile loops.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
};
use kubewright_apiserver::{Faults, Requests, Verb};
use kubewright_apply::{core_v1::SecretApply, rbac_v1::ClusterRoleApply};
use kubewright_runtime::{
    Error, SharedInformer,
    controller::{Controller, MANAGED_BY_LABEL, ReconcileContext},
};
use serde_json::json;

use crate::{
    fixture::{Fixture, Recorder, Running, recorder, server},
    log::LOG,
};

/// Applies a Secret for each entry of the ConfigMap, and prunes the others.
async fn reconcile_secrets(
    config_map: Arc<ConfigMap>,
    context: ReconcileContext<Recorder<usize>>,
) -> Result<(), Error> {
    let mut secrets = Vec::new();
    for (entry, text) in config_map.data.iter().flatten() {
        let name = format!("{}-{entry}", context.key().name());
        let secret = SecretApply::new(name, context.key().namespace()).with_string_data([("text", text)]);
        secrets.push(context.apply_owned(&*config_map, secret).await?);
    }
    context.record(context.prune_owned(&*config_map, &secrets).await?);
    Ok(())
}

fn run_secrets(fixture: &Fixture, recorder: Recorder<usize>) -> Running {
    let builder = Controller::new("secrets", &fixture.config_maps).owns(&fixture.secrets);
    Running::new(builder.reconcile_with(|_| recorder, reconcile_secrets).build())
}

#[tokio::test(start_paused = true)]
async fn owned_objects_are_applied_and_pruned() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let running = run_secrets(&fixture, recorder);
    let owner: ConfigMap = fixture.create("a", json!({"data": {"x": "1", "y": "2"}})).await;
    assert_eq!(records.next().await, 0);
    let foreign = json!({"metadata": {"labels": {MANAGED_BY_LABEL: "another"}, "ownerReferences": [{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": owner.metadata.uid, "controller": true,
    }]}});
    fixture.create::<Secret>("foreign", foreign).await;
    while records.next().await > 0 {}
    let secret = fixture.api::<Secret>().get("a-x").await.unwrap();
    let reference = &secret.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!((reference.name.as_str(), reference.controller), ("a", Some(true)));
    assert_eq!(secret.metadata.labels.unwrap()[MANAGED_BY_LABEL], "secrets");
    assert_eq!(secret.metadata.managed_fields.unwrap()[0].manager.as_deref(), Some("secrets"));
    fixture.patch::<ConfigMap>("a", json!({"data": {"y": null}})).await;
    while records.next().await == 0 {}
    let all = fixture.api::<Secret>().list(&Default::default()).await.unwrap();
    let names: Vec<_> = all.items.iter().filter_map(|secret| secret.metadata.name.as_deref()).collect();
    assert_eq!(names, ["a-x", "foreign"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_namespaced_owner_of_an_object_outside_its_namespace_is_rejected() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let reconcile = |config_map: Arc<ConfigMap>, context: ReconcileContext<Recorder<String>>| async move {
        let error = context.apply_owned(&*config_map, SecretApply::new("a", "kube-system")).await.unwrap_err();
        assert!(error.is_invalid_owner() && error.kube_error().is_none());
        context.record(error.to_string());
        let error = context.apply_owned(&*config_map, ClusterRoleApply::new("a")).await.unwrap_err();
        assert!(error.is_invalid_owner() && error.kube_error().is_none());
        context.record(error.to_string());
        let error = context.prune_owned::<_, Deployment>(&*config_map, &[]).await.unwrap_err();
        context.record(error.to_string());
        Ok::<_, Error>(())
    };
    let builder = Controller::new("test", &fixture.config_maps);
    let running = Running::new(builder.reconcile_with(|_| recorder, reconcile).build());
    fixture.config_map("a").await;
    assert_eq!(
        records.next().await,
        "cannot apply secrets `a`: an owner must be in the namespace of the object or cluster-scoped, and the owner is in \
         namespace `default`"
    );
    assert_eq!(
        records.next().await,
        "cannot apply clusterroles.rbac.authorization.k8s.io `a`: a cluster-scoped object cannot have a namespaced owner, \
         and the owner is in namespace `default`; use a finalizer of the owner to delete it"
    );
    assert_eq!(
        records.next().await,
        "cannot delete deployments.apps: the controller does not watch them; add their informer with `owns`"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_apply_that_changes_nothing_is_not_sent() {
    let faults = Faults::new();
    let fixture = Fixture::with_client(server().client_with(faults.layer()));
    fixture.factory.start();
    let (recorder, mut records) = recorder();
    let running = run_secrets(&fixture, recorder);
    let applies = || faults.count(Requests::to("secrets").verb(Verb::Patch));
    fixture.create::<ConfigMap>("a", json!({"data": {"x": "1"}})).await;
    records.drain().await;
    assert_eq!(applies(), 1);
    fixture.patch::<ConfigMap>("a", json!({"metadata": {"labels": {"x": "y"}}})).await;
    records.drain().await;
    assert_eq!(applies(), 1, "an equal configuration");
    fixture.patch::<Secret>("a-x", json!({"stringData": {"text": "drift"}})).await;
    records.drain().await;
    let secret = fixture.api::<Secret>().get("a-x").await.unwrap();
    assert_eq!(secret.data.unwrap()["text"].0, b"1", "a drift is corrected");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_patch_of_an_object_that_does_not_exist_creates_nothing() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let reconcile = |_: Arc<ConfigMap>, context: ReconcileContext<Recorder<Option<Secret>>>| async move {
        let labels = json!({"metadata": {"labels": {"used-by": context.key().name()}}});
        context.record(context.patch_if_exists("exists", &labels).await?);
        context.record(context.patch_if_exists("missing", &labels).await?);
        Ok::<_, Error>(())
    };
    fixture.create::<Secret>("exists", json!({"stringData": {"text": "x"}})).await;
    let builder = Controller::new("test", &fixture.config_maps);
    let running = Running::new(builder.reconcile_with(|_| recorder, reconcile).build());
    fixture.config_map("a").await;
    let patched = records.next().await.unwrap();
    assert_eq!((&patched.metadata.labels.unwrap()["used-by"], patched.data.unwrap().len()), (&"a".to_owned(), 1));
    assert_eq!(records.next().await, None);
    assert!(fixture.api::<Secret>().get_opt("missing").await.unwrap().is_none());
    running.stop().await.unwrap();
}

/// Sets the replicas of the status.
fn set_replicas(deployment: &mut Deployment, replicas: i32) {
    deployment.status.get_or_insert_default().replicas = Some(replicas);
}

async fn create_deployment(fixture: &Fixture) {
    let labels = BTreeMap::from([("a", "b")]);
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": labels}, "template": template});
    fixture.create::<Deployment>("web", json!({"spec": spec})).await;
}

#[tokio::test(start_paused = true)]
async fn a_status_that_does_not_change_is_not_sent() {
    let fixture = Fixture::new();
    let deployments: SharedInformer<Deployment> = fixture.factory.informer();
    fixture.factory.start();
    let (recorder, mut records) = recorder();
    let reconcile = |deployment: Arc<Deployment>, context: ReconcileContext<Recorder<bool>>| async move {
        context.record(context.update_status(&*deployment, |deployment| set_replicas(deployment, 3)).await?);
        Ok::<_, Error>(())
    };
    let builder = Controller::new("test", &deployments);
    let running = Running::new(builder.reconcile_with(|_| recorder, reconcile).build());
    create_deployment(&fixture).await;
    assert_eq!((records.next().await, records.next().await), (true, false));
    let status = fixture.api::<Deployment>().get("web").await.unwrap().status.unwrap();
    assert_eq!(status.replicas, Some(3));
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_loop_of_own_writes_is_logged() {
    let fixture = Fixture::new();
    let deployments: SharedInformer<Deployment> = fixture.factory.informer();
    fixture.factory.start();
    let (recorder, mut records) = recorder();
    let reconcile = |deployment: Arc<Deployment>, context: ReconcileContext<Recorder<i32>>| async move {
        let replicas = deployment.status.as_ref().and_then(|status| status.replicas).unwrap_or_default();
        context.record(replicas);
        if replicas < 10 {
            context.update_status(&*deployment, |deployment| set_replicas(deployment, replicas + 1)).await?;
        }
        Ok::<_, Error>(())
    };
    let builder = Controller::new("looping", &deployments);
    let running = Running::new(builder.reconcile_with(|_| recorder, reconcile).build());
    create_deployment(&fixture).await;
    while records.next().await < 10 {}
    tokio::time::sleep(Duration::from_secs(1)).await;
    let warnings = LOG.lines("each reconciliation writes the object and causes the next one");
    let warnings: Vec<_> = warnings.iter().filter(|line| line.contains("looping")).collect();
    assert_eq!(warnings.len(), 2, "after 5 and 8 rounds: {warnings:?}");
    assert!(warnings[0].contains("default/web"));
    running.stop().await.unwrap();
}
