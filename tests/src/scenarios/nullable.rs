//! `Nullable`: nulls are sent, stored and returned as nulls.

use fixture_client::{
    Clientset,
    applyconfigurations::nullable_v1::{AuthorApply, MemoApply, MemoSpecApply},
};
use fixture_types::nullable_v1::{Author, Memo, MemoSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject},
};
use kubewright_core::Nullable;
use kubewright_runtime::FieldManager;
use serde_json::{Value, json};

use crate::namespace;

fn memo(spec: MemoSpec) -> Memo {
    Memo { metadata: ObjectMeta { name: Some("memo".into()), ..ObjectMeta::default() }, spec, remark: Nullable::Absent }
}

fn nulls() -> MemoSpec {
    MemoSpec {
        note: Nullable::Null,
        priority: Nullable::Null,
        author: Nullable::Null,
        data: Nullable::Null,
        due: Nullable::Null,
        readers: vec![Author { name: Nullable::Null }, Author::default()],
    }
}

fn values() -> MemoSpec {
    MemoSpec {
        note: "hi".to_owned().into(),
        priority: 3.into(),
        author: Author { name: Nullable::Null }.into(),
        data: json!({"a": null}).into(),
        due: "now".to_owned().into(),
        readers: Vec::new(),
    }
}

/// Returns the stored object as raw JSON.
async fn stored(client: &Client, namespace: &str) -> Value {
    let resource = ApiResource::erase::<Memo>(&());
    Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource).get("memo").await.unwrap().data
}

pub(super) async fn nulls_and_absent_fields_round_trip(client: Client) {
    let namespace = namespace(&client, "nulls").await;
    let memos = Clientset::new(client.clone()).nullable_v1().memos(&namespace);
    let sent = Memo { remark: Nullable::Null, ..memo(nulls()) };
    let mut created = memos.create(&sent, &PostParams::default()).await.unwrap();
    assert_eq!((&created.spec, &created.remark), (&sent.spec, &sent.remark));
    let spec = json!({
        "note": null, "priority": null, "author": null, "data": null, "due": null,
        "readers": [{"name": null}, {}],
    });
    assert_eq!(stored(&client, &namespace).await, json!({"spec": spec, "remark": null}));

    created.spec = values();
    created.remark = Nullable::Absent;
    let mut updated = memos.update(&created, &PostParams::default()).await.unwrap();
    assert_eq!((&updated.spec, &updated.remark), (&created.spec, &created.remark));
    let spec = json!({
        "note": "hi", "priority": 3, "author": {"name": null}, "data": {"a": null}, "due": "now",
        "readers": [],
    });
    assert_eq!(stored(&client, &namespace).await, json!({"spec": spec}));

    updated.spec = MemoSpec { due: Nullable::Absent, ..MemoSpec::default() };
    let updated = memos.update(&updated, &PostParams::default()).await.unwrap();
    assert_eq!(updated.spec, MemoSpec::default());
    assert_eq!(stored(&client, &namespace).await, json!({"spec": {"due": "later", "readers": []}}));
}

pub(super) async fn a_null_in_a_merge_patch_removes_the_field(client: Client) {
    let namespace = namespace(&client, "removed").await;
    let memos = Clientset::new(client.clone()).nullable_v1().memos(&namespace);
    memos.create(&memo(values()), &PostParams::default()).await.unwrap();
    let patch = Patch::Merge(json!({"spec": {"note": null, "due": null}}));
    let patched = memos.patch("memo", &patch, &PatchParams::default()).await.unwrap();
    assert!(patched.spec.note.is_absent());
    assert_eq!(patched.spec.due.value().map(String::as_str), Some("later"));
}

pub(super) async fn nullable_fields_are_validated(client: Client) {
    let namespace = namespace(&client, "ruled").await;
    let memos = Clientset::new(client).nullable_v1().memos(&namespace);
    let low = memo(MemoSpec { priority: 0.into(), ..MemoSpec::default() });
    let error = memos.create(&low, &PostParams::default()).await.unwrap_err();
    assert!(error.is_invalid() && error.to_string().contains("spec.priority"), "{error}");
}

pub(super) async fn nulls_are_applied_extracted_and_applied_again(client: Client) {
    let namespace = namespace(&client, "applied-nulls").await;
    let memos = Clientset::new(client.clone()).nullable_v1().memos(&namespace);
    let manager = FieldManager::new("nulls");
    let spec = MemoSpecApply::new()
        .with_note(Nullable::Null)
        .with_priority(3)
        .with_author(AuthorApply::new().with_name(Nullable::Null));
    let configuration = MemoApply::new("memo", &namespace).with_spec(spec).with_remark("kept".to_owned());
    let applied = memos.apply(&configuration, &manager).await.unwrap();
    assert_eq!(applied.spec.note, Nullable::Null);
    assert_eq!(stored(&client, &namespace).await["spec"]["author"], json!({"name": null}));
    let owned = MemoApply::extract(&applied, manager.name()).unwrap();
    assert_eq!(owned, configuration, "a null is owned like any value");
    let again = memos.apply(&owned.with_remark(Nullable::Absent), &manager).await.unwrap();
    assert_eq!(again.remark, Nullable::Absent, "fields that are no longer applied are removed");
}
