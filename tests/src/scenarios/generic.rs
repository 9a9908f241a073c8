//! Generic clients and informers by resource, listers by index, and deletes with preconditions.

use std::time::Duration;

use fixture_client::{
    Clientset, SharedInformerFactory,
    applyconfigurations::own_core_v1::ConfigMapApply,
    listers::gallery_v1::{EXHIBIT_BY_MOOD, EXHIBIT_BY_TAG},
};
use fixture_types::museum_v1::{Exhibit, ExhibitSpec, Mood};
use kube::{
    Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_core::{
    GroupVersionResource, Kind,
    meta::{ClientVerb, Scope},
};
use kubewright_runtime::{AnyObject, Event, FieldManager, Index, Preconditions};
use serde_json::json;

use crate::namespace;

fn resource(group: &str, version: &str, resource: &str) -> GroupVersionResource {
    GroupVersionResource {
        group: group.to_owned().into(),
        version: version.to_owned().into(),
        resource: resource.to_owned().into(),
    }
}

fn exhibit(name: &str, mood: Mood, tags: &[&str]) -> Exhibit {
    let spec = ExhibitSpec {
        title: name.to_owned(),
        mood: Some(mood),
        tags: Some(tags.iter().map(|tag| (*tag).to_owned()).collect()),
        ..ExhibitSpec::default()
    };
    let mut exhibit = Exhibit { spec, ..Exhibit::default() };
    exhibit.metadata.name = Some(name.to_owned());
    exhibit
}

fn post() -> PostParams {
    PostParams::default()
}

pub(super) async fn generic_clients_are_found_by_resource(client: Client) {
    let namespace = namespace(&client, "for-resource").await;
    let clientset = Clientset::new(client);
    assert!(clientset.for_resource(&resource("museum.example.org", "v2", "exhibits")).is_none());
    let exhibits = clientset.for_resource(&resource("museum.example.org", "v1", "exhibits")).unwrap();
    assert_eq!((exhibits.scope(), exhibits.verbs()), (Scope::Namespaced, Exhibit::API_KIND.verbs));

    let made =
        clientset.gallery_v1().exhibits(&namespace).create(&exhibit("vase", Mood::Dark, &[]), &post()).await.unwrap();
    let mut read = exhibits.get(Some(&namespace), "vase").await.unwrap();
    assert_eq!(read.metadata, made.metadata);
    read.data["spec"]["title"] = json!("Jug");
    read = exhibits.update(Some(&namespace), &read, &post()).await.unwrap();
    assert_eq!(read.data["spec"]["title"], "Jug");
    let patch = Patch::Merge(json!({"spec": {"title": "Pot"}}));
    exhibits.patch(Some(&namespace), "vase", &patch, &PatchParams::default()).await.unwrap();
    let all =
        exhibits.list(None, &ListParams::default().fields(&format!("metadata.namespace={namespace}"))).await.unwrap();
    assert_eq!(all.items.iter().map(|of| of.data["spec"]["title"].as_str()).collect::<Vec<_>>(), [Some("Pot")]);
    exhibits.delete(Some(&namespace), "vase", &DeleteParams::default()).await.unwrap();
    read.metadata.resource_version = None;
    exhibits.create(Some(&namespace), &read, &post()).await.unwrap();

    let notices = clientset.for_resource(&resource("desk.example.org", "v1", "notices")).unwrap();
    assert!(!notices.verbs().contains(&ClientVerb::Delete));
    let rejected = notices.delete(Some(&namespace), "any", &DeleteParams::default()).await.unwrap_err();
    let expected = "cannot delete notices.desk.example.org `any`: the kind's `#[genclient]` does not grant it";
    assert_eq!(rejected.to_string(), expected);
}

pub(super) async fn generic_informers_are_found_by_resource_and_objects_by_index(client: Client) {
    let namespace = namespace(&client, "by-index").await;
    let clientset = Clientset::new(client);
    let exhibits = clientset.gallery_v1().exhibits(&namespace);
    for (name, mood, tags) in
        [("vase", Mood::Dark, &["old", "blue"][..]), ("coin", Mood::Bright, &["old"]), ("mask", Mood::Dark, &[])]
    {
        exhibits.create(&exhibit(name, mood, tags), &post()).await.unwrap();
    }
    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let generic = factory.for_resource(&resource("museum.example.org", "v1", "exhibits")).unwrap();
    assert!(
        factory.for_resource(&resource("desk.example.org", "v1", "loans")).is_none(),
        "the kind does not grant watch"
    );
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let handler = move |event: &Event<dyn AnyObject>| sender.send(event.object().metadata().name.clone()).unwrap();
    let registration = generic.add_event_handler(handler).unwrap();
    factory.start();
    factory.wait_for_sync(Duration::from_secs(20)).await.unwrap();
    registration.wait_for_sync().await.unwrap();
    assert!(generic.has_synced());
    let mut names = Vec::new();
    while names.len() < 3 {
        names.extend(receiver.recv().await.unwrap());
    }
    names.sort();
    assert_eq!(names, ["coin", "mask", "vase"]);

    let lister = factory.gallery_v1().exhibits().lister();
    let found = |index: &Index<Exhibit>, value: &str| {
        let found = lister.by_index(index, value);
        let mut names: Vec<_> = found.iter().map(|exhibit| exhibit.metadata.name.clone().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(found(&EXHIBIT_BY_MOOD, "dark"), ["mask", "vase"]);
    assert_eq!(found(&EXHIBIT_BY_TAG, "old"), ["coin", "vase"]);
    assert!(found(&EXHIBIT_BY_TAG, "green").is_empty());
    assert_eq!(lister.namespace(&namespace).by_index(&EXHIBIT_BY_TAG, "old").len(), 2);
    assert!(lister.namespace("elsewhere").by_index(&EXHIBIT_BY_TAG, "old").is_empty());

    let vase = generic.lister().get(&namespace, "vase").unwrap();
    assert_eq!(vase.as_any().downcast_ref::<Exhibit>().unwrap().spec.mood, Some(Mood::Dark));
    assert_eq!(generic.lister().list_namespace(&namespace).len(), generic.lister().list().len());
    factory.shutdown().await;
}

pub(super) async fn deletes_honour_preconditions(client: Client) {
    let namespace = namespace(&client, "preconditions").await;
    let exhibits = Clientset::new(client).gallery_v1().exhibits(&namespace);
    let first = exhibits.create(&exhibit("vase", Mood::Dark, &[]), &post()).await.unwrap();
    let mut changed = first.clone();
    changed.spec.mood = Some(Mood::Bright);
    let changed = exhibits.update(&changed, &post()).await.unwrap();

    let stale = Preconditions::uid_and_resource_version(&first).apply_to(DeleteParams::default());
    let conflict = exhibits.delete("vase", &stale).await.unwrap_err();
    assert!(conflict.is_conflict(), "{conflict}");
    let fresh = Preconditions::uid_and_resource_version(&changed).apply_to(DeleteParams::default());
    exhibits.delete("vase", &fresh).await.unwrap();

    exhibits.create(&exhibit("vase", Mood::Dark, &[]), &post()).await.unwrap();
    let other = Preconditions::uid(&first).apply_to(DeleteParams::default());
    assert!(exhibits.delete("vase", &other).await.unwrap_err().is_conflict(), "the object was created again");
}

pub(super) async fn kinds_of_the_core_group_can_be_declared(client: Client) {
    let namespace = namespace(&client, "own-core").await;
    let maps = Clientset::new(client).own_core_v1().config_maps(&namespace);
    let configuration = ConfigMapApply::new("settings", &namespace).with_data([("a", "1")]);
    let applied = maps.apply(&configuration, &FieldManager::new("tests")).await.unwrap();
    assert_eq!(maps.list(&ListParams::default().fields("metadata.name=settings")).await.unwrap().items, [applied]);
}
