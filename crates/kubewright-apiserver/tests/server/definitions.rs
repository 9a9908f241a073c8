//! Custom resource definitions, from creation to deletion.

use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    runtime::{conditions::is_crd_established, wait::await_condition},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

#[tokio::test]
async fn a_created_definition_is_established_and_served() {
    let client = client().await;
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    await_condition(api.clone(), "widgets.example.com", is_crd_established()).await.unwrap();
    let definition = api.get("widgets.example.com").await.unwrap();
    let names = &definition.spec.names;
    assert_eq!((names.singular.as_deref(), names.list_kind.as_deref()), (Some("widget"), Some("WidgetList")));
    let status = definition.status.unwrap();
    assert_eq!(status.accepted_names.as_ref(), Some(names));
    assert_eq!(status.stored_versions.as_deref(), Some(["v1".to_owned()].as_slice()));
    let conditions: Vec<(String, String)> =
        status.conditions.unwrap().into_iter().map(|condition| (condition.type_, condition.status)).collect();
    assert_eq!(conditions, [("NamesAccepted".into(), "True".into()), ("Established".into(), "True".into())]);
    create(&widgets(&client), &widget("a")).await;
}

#[tokio::test]
async fn an_unknown_kind_is_not_found() {
    let client = ApiServer::new().client();
    assert_eq!(rejection(widgets(&client).list(&Default::default()).await).0, 404);
    let text = raw(&client, "GET", "/apis/example.com/v1/widgets", "", "").await;
    assert_eq!(text, (404, "404 page not found\n".into()));
    let (code, body) = raw(&client, "GET", "/api/v1/nopes", "", "").await;
    assert_eq!(code, 404);
    assert!(body.contains("the server could not find the requested resource"), "{body}");
}

#[tokio::test]
async fn an_invalid_definition_is_rejected() {
    let client = ApiServer::new().client();
    let mut broken = widget_definition();
    broken["metadata"]["name"] = json!("x.example.com");
    broken["spec"]["versions"][0]["storage"] = json!(false);
    broken["spec"]["scope"] = json!("Nope");
    let (code, _, message) = rejection(definitions(&client).create(&PostParams::default(), &object(broken)).await);
    assert_eq!(code, 422);
    for part in [
        "CustomResourceDefinition.apiextensions.k8s.io \"x.example.com\" is invalid: [",
        "metadata.name: Invalid value: \"x.example.com\": must be spec.names.plural+\".\"+spec.group",
        "must have exactly one version marked as storage version",
        "spec.scope: Unsupported value: \"Nope\": supported values: \"Cluster\", \"Namespaced\"",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[tokio::test]
async fn an_updated_definition_is_served() {
    let client = client().await;
    let api = definitions(&client);
    let mut second: Value = widget_definition()["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    let mut definition = api.get("widgets.example.com").await.unwrap();
    let versions = definition.data["spec"]["versions"].as_array_mut().unwrap();
    versions[0]["storage"] = json!(false);
    versions.push(second);
    let updated = api.replace("widgets.example.com", &PostParams::default(), &definition).await.unwrap();
    assert_eq!(updated.data["status"]["storedVersions"], json!(["v1", "v2"]));
    assert_eq!(updated.metadata.generation, Some(2));

    create(&widgets(&client), &widget("a")).await;
    let kind = kube::core::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk("example.com", "v2", "Widget"));
    let newer: Api<kube::api::DynamicObject> = Api::default_namespaced_with(client, &kind);
    assert_eq!(newer.get("a").await.unwrap().types.unwrap().api_version, "example.com/v2");
    let rename = Patch::Merge(json!({ "spec": { "names": { "kind": "Other" } } }));
    let message = "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: \
        spec.names.kind: Invalid value: \"Other\": field is immutable";
    assert_eq!(rejection(api.patch("widgets.example.com", &PatchParams::default(), &rename).await).2, message);
}

#[tokio::test]
async fn deleting_a_definition_removes_its_kind_and_objects() {
    let client = client().await;
    let made = create(&widgets(&client), &widget("a")).await;
    definitions(&client).delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    assert_eq!(definitions(&client).get_opt("widgets.example.com").await.unwrap(), None);
    assert_eq!(raw(&client, "GET", "/apis/example.com/v1/widgets", "", "").await.0, 404);

    create_definition(&client, widget_definition()).await;
    assert_eq!(widgets(&client).get_opt("a").await.unwrap(), None);
    assert!(version(&create(&widgets(&client), &widget("a")).await) > version(&made));
}

#[tokio::test]
async fn a_deleted_definition_waits_for_finalizers_of_its_objects() {
    let client = client().await;
    let mut held = widget("a");
    held.metadata.finalizers = Some(vec!["example.com/f".into()]);
    create(&widgets(&client), &held).await;
    definitions(&client).delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    let ending = definitions(&client).get("widgets.example.com").await.unwrap();
    assert_eq!(ending.finalizers(), ["customresourcecleanup.apiextensions.k8s.io"]);
    assert_eq!(rejection(widgets(&client).create(&PostParams::default(), &widget("b")).await).0, 403);

    let release = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    widgets(&client).patch("a", &PatchParams::default(), &release).await.unwrap();
    assert_eq!(definitions(&client).get_opt("widgets.example.com").await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_watch_delivers_the_steps_of_the_deletion_of_a_definition() {
    let client = client().await;
    let api = definitions(&client);
    let version = api.get("widgets.example.com").await.unwrap().resource_version().unwrap();
    api.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    let watch = api.watch(&WatchParams::default().disable_bookmarks().timeout(1), &version).await.unwrap();
    let terminating = |definition: &DynamicObject| {
        let conditions = definition.data["status"]["conditions"].as_array().into_iter().flatten();
        let found = conditions.into_iter().find(|condition| condition["type"] == "Terminating");
        let reason = found.and_then(|condition| condition["reason"].as_str()).unwrap_or_default();
        format!("{reason} {:?}", definition.finalizers())
    };
    let seen: Vec<String> = watch
        .map(|event| match event.unwrap() {
            WatchEvent::Modified(object) => format!("MODIFIED {}", terminating(&object)),
            WatchEvent::Deleted(object) => format!("DELETED {}", terminating(&object)),
            other => format!("{other:?}"),
        })
        .collect()
        .await;
    let cleanup = "[\"customresourcecleanup.apiextensions.k8s.io\"]";
    let expected = [
        format!("MODIFIED InstanceDeletionPending {cleanup}"),
        format!("MODIFIED InstanceDeletionInProgress {cleanup}"),
        format!("DELETED InstanceDeletionInProgress {cleanup}"),
    ];
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_watch_delivers_the_deletions_of_its_definition_and_ends() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let mut held = widget("b");
    held.metadata.finalizers = Some(vec!["example.com/f".into()]);
    let version = create(&api, &held).await.resource_version().unwrap();
    let watch = api.watch(&WatchParams::default().disable_bookmarks().timeout(290), &version).await.unwrap();
    definitions(&client).delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    let release = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    api.patch("b", &PatchParams::default(), &release).await.unwrap();
    let before = tokio::time::Instant::now();
    let seen: Vec<String> = watch
        .map(|event| match event.unwrap() {
            WatchEvent::Modified(object) => format!("MODIFIED {}", object.name_any()),
            WatchEvent::Deleted(object) => format!("DELETED {}", object.name_any()),
            other => format!("{other:?}"),
        })
        .collect()
        .await;
    assert_eq!(seen, ["DELETED a", "MODIFIED b", "DELETED b"]);
    assert_eq!(before.elapsed(), std::time::Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn requests_of_deprecated_versions_are_warned() {
    let client = ApiServer::new().client();
    let mut definition = widget_definition();
    let mut old = definition["spec"]["versions"][0].clone();
    old["storage"] = json!(false);
    for (name, warning) in [("v0", json!(null)), ("v00", json!("use v1"))] {
        let mut version = old.clone();
        version["name"] = json!(name);
        version["deprecated"] = json!(true);
        if warning.is_string() {
            version["deprecationWarning"] = warning;
        }
        definition["spec"]["versions"].as_array_mut().unwrap().push(version);
    }
    create_definition(&client, definition).await;
    for (version, warning) in [
        ("v1", None),
        ("v0", Some("299 - \"example.com/v0 Widget is deprecated; use example.com/v1 Widget\"")),
        ("v00", Some("299 - \"use v1\"")),
    ] {
        let request = http::Request::get(format!("/apis/example.com/{version}/widgets"));
        let response = client.send(request.body(kube::client::Body::empty()).unwrap()).await.unwrap();
        let found = response.headers().get("warning").map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(found.as_deref(), warning, "{version}");
    }
}
