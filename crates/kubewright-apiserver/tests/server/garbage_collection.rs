//! Garbage collection, and deletion of namespaces.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, PropagationPolicy},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

fn owned_by(name: &str, owner: &DynamicObject, blocks: bool) -> DynamicObject {
    let mut owned = widget(name);
    owned.metadata.owner_references = serde_json::from_value(json!([{
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "name": owner.name_any(),
        "uid": owner.uid(),
        "blockOwnerDeletion": blocks,
    }]))
    .unwrap();
    owned
}

async fn names(api: &Api<DynamicObject>) -> Vec<String> {
    api.list(&ListParams::default()).await.unwrap().items.iter().map(ResourceExt::name_any).collect()
}

async fn delete(api: &Api<DynamicObject>, name: &str, policy: PropagationPolicy) {
    let params = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
    api.delete(name, &params).await.unwrap();
}

async fn remove_finalizers(api: &Api<DynamicObject>, name: &str) {
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    api.patch(name, &PatchParams::default(), &patch).await.unwrap();
}

#[tokio::test]
async fn background_deletion_removes_dependents_transitively() {
    let api = widgets(&client().await);
    let owner = create(&api, &widget("a")).await;
    let child = create(&api, &owned_by("b", &owner, false)).await;
    create(&api, &owned_by("c", &child, false)).await;
    create(&api, &widget("d")).await;
    delete(&api, "a", PropagationPolicy::Background).await;
    assert_eq!(names(&api).await, ["d"]);
}

#[tokio::test]
async fn foreground_deletion_removes_the_owner_last() {
    let api = widgets(&client().await);
    let owner = create(&api, &widget("a")).await;
    let mut child = owned_by("b", &owner, true);
    child.metadata.finalizers = Some(vec!["example.com/f".into()]);
    create(&api, &child).await;
    create(&api, &owned_by("c", &owner, false)).await;
    delete(&api, "a", PropagationPolicy::Foreground).await;
    assert_eq!(names(&api).await, ["a", "b"]);
    assert_eq!(api.get("a").await.unwrap().finalizers(), ["foregroundDeletion"]);
    assert!(api.get("b").await.unwrap().metadata.deletion_timestamp.is_some());
    remove_finalizers(&api, "b").await;
    assert!(names(&api).await.is_empty());
}

#[tokio::test]
async fn orphaned_dependents_lose_the_owner_reference() {
    let api = widgets(&client().await);
    let owner = create(&api, &widget("a")).await;
    create(&api, &owned_by("b", &owner, true)).await;
    delete(&api, "a", PropagationPolicy::Orphan).await;
    assert_eq!(names(&api).await, ["b"]);
    assert!(api.get("b").await.unwrap().owner_references().is_empty());
}

#[tokio::test]
async fn a_dependent_stays_while_one_owner_exists() {
    let api = widgets(&client().await);
    let (first, second) = (create(&api, &widget("a")).await, create(&api, &widget("b")).await);
    let mut child = owned_by("c", &first, false);
    child.owner_references_mut().extend(owned_by("c", &second, false).metadata.owner_references.unwrap());
    create(&api, &child).await;
    delete(&api, "a", PropagationPolicy::Background).await;
    let owners: Vec<_> =
        api.get("c").await.unwrap().owner_references().iter().map(|owner| owner.name.clone()).collect();
    assert_eq!(owners, ["b"]);
    delete(&api, "b", PropagationPolicy::Background).await;
    assert!(names(&api).await.is_empty());
}

#[tokio::test]
async fn owners_are_identified_by_uid_in_the_same_namespace() {
    let client = client().await;
    let api = widgets(&client);
    let mut owner = create(&api, &widget("a")).await;
    let elsewhere = Api::namespaced_with(client.clone(), "kube-system", &widget_kind());
    create(&elsewhere, &owned_by("b", &owner, false)).await;
    assert!(names(&elsewhere).await.is_empty(), "the owner is in another namespace");
    owner.metadata.uid = Some("another".into());
    create(&api, &owned_by("c", &owner, false)).await;
    assert_eq!(names(&api).await, ["a"]);
}

#[tokio::test]
async fn a_cycle_of_owners_is_deleted_in_the_foreground() {
    let api = widgets(&client().await);
    let first = create(&api, &widget("a")).await;
    let second = create(&api, &owned_by("b", &first, true)).await;
    let patch = json!({ "metadata": { "ownerReferences": owned_by("a", &second, true).metadata.owner_references } });
    api.patch("a", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    delete(&api, "a", PropagationPolicy::Foreground).await;
    assert!(names(&api).await.is_empty());
}

#[tokio::test]
async fn loaded_objects_without_their_owner_stay() {
    let server = ApiServer::new();
    let mut orphan = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
    orphan["metadata"]["ownerReferences"] = json!([{ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u" }]);
    server.load(&orphan).unwrap();
    let api: Api<ConfigMap> = Api::default_namespaced(server.client());
    let patch = Patch::Merge(json!({ "data": { "k": "v" } }));
    api.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_some());
}

async fn namespace(client: &Client) -> Api<Namespace> {
    let api: Api<Namespace> = Api::all(client.clone());
    let made = serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
    api.create(&PostParams::default(), &made).await.unwrap();
    api
}

#[tokio::test]
async fn deleting_a_namespace_deletes_its_objects() {
    let client = client().await;
    let namespaces = namespace(&client).await;
    let api = Api::namespaced_with(client.clone(), "n", &widget_kind());
    create(&api, &widget("a")).await;
    namespaces.delete("n", &DeleteParams::default()).await.unwrap();
    assert_eq!(namespaces.get_opt("n").await.unwrap(), None);
    namespace(&client).await;
    assert!(names(&api).await.is_empty());
}

#[tokio::test]
async fn a_terminating_namespace_reports_remaining_finalizers() {
    let client = client().await;
    let namespaces = namespace(&client).await;
    let api = Api::namespaced_with(client.clone(), "n", &widget_kind());
    let mut held = widget("a");
    held.metadata.finalizers = Some(vec!["example.com/f".into()]);
    create(&api, &held).await;
    namespaces.delete("n", &DeleteParams::default()).await.unwrap();
    let status = namespaces.get("n").await.unwrap().status.unwrap();
    let conditions = status.conditions.unwrap().into_iter().filter(|condition| condition.status == "True");
    let messages: Vec<_> = conditions.filter_map(|condition| condition.message).collect();
    assert_eq!(
        messages,
        [
            "Some resources are remaining: widgets.example.com has 1 resource instances",
            "Some content in the namespace has finalizers remaining: example.com/f in 1 resource instances",
        ]
    );
    assert_eq!(rejection(api.create(&PostParams::default(), &widget("b")).await).0, 403);
    remove_finalizers(&api, "a").await;
    assert_eq!(namespaces.get_opt("n").await.unwrap(), None);
}

#[tokio::test]
async fn garbage_collection_can_be_disabled() {
    let client = client_without_garbage_collection().await;
    let api = widgets(&client);
    let owner = create(&api, &widget("a")).await;
    create(&api, &owned_by("b", &owner, false)).await;
    delete(&api, "a", PropagationPolicy::Background).await;
    assert_eq!(names(&api).await, ["b"]);
    let namespaces = namespace(&client).await;
    namespaces.delete("n", &DeleteParams::default()).await.unwrap();
    assert!(namespaces.get_opt("n").await.unwrap().is_some());
}

fn pod(spec: Value) -> Pod {
    let mut pod = json!({ "metadata": { "name": "a" }, "spec": { "containers": [{ "name": "c", "image": "i" }] } });
    pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    serde_json::from_value(pod).unwrap()
}

#[tokio::test]
async fn the_grace_period_of_a_scheduled_pod_can_only_be_shortened() {
    let api: Api<Pod> = Api::default_namespaced(ApiServer::new().client());
    api.create(&PostParams::default(), &pod(json!({ "nodeName": "n1" }))).await.unwrap();
    let grace = |seconds| DeleteParams { grace_period_seconds: seconds, ..DeleteParams::default() };
    for (requested, seconds) in [(None, 30), (Some(60), 30), (None, 30), (Some(5), 5)] {
        let ending = api.delete("a", &grace(requested)).await.unwrap().left().unwrap();
        assert_eq!(ending.metadata.deletion_grace_period_seconds, Some(seconds), "{requested:?}");
    }
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "l": "x" } } }));
    api.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_some(), "an update does not end the grace period");
    api.delete("a", &grace(Some(0))).await.unwrap();
    assert_eq!(api.get_opt("a").await.unwrap(), None);
}

#[tokio::test]
async fn an_unscheduled_pod_is_deleted_immediately() {
    let api: Api<Pod> = Api::default_namespaced(ApiServer::new().client());
    api.create(&PostParams::default(), &pod(json!({}))).await.unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(api.get_opt("a").await.unwrap(), None);
}
