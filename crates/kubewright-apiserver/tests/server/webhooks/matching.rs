//! The requests that webhooks match: rules, selectors, versions and exempt kinds.

use kube::{
    api::{Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};

use super::*;

const ALL: &[&str] = &["*"];

#[tokio::test]
async fn a_rule_matches_operations_resources_and_subresources() {
    let mut status = webhook("status", ALL);
    status["rules"][0]["resources"] = json!(["widgets/status"]);
    let mut every = webhook("every", ALL);
    every["rules"][0]["resources"] = json!(["*/*"]);
    let mut cluster = webhook("cluster", ALL);
    cluster["rules"][0]["scope"] = json!("Cluster");
    let mut other = webhook("other", ALL);
    other["rules"][0]["apiGroups"] = json!(["other.example.com"]);
    let webhooks =
        json!([webhook("create", &["CREATE"]), webhook("update", &["UPDATE"]), status, every, cluster, other]);
    let (_, widgets, reviews) = client_of(&validating(webhooks), |_, _| allowed());
    create(&widgets, &widget("a")).await;
    assert_eq!(sorted(reviews.paths()), ["/create", "/every"]);
    let labels = Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }));
    widgets.patch("a", &PatchParams::default(), &labels).await.unwrap();
    assert_eq!(sorted(reviews.paths()), ["/every", "/update"]);
    let state = Patch::Merge(json!({ "status": { "state": "A" } }));
    widgets.patch_status("a", &PatchParams::default(), &state).await.unwrap();
    assert_eq!(sorted(reviews.paths()), ["/every", "/status"]);
}

fn sorted(mut paths: Vec<String>) -> Vec<String> {
    paths.sort();
    paths
}

#[tokio::test]
async fn selectors_match_labels_of_objects_and_namespaces() {
    let mut of_objects = webhook("objects", ALL);
    of_objects["objectSelector"] = json!({ "matchLabels": { "a": "b" } });
    let mut of_namespaces = webhook("namespaces", ALL);
    of_namespaces["namespaceSelector"] = json!({ "matchExpressions": [{ "key": "kubernetes.io/metadata.name", "operator": "In", "values": ["default"] }] });
    let mut of_others = webhook("others", ALL);
    of_others["namespaceSelector"] = json!({ "matchLabels": { "other": "yes" } });
    let webhooks = json!([of_objects, of_namespaces, of_others]);
    let (_, widgets, reviews) = client_of(&validating(webhooks), |_, _| allowed());
    create(&widgets, &widget("a")).await;
    assert_eq!(reviews.paths(), ["/namespaces"]);
    create(&widgets, &labelled("b", &[("a", "b")])).await;
    assert_eq!(sorted(reviews.paths()), ["/namespaces", "/objects"]);
    // The old object matches.
    let labels = Patch::Merge(json!({ "metadata": { "labels": { "a": null } } }));
    widgets.patch("b", &PatchParams::default(), &labels).await.unwrap();
    assert_eq!(sorted(reviews.paths()), ["/namespaces", "/objects"]);
}

#[tokio::test]
async fn another_version_is_converted_unless_the_policy_is_exact() {
    let mut definition = widget_definition();
    let mut second = definition["spec"]["versions"][0].clone();
    (second["name"], second["storage"]) = (json!("v2"), json!(false));
    definition["spec"]["versions"].as_array_mut().unwrap().push(second);
    let mut exact = webhook("exact", ALL);
    exact["matchPolicy"] = json!("Exact");
    let server = ApiServer::new();
    server.load(&definition).unwrap();
    server.load(&mutating(json!([webhook("equivalent", ALL), exact]))).unwrap();
    let reviews = respond(&server, |_, _| patched(&json!([{ "op": "add", "path": "/spec/mode", "value": "Fast" }])));
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v2", "Widget"));
    let widgets: Api<DynamicObject> = Api::default_namespaced_with(server.client(), &kind);
    let mut object = widget("a");
    object.types = Some(kube::core::TypeMeta { api_version: "example.com/v2".into(), kind: "Widget".into() });
    let created = widgets.create(&PostParams::default(), &object).await.unwrap();
    assert_eq!(created.types.unwrap().api_version, "example.com/v2");
    assert_eq!(created.data["spec"]["mode"], "Fast");
    let requests = reviews.take();
    let [request] = &requests[..] else { panic!("one review: {requests:?}") };
    assert_eq!((&request["kind"]["version"], &request["requestKind"]["version"]), (&json!("v1"), &json!("v2")));
    assert_eq!(request["object"]["apiVersion"], "example.com/v1");
}

#[tokio::test]
async fn built_in_kinds_are_reviewed_and_configurations_are_not() {
    let mut every = webhook("every", ALL);
    every["rules"][0] = json!({
        "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"],
    });
    let (client, _, reviews) = client_of(&validating(json!([every.clone()])), |_, _| json!({ "allowed": false }));
    let create =
        async |path: &str, object: Value| raw(&client, "POST", path, "application/json", &object.to_string()).await.0;
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
    assert_eq!(create("/api/v1/namespaces/default/configmaps", map).await, 400);
    assert_eq!(reviews.take()[0]["object"]["kind"], "ConfigMap");
    let mut other = validating(json!([every]));
    other["metadata"]["name"] = json!("other");
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    assert_eq!(create(path, other).await, 201);
    assert!(reviews.take().is_empty());
}

#[tokio::test]
async fn conditions_are_not_evaluated() {
    let mut conditional = webhook("it", ALL);
    conditional["matchConditions"] = json!([{ "name": "never", "expression": "false" }]);
    let (_, widgets, _) = client_of(&validating(json!([conditional])), |_, _| allowed());
    let (code, _, message) = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
    assert_eq!(code, 500);
    assert!(message.contains("does not evaluate the matchConditions of the webhook \"it.example.com\""), "{message}");
}

#[tokio::test]
async fn no_webhooks_are_called_without_a_function() {
    let server = server_with(&[validating(json!([webhook("it", ALL)]))]);
    create(&widgets(&server.client()), &widget("a")).await;
}
