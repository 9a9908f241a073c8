//! Which events bring which keys.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::api::{Patch, PatchParams};
use logger_apiserver::{Fault, Faults, Requests, Verb};
use logger_runtime::controller::{Controller, Predicate, Watch};
use logger_runtime::{ObjectKey, SharedInformer};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::stage::{Running, Stage, diary, noting, server};

/// Owner references of these owners, as kind, name and whether it is the controller.
fn owned_by(owners: &[(&str, &str, bool)]) -> Value {
    let reference = |(kind, name, controller): &(&str, &str, bool)| {
        let version = if *kind == "ClusterRole" { "rbac.authorization.k8s.io/v1" } else { "v1" };
        json!({"apiVersion": version, "kind": kind, "name": name, "uid": "u", "controller": controller})
    };
    json!({"metadata": {"ownerReferences": owners.iter().map(reference).collect::<Vec<_>>()}})
}

#[tokio::test(start_paused = true)]
async fn an_object_that_comes_changes_and_goes_is_worked_on_each_time_also_when_it_is_gone() {
    let stage = Stage::started();
    let ((diary, mut reader), lister) = (diary(), stage.config_maps.lister());
    let controller = Controller::for_informer("test", &stage.config_maps).build(move |key: ObjectKey| {
        let text = lister.namespace(key.namespace()).get(key.name()).map(|object| object.data.clone());
        diary.note((key, text.map_err(|error| error.to_string())));
        async { Ok::<_, logger_runtime::Error>(()) }
    });
    let running = Running::new(controller);
    stage.config_map("a").await;
    let (key, found) = reader.next().await;
    assert_eq!((key.as_str(), found), ("default/a", Ok(None)));
    stage.touch("a", "new").await;
    let (_, found) = reader.next().await;
    assert_eq!(found.unwrap().unwrap()["text"], "new");
    stage.delete::<ConfigMap>("a").await;
    let (key, found) = reader.next().await;
    assert_eq!((key.as_str(), found.unwrap_err().contains("not found")), ("default/a", true));
    assert!(reader.is_silent().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn several_events_before_the_work_begins_are_one() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let controller = Controller::for_informer("test", &stage.config_maps).build(noting(diary));
    controller.wait_for_sync().await.unwrap();
    stage.config_map("a").await;
    for text in ["1", "2", "3"] {
        stage.touch("a", text).await;
    }
    stage.config_map("b").await;
    let running = Running::new(controller);
    assert_eq!((reader.next_key().await, reader.next_key().await), ("default/a".to_owned(), "default/b".to_owned()));
    assert!(reader.is_silent().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_event_of_an_owned_object_brings_its_controller_alone() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let builder = Controller::for_informer("test", &stage.config_maps).owns(&stage.secrets);
    let running = Running::new(builder.build(noting(diary)));
    let owners = [("ConfigMap", "friend", false), ("Secret", "other", false), ("ConfigMap", "owner", true)];
    stage.create::<Secret>("owned", owned_by(&owners)).await;
    assert_eq!(reader.next_key().await, "default/owner");
    stage.create::<Secret>("free", json!({})).await;
    stage.create::<Secret>("anothers", owned_by(&[("Secret", "of-another-kind", true)])).await;
    assert!(reader.is_silent().await);
    // An object that is handed over is about both owners: the one that it had, too.
    stage.patch::<Secret>("owned", owned_by(&[("ConfigMap", "heir", true)])).await;
    assert_eq!((reader.next_key().await, reader.next_key().await), ("default/heir".into(), "default/owner".into()));
    stage.delete::<Secret>("owned").await;
    assert_eq!(reader.next_key().await, "default/heir");
    assert!(reader.is_silent().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_the_cluster_has_a_key_without_namespace() {
    let stage = Stage::new();
    let roles: SharedInformer<ClusterRole> = stage.factory.informer();
    stage.factory.start();
    let (diary, mut reader) = diary();
    let builder = Controller::for_informer("test", &roles).owns(&stage.config_maps);
    let running = Running::new(builder.build(noting(diary)));
    stage.create::<ConfigMap>("owned", owned_by(&[("ClusterRole", "admin", true)])).await;
    assert_eq!(reader.next_key().await, "admin");
    running.stop().await.unwrap();
}

/// Three owners of one Secret, one after the other, while nobody hears; then all is heard in a burst.
async fn three_owners_in_a_burst(stage: &Stage, faults: &Faults) {
    let watches = || Requests::to("secrets").verb(Verb::Watch);
    let (open, gate) = watch::channel(false);
    faults.always(watches(), Fault::gate(gate));
    faults.cut(watches());
    stage.create::<Secret>("s", owned_by(&[("ConfigMap", "first", true)])).await;
    for owner in ["second", "third"] {
        stage.patch::<Secret>("s", owned_by(&[("ConfigMap", owner, true)])).await;
    }
    open.send_replace(true);
}

#[tokio::test(start_paused = true)]
async fn owners_that_an_object_had_for_a_moment_are_told_too() {
    let faults = Faults::new();
    let stage = Stage::on(server().client_with(faults.layer()));
    stage.factory.start();
    let ((diary, mut reader), (others, mut other)) = (diary(), diary());
    let joined = move |event: &logger_runtime::Event<Secret>| {
        others
            .note(event.object().metadata.owner_references.iter().flatten().map(|owner| owner.name.clone()).collect());
    };
    let _joined = stage.secrets.add_event_handler(joined).unwrap();
    let builder = Controller::for_informer("test", &stage.config_maps).owns(&stage.secrets);
    let controller = builder.build(noting(diary));
    controller.wait_for_sync().await.unwrap();
    three_owners_in_a_burst(&stage, &faults).await;
    let running = Running::new(controller);
    let mut told = [reader.next_key().await, reader.next_key().await, reader.next_key().await];
    told.sort();
    assert_eq!(told, ["default/first", "default/second", "default/third"]);
    let heard: Vec<String> = other.next().await;
    assert_eq!(heard, ["third"], "a handler that joins events hears of the last owner alone");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_mapping_is_asked_with_what_an_object_was_and_what_it_is() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let builder = Controller::for_informer("test", &stage.config_maps).watches(&stage.secrets, |secret| {
        let named = secret.metadata.labels.iter().flatten().filter(|(name, _)| *name == "for");
        named.map(|(_, value)| ObjectKey::namespaced("default", value)).collect::<Vec<_>>()
    });
    let running = Running::new(builder.build(noting(diary)));
    stage.create::<Secret>("s", json!({"metadata": {"labels": {"for": "a"}}})).await;
    assert_eq!(reader.next_key().await, "default/a");
    stage.patch::<Secret>("s", json!({"metadata": {"labels": {"for": "b"}}})).await;
    assert_eq!((reader.next_key().await, reader.next_key().await), ("default/a".into(), "default/b".into()));
    stage.patch::<Secret>("s", json!({"metadata": {"labels": {"for": null}}})).await;
    assert_eq!(reader.next_key().await, "default/b");
    assert!(reader.is_silent().await);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_predicate_keeps_events_from_the_queue() {
    let stage = Stage::new();
    let deployments: SharedInformer<Deployment> = stage.factory.informer();
    stage.factory.start();
    let (diary, mut reader) = diary();
    let watch = Watch::of(&deployments).when(Predicate::generation_changed());
    let running = Running::new(Controller::for_informer("test", watch).build(noting(diary)));
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    stage.create::<Deployment>("web", json!({"spec": spec})).await;
    assert_eq!(reader.next_key().await, "default/web");
    let status = Patch::Merge(json!({"status": {"replicas": 1}}));
    stage.api::<Deployment>().patch_status("web", &PatchParams::default(), &status).await.unwrap();
    stage.patch::<Deployment>("web", json!({"metadata": {"labels": {"x": "y"}}})).await;
    assert!(reader.is_silent().await);
    stage.patch::<Deployment>("web", json!({"spec": {"replicas": 3}})).await;
    assert_eq!(reader.next_key().await, "default/web");
    stage.delete::<Deployment>("web").await;
    assert_eq!(reader.next_key().await, "default/web");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_key_that_no_informer_knows_of_can_be_added() {
    let stage = Stage::started();
    let (diary, mut reader) = diary();
    let controller = Controller::for_informer("test", &stage.config_maps).build(noting(diary));
    let queue = controller.queue().clone();
    let running = Running::new(controller);
    queue.add(ObjectKey::cluster("from-elsewhere"));
    assert_eq!(reader.next_key().await, "from-elsewhere");
    running.stop().await.unwrap();
}
