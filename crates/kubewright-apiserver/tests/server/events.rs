//! Events of both API groups.

use k8s_openapi::api::{core, events};
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams},
};
use serde_json::json;

use crate::support::*;

fn event(name: &str) -> core::v1::Event {
    let about = json!({ "kind": "ConfigMap", "namespace": "default", "name": "o" });
    let event = json!({
        "metadata": { "name": name }, "involvedObject": about, "message": "said", "reason": "Because", "type": "Normal",
    });
    serde_json::from_value(event).unwrap()
}

#[tokio::test]
async fn events_are_shared_by_both_groups() {
    let client = client().await;
    let (old, new): (Api<core::v1::Event>, Api<events::v1::Event>) =
        (Api::default_namespaced(client.clone()), Api::default_namespaced(client));
    let made = old.create(&PostParams::default(), &event("a")).await.unwrap();
    let seen = new.get("a").await.unwrap();
    assert_eq!((seen.note.as_deref(), seen.metadata), (Some("said"), made.metadata));
    new.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(old.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn each_group_has_its_own_field_selectors() {
    let client = client().await;
    let (old, new): (Api<core::v1::Event>, Api<events::v1::Event>) =
        (Api::default_namespaced(client.clone()), Api::default_namespaced(client));
    old.create(&PostParams::default(), &event("a")).await.unwrap();
    let count = async |field: &str| {
        let by = ListParams::default().fields(&format!("{field}.name=o"));
        (old.list(&by).await.map(|list| list.items.len()).ok(), new.list(&by).await.map(|list| list.items.len()).ok())
    };
    assert_eq!(count("involvedObject").await, (Some(1), None));
    assert_eq!(count("regarding").await, (None, Some(1)));
}
