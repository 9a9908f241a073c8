//! Garbage collection and the emptying of namespaces

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, PropagationPolicy},
};
use logger_apiserver::ApiServer;
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

async fn unhold(api: &Api<DynamicObject>, name: &str) {
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    api.patch(name, &PatchParams::default(), &patch).await.unwrap();
}

#[tokio::test]
async fn dependents_go_after_their_owner_and_so_do_theirs() {
    let api = widgets(&client().await);
    let owner = create(&api, &widget("a")).await;
    let child = create(&api, &owned_by("b", &owner, false)).await;
    create(&api, &owned_by("c", &child, false)).await;
    create(&api, &widget("d")).await;
    delete(&api, "a", PropagationPolicy::Background).await;
    assert_eq!(names(&api).await, ["d"]);
}

#[tokio::test]
async fn an_owner_in_the_foreground_goes_last() {
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
    unhold(&api, "b").await;
    assert!(names(&api).await.is_empty());
}

#[tokio::test]
async fn orphans_stay_and_have_no_owner_any_more() {
    let api = widgets(&client().await);
    let owner = create(&api, &widget("a")).await;
    create(&api, &owned_by("b", &owner, true)).await;
    delete(&api, "a", PropagationPolicy::Orphan).await;
    assert_eq!(names(&api).await, ["b"]);
    assert!(api.get("b").await.unwrap().owner_references().is_empty());
}

#[tokio::test]
async fn one_owner_of_two_is_enough_to_stay() {
    let api = widgets(&client().await);
    let (one, two) = (create(&api, &widget("a")).await, create(&api, &widget("b")).await);
    let mut child = owned_by("c", &one, false);
    child.owner_references_mut().extend(owned_by("c", &two, false).metadata.owner_references.unwrap());
    create(&api, &child).await;
    delete(&api, "a", PropagationPolicy::Background).await;
    let owners: Vec<_> =
        api.get("c").await.unwrap().owner_references().iter().map(|owner| owner.name.clone()).collect();
    assert_eq!(owners, ["b"]);
    delete(&api, "b", PropagationPolicy::Background).await;
    assert!(names(&api).await.is_empty());
}

#[tokio::test]
async fn owners_are_told_by_uid_and_looked_for_in_the_same_namespace() {
    let client = client().await;
    let api = widgets(&client);
    let mut owner = create(&api, &widget("a")).await;
    let elsewhere = Api::namespaced_with(client.clone(), "kube-system", &widget_kind());
    create(&elsewhere, &owned_by("b", &owner, false)).await;
    assert!(names(&elsewhere).await.is_empty(), "no owner of that name is there");
    owner.metadata.uid = Some("another".into());
    create(&api, &owned_by("c", &owner, false)).await;
    assert_eq!(names(&api).await, ["a"]);
}

#[tokio::test]
async fn a_circle_of_owners_goes_in_the_foreground() {
    let api = widgets(&client().await);
    let one = create(&api, &widget("a")).await;
    let two = create(&api, &owned_by("b", &one, true)).await;
    let patch = json!({ "metadata": { "ownerReferences": owned_by("a", &two, true).metadata.owner_references } });
    api.patch("a", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    delete(&api, "a", PropagationPolicy::Foreground).await;
    assert!(names(&api).await.is_empty());
}

#[tokio::test]
async fn what_was_loaded_without_its_owner_stays() {
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
async fn a_namespace_takes_what_is_in_it_along() {
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
async fn a_namespace_waits_for_finalizers_and_says_so() {
    let client = client().await;
    let namespaces = namespace(&client).await;
    let api = Api::namespaced_with(client.clone(), "n", &widget_kind());
    let mut held = widget("a");
    held.metadata.finalizers = Some(vec!["example.com/f".into()]);
    create(&api, &held).await;
    namespaces.delete("n", &DeleteParams::default()).await.unwrap();
    let status = namespaces.get("n").await.unwrap().status.unwrap();
    let told: Vec<_> = status.conditions.unwrap().into_iter().filter(|condition| condition.status == "True").collect();
    let told: Vec<_> = told.into_iter().filter_map(|condition| condition.message).collect();
    assert_eq!(
        told,
        [
            "Some resources are remaining: widgets.example.com has 1 resource instances",
            "Some content in the namespace has finalizers remaining: example.com/f in 1 resource instances",
        ]
    );
    assert_eq!(refusal(api.create(&PostParams::default(), &widget("b")).await).0, 403);
    unhold(&api, "a").await;
    assert_eq!(namespaces.get_opt("n").await.unwrap(), None);
}

#[tokio::test]
async fn a_bare_server_leaves_all_that_to_others() {
    let client = bare_client().await;
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
async fn a_pod_on_a_node_has_its_grace_period_and_it_can_only_get_shorter() {
    let api: Api<Pod> = Api::default_namespaced(ApiServer::new().client());
    api.create(&PostParams::default(), &pod(json!({ "nodeName": "n1" }))).await.unwrap();
    let grace = |seconds| DeleteParams { grace_period_seconds: seconds, ..DeleteParams::default() };
    for (asked, seconds) in [(None, 30), (Some(60), 30), (None, 30), (Some(5), 5)] {
        let ending = api.delete("a", &grace(asked)).await.unwrap().left().unwrap();
        assert_eq!(ending.metadata.deletion_grace_period_seconds, Some(seconds), "{asked:?}");
    }
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "l": "x" } } }));
    api.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_some(), "an update does not end the grace period");
    api.delete("a", &grace(Some(0))).await.unwrap();
    assert_eq!(api.get_opt("a").await.unwrap(), None);
}

#[tokio::test]
async fn a_pod_without_a_node_goes_at_once() {
    let api: Api<Pod> = Api::default_namespaced(ApiServer::new().client());
    api.create(&PostParams::default(), &pod(json!({}))).await.unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(api.get_opt("a").await.unwrap(), None);
}
