//! Strategic merge patches. Each case is verified on a real server.

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

async fn config_map() -> Api<ConfigMap> {
    let api: Api<ConfigMap> = Api::default_namespaced(ApiServer::builder().collects_garbage(false).build().client());
    let owner = |name: &str, uid: &str| json!({ "apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid });
    let made = json!({
        "metadata": { "name": "a", "finalizers": ["a/b", "c/d"], "ownerReferences": [owner("x", "1"), owner("y", "2")] },
        "data": { "k": "v" },
    });
    api.create(&PostParams::default(), &serde_json::from_value(made).unwrap()).await.unwrap();
    api
}

async fn patched(patch: Value) -> kube::Result<Value> {
    let api = config_map().await;
    let outcome = api.patch("a", &PatchParams::default(), &Patch::Strategic(patch)).await?;
    Ok(serde_json::to_value(outcome).unwrap())
}

async fn assert_patched(patch: Value, pointer: &str, expected: Value) {
    let outcome = patched(patch.clone()).await.unwrap();
    assert_eq!(outcome.pointer(pointer).cloned().unwrap_or_default(), expected, "{patch}");
}

#[tokio::test]
async fn maps_are_merged_unless_a_directive_applies() {
    assert_patched(json!({ "data": { "m": "w" } }), "/data", json!({ "k": "v", "m": "w" })).await;
    assert_patched(json!({ "data": { "k": null } }), "/data", Value::Null).await;
    assert_patched(json!({ "data": { "$patch": "replace", "m": "w" } }), "/data", json!({ "m": "w" })).await;
    assert_patched(json!({ "data": { "$patch": "delete" } }), "/data", Value::Null).await;
    assert_patched(json!({ "data": { "$retainKeys": ["m"], "m": "w" } }), "/data", json!({ "m": "w" })).await;
    assert_patched(json!({ "kind": "Secret" }), "/kind", json!("ConfigMap")).await;
}

#[tokio::test]
async fn sets_are_merged_and_ordered() {
    const POINTER: &str = "/metadata/finalizers";
    let metadata = |fields: Value| json!({ "metadata": fields });
    assert_patched(metadata(json!({ "finalizers": ["e/f"] })), POINTER, json!(["e/f", "a/b", "c/d"])).await;
    assert_patched(metadata(json!({ "$deleteFromPrimitiveList/finalizers": ["a/b"] })), POINTER, json!(["c/d"])).await;
    let order = json!({ "finalizers": ["e/f"], "$setElementOrder/finalizers": ["c/d", "e/f", "a/b"] });
    assert_patched(metadata(order), POINTER, json!(["c/d", "e/f", "a/b"])).await;
}

#[tokio::test]
async fn lists_are_merged_by_their_key() {
    let names = |outcome: &Value| -> Vec<String> {
        let owners = outcome["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        owners.iter().map(|owner| owner["name"].as_str().unwrap().to_owned()).collect()
    };
    let cases = [
        (json!([{ "uid": "1", "name": "z" }]), vec!["z", "y"]),
        (json!([{ "uid": "2", "$patch": "delete" }]), vec!["x"]),
        (json!([{ "$patch": "replace" }]), vec![]),
    ];
    for (owners, expected) in cases {
        let patch = json!({ "metadata": { "ownerReferences": owners } });
        assert_eq!(names(&patched(patch.clone()).await.unwrap()), expected, "{patch}");
    }
}

#[tokio::test]
async fn invalid_patches_are_rejected_with_the_messages_of_go() {
    let owners = |owner: Value| json!({ "metadata": { "ownerReferences": [owner] } });
    let order = |order: Value| json!({ "metadata": { "finalizers": ["q/y"], "$setElementOrder/finalizers": order } });
    let cases = [
        (owners(json!({ "name": "z" })), 500, "map: map[name:z] does not contain declared merge key: uid"),
        (owners(json!({ "uid": "2", "$patch": "merge" })), 500, "merging lists cannot yet be specified in the patch"),
        (
            owners(json!({ "uid": "2", "$patch": "frob" })),
            500,
            "unknown patch type: frob in map: map[$patch:frob uid:2]",
        ),
        (
            order(json!(["x/y", "c/d"])),
            500,
            "The order in patch list:\n[q/y]\n doesn't match $setElementOrder list:\n[x/y c/d]\n",
        ),
        (order(json!("a")), 500, "expected a []interface {}, but received a string"),
        (
            json!({ "metadata": { "$setElementOrder/nope": ["a"] } }),
            500,
            "unable to find api field in struct ObjectMeta for the json field \"nope\"",
        ),
        (json!({ "data": { "$retainKeys": ["n"], "o": "1" } }), 400, "invalid patch format of retainKeys"),
        (json!([1]), 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (
            json!({ "$patch": "delete" }),
            400,
            "the name of the object (a based on URL) was undeterminable: name must be provided",
        ),
    ];
    for (patch, code, message) in cases {
        let (found, _, text) = rejection(patched(patch.clone()).await);
        assert_eq!((found, text.as_str()), (code, message), "{patch}");
    }
}

#[tokio::test]
async fn containers_are_merged_by_name() {
    let api: Api<Pod> = Api::default_namespaced(ApiServer::new().client());
    let containers = json!([{ "name": "c", "image": "i" }, { "name": "d", "image": "j" }]);
    let pod = json!({ "metadata": { "name": "a" }, "spec": { "containers": containers } });
    api.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    let patch = Patch::Strategic(json!({ "spec": { "containers": [{ "name": "d", "image": "k" }] } }));
    let pod = api.patch("a", &PatchParams::default(), &patch).await.unwrap();
    let images: Vec<_> = pod.spec.unwrap().containers.into_iter().filter_map(|container| container.image).collect();
    // The patched container does not move to the front.
    assert_eq!(images, ["i", "k"]);
}

#[tokio::test]
async fn custom_resources_have_no_strategic_merge_patches() {
    let api = widgets(&client().await);
    create(&api, &widget("a")).await;
    let patch = Patch::Strategic(json!({ "spec": { "name": "y" } }));
    assert_eq!(rejection(api.patch("a", &PatchParams::default(), &patch).await).0, 415);
}
