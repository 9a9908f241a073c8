//! Delete, finalizers and delete-collection.

use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions},
};
use serde_json::json;

use crate::support::*;

fn finalizers(list: serde_json::Value) -> Patch<serde_json::Value> {
    Patch::Merge(json!({ "metadata": { "finalizers": list } }))
}

#[tokio::test]
async fn delete_removes_the_object_and_returns_its_name() {
    let client = client().await;
    let api = widgets(&client);
    let made = create(&api, &widget("a")).await;
    let status = api.delete("a", &DeleteParams::default()).await.unwrap().right().unwrap();
    let details = status.details.clone().unwrap();
    assert!(status.is_success());
    assert_eq!((details.name.as_str(), details.group.as_str(), details.kind.as_str()), ("a", "example.com", "widgets"));
    assert_eq!(Some(details.uid), made.uid());
    let rejected = rejection(api.delete("a", &DeleteParams::default()).await);
    assert_eq!(rejected, (404, "NotFound".into(), "widgets.example.com \"a\" not found".into()));
}

#[tokio::test]
async fn an_object_with_finalizers_stays_until_they_are_removed() {
    let client = client().await;
    let api = widgets(&client);
    let mut held = widget("a");
    held.metadata.finalizers = Some(vec!["example.com/f".into()]);
    create(&api, &held).await;

    let ending = api.delete("a", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert!(ending.metadata.deletion_timestamp.is_some());
    assert_eq!((ending.metadata.deletion_grace_period_seconds, ending.metadata.generation), (Some(0), Some(2)));
    let again = api.delete("a", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(again, ending, "a second delete changes nothing");

    let (code, _, message) =
        rejection(api.patch("a", &PatchParams::default(), &finalizers(json!(["example.com/f", "g"]))).await);
    assert_eq!(code, 422);
    assert!(message.contains("no new finalizers can be added if the object is being deleted"), "{message}");

    let last = api.patch("a", &PatchParams::default(), &finalizers(json!([]))).await.unwrap();
    assert_eq!(version(&last), version(&ending));
    assert_eq!(api.get_opt("a").await.unwrap(), None);
}

#[tokio::test]
async fn delete_preconditions_are_honoured() {
    let client = client().await;
    let api = widgets(&client);
    let made = create(&api, &widget("a")).await;
    let params = |uid: Option<&str>, version: Option<&str>| DeleteParams {
        preconditions: Some(Preconditions { uid: uid.map(Into::into), resource_version: version.map(Into::into) }),
        ..DeleteParams::default()
    };
    let (uid, version) = (made.uid().unwrap(), made.resource_version().unwrap());
    let message = format!(
        "Operation cannot be fulfilled on Widget.example.com \"a\": the UID in the precondition (foo) does not match the UID in \
         record ({uid}). The object might have been deleted and then recreated"
    );
    assert_eq!(rejection(api.delete("a", &params(Some("foo"), None)).await), (409, "Conflict".into(), message));
    let message = format!(
        "Operation cannot be fulfilled on Widget.example.com \"a\": the ResourceVersion in the precondition (1) does not match \
         the ResourceVersion in record ({version}). The object might have been modified"
    );
    assert_eq!(rejection(api.delete("a", &params(None, Some("1"))).await), (409, "Conflict".into(), message));
    api.delete("a", &params(Some(&uid), Some(&version))).await.unwrap();
}

#[tokio::test]
async fn a_dry_run_deletes_nothing() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    api.delete("a", &DeleteParams::default().dry_run()).await.unwrap().right().unwrap();
    api.get("a").await.unwrap();
}

#[tokio::test]
async fn delete_collection_returns_the_deleted_objects() {
    let client = client().await;
    let api = widgets(&client);
    for (name, value) in [("a", "yes"), ("b", "yes"), ("c", "no")] {
        create(&api, &labelled(name, &[("go", value)])).await;
    }
    let selected = ListParams::default().labels("go=yes");
    let deleted = api.delete_collection(&DeleteParams::default(), &selected).await.unwrap().left().unwrap();
    assert_eq!(deleted.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["a", "b"]);
    let left = api.list(&ListParams::default()).await.unwrap();
    assert_eq!(left.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["c"]);
}

#[tokio::test]
async fn a_terminating_namespace_rejects_new_objects() {
    use k8s_openapi::api::core::v1::Namespace;

    let client = client_without_garbage_collection().await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("n1".into());
    let made = namespaces.create(&Default::default(), &namespace).await.unwrap();
    assert_eq!(made.labels()["kubernetes.io/metadata.name"], "n1");
    assert_eq!(made.status.and_then(|status| status.phase).as_deref(), Some("Active"));

    let ending = namespaces.delete("n1", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(ending.status.and_then(|status| status.phase).as_deref(), Some("Terminating"));
    let api = Api::namespaced_with(client, "n1", &widget_kind());
    let rejected = rejection(api.create(&Default::default(), &widget("a")).await);
    let message = "widgets.example.com \"a\" is forbidden: unable to create new content in namespace n1 because it is being terminated";
    assert_eq!(rejected, (403, "Forbidden".into(), message.into()));

    let rejected = rejection(namespaces.delete("default", &DeleteParams::default()).await);
    let message = "namespaces \"default\" is forbidden: this namespace may not be deleted";
    assert_eq!(rejected, (403, "Forbidden".into(), message.into()));
}
