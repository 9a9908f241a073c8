//! Which events enqueue which keys.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
    rbac::v1::ClusterRole,
};
use kube::api::{Patch, PatchParams};
use kubewright_apiserver::{Fault, Faults, Requests, Verb};
use kubewright_runtime::{
    ObjectKey, SharedInformer,
    controller::{Controller, Predicate, Watch},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::fixture::{Fixture, Running, recorder, recording_reconciler, server};

/// Builds owner references from kind, name and whether the owner is the controller.
fn owned_by(owners: &[(&str, &str, bool)]) -> Value {
    let reference = |(kind, name, controller): &(&str, &str, bool)| {
        let version = if *kind == "ClusterRole" { "rbac.authorization.k8s.io/v1" } else { "v1" };
        json!({"apiVersion": version, "kind": kind, "name": name, "uid": "u", "controller": controller})
    };
    json!({"metadata": {"ownerReferences": owners.iter().map(reference).collect::<Vec<_>>()}})
}

#[tokio::test(start_paused = true)]
async fn creations_updates_and_deletions_are_each_reconciled() {
    let fixture = Fixture::started();
    let ((recorder, mut records), lister) = (recorder(), fixture.config_maps.lister());
    let controller = Controller::new("test", &fixture.config_maps).build(move |key: ObjectKey| {
        let text = lister.namespace(key.namespace()).get(key.name()).map(|object| object.data.clone());
        recorder.record((key, text.map_err(|error| error.to_string())));
        async { Ok::<_, kubewright_runtime::Error>(()) }
    });
    let running = Running::new(controller);
    fixture.config_map("a").await;
    let (key, found) = records.next().await;
    assert_eq!((key.as_str(), found), ("default/a", Ok(None)));
    fixture.touch("a", "new").await;
    let (_, found) = records.next().await;
    assert_eq!(found.unwrap().unwrap()["text"], "new");
    fixture.delete::<ConfigMap>("a").await;
    let (key, found) = records.next().await;
    assert_eq!((key.as_str(), found.unwrap_err().contains("not found")), ("default/a", true));
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn events_before_the_first_reconcile_are_coalesced() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let controller = Controller::new("test", &fixture.config_maps).build(recording_reconciler(recorder));
    controller.wait_for_sync().await.unwrap();
    fixture.config_map("a").await;
    for text in ["1", "2", "3"] {
        fixture.touch("a", text).await;
    }
    fixture.config_map("b").await;
    let running = Running::new(controller);
    assert_eq!((records.next_key().await, records.next_key().await), ("default/a".to_owned(), "default/b".to_owned()));
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_event_of_an_owned_object_enqueues_its_controller_owner_only() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &fixture.config_maps).owns(&fixture.secrets);
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    let owners = [("ConfigMap", "no-controller", false), ("Secret", "other", false), ("ConfigMap", "owner", true)];
    fixture.create::<Secret>("owned", owned_by(&owners)).await;
    assert_eq!(records.next_key().await, "default/owner");
    fixture.create::<Secret>("free", json!({})).await;
    fixture.create::<Secret>("foreign", owned_by(&[("Secret", "other-kind", true)])).await;
    assert!(records.is_idle().await);
    // A change of owner enqueues both: the old owner and the new one.
    fixture.patch::<Secret>("owned", owned_by(&[("ConfigMap", "new-owner", true)])).await;
    assert_eq!(
        (records.next_key().await, records.next_key().await),
        ("default/new-owner".into(), "default/owner".into())
    );
    fixture.delete::<Secret>("owned").await;
    assert_eq!(records.next_key().await, "default/new-owner");
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cluster_scoped_owner_has_a_key_without_namespace() {
    let fixture = Fixture::new();
    let roles: SharedInformer<ClusterRole> = fixture.factory.informer();
    fixture.factory.start();
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &roles).owns(&fixture.config_maps);
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    fixture.create::<ConfigMap>("owned", owned_by(&[("ClusterRole", "admin", true)])).await;
    assert_eq!(records.next_key().await, "admin");
    running.stop().await.unwrap();
}

/// Gives one Secret three owners in turn while its watch is held back, then delivers all events in a burst.
async fn change_owners_in_a_burst(fixture: &Fixture, faults: &Faults) {
    let watches = || Requests::to("secrets").verb(Verb::Watch);
    let (open, gate) = watch::channel(false);
    faults.always(watches(), Fault::gate(gate));
    faults.cut(watches());
    fixture.create::<Secret>("s", owned_by(&[("ConfigMap", "first", true)])).await;
    for owner in ["second", "third"] {
        fixture.patch::<Secret>("s", owned_by(&[("ConfigMap", owner, true)])).await;
    }
    open.send_replace(true);
}

#[tokio::test(start_paused = true)]
async fn owners_between_coalesced_states_are_enqueued_too() {
    let faults = Faults::new();
    let fixture = Fixture::with_client(server().client_with(faults.layer()));
    fixture.factory.start();
    let ((recorder, mut records), (coalesced, mut coalesced_owners)) = (recorder(), recorder());
    let coalesced = move |event: &kubewright_runtime::Event<Secret>| {
        coalesced.record(
            event.object().metadata.owner_references.iter().flatten().map(|owner| owner.name.clone()).collect(),
        );
    };
    let _registration = fixture.secrets.add_event_handler(coalesced).unwrap();
    let builder = Controller::new("test", &fixture.config_maps).owns(&fixture.secrets);
    let controller = builder.build(recording_reconciler(recorder));
    controller.wait_for_sync().await.unwrap();
    change_owners_in_a_burst(&fixture, &faults).await;
    let running = Running::new(controller);
    let mut keys = [records.next_key().await, records.next_key().await, records.next_key().await];
    keys.sort();
    assert_eq!(keys, ["default/first", "default/second", "default/third"]);
    let owners: Vec<String> = coalesced_owners.next().await;
    assert_eq!(owners, ["third"], "a handler with coalesced events receives the last owner alone");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_mapping_is_called_with_the_old_and_the_new_object() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let builder = Controller::new("test", &fixture.config_maps).watches(&fixture.secrets, |secret| {
        let named = secret.metadata.labels.iter().flatten().filter(|(name, _)| *name == "for");
        named.map(|(_, value)| ObjectKey::namespaced("default", value)).collect::<Vec<_>>()
    });
    let running = Running::new(builder.build(recording_reconciler(recorder)));
    fixture.create::<Secret>("s", json!({"metadata": {"labels": {"for": "a"}}})).await;
    assert_eq!(records.next_key().await, "default/a");
    fixture.patch::<Secret>("s", json!({"metadata": {"labels": {"for": "b"}}})).await;
    assert_eq!((records.next_key().await, records.next_key().await), ("default/a".into(), "default/b".into()));
    fixture.patch::<Secret>("s", json!({"metadata": {"labels": {"for": null}}})).await;
    assert_eq!(records.next_key().await, "default/b");
    assert!(records.is_idle().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_predicate_filters_events() {
    let fixture = Fixture::new();
    let deployments: SharedInformer<Deployment> = fixture.factory.informer();
    fixture.factory.start();
    let (recorder, mut records) = recorder();
    let watch = Watch::new(&deployments).with_predicate(Predicate::generation_changed());
    let running = Running::new(Controller::new("test", watch).build(recording_reconciler(recorder)));
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    fixture.create::<Deployment>("web", json!({"spec": spec})).await;
    assert_eq!(records.next_key().await, "default/web");
    let status = Patch::Merge(json!({"status": {"replicas": 1}}));
    fixture.api::<Deployment>().patch_status("web", &PatchParams::default(), &status).await.unwrap();
    fixture.patch::<Deployment>("web", json!({"metadata": {"labels": {"x": "y"}}})).await;
    assert!(records.is_idle().await);
    fixture.patch::<Deployment>("web", json!({"spec": {"replicas": 3}})).await;
    assert_eq!(records.next_key().await, "default/web");
    fixture.delete::<Deployment>("web").await;
    assert_eq!(records.next_key().await, "default/web");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_in_no_informer_can_be_enqueued() {
    let fixture = Fixture::started();
    let (recorder, mut records) = recorder();
    let controller = Controller::new("test", &fixture.config_maps).build(recording_reconciler(recorder));
    let queue = controller.queue().clone();
    let running = Running::new(controller);
    queue.add(ObjectKey::cluster("external"));
    assert_eq!(records.next_key().await, "external");
    running.stop().await.unwrap();
}
