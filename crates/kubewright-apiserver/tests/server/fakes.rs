//! Rules F3 to F6 of client-go's fakes, which other fakes violate.

use std::pin::pin;

use futures::TryStreamExt;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

fn applied(manager: &str) -> PatchParams {
    PatchParams::apply(manager)
}

fn widget_of_color(color: &str) -> Value {
    let labels = json!({ "color": color });
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "a", "labels": labels }, "spec": { "name": "x" },
    })
}

async fn set(api: &Api<DynamicObject>, spec: Value) -> kube::Result<DynamicObject> {
    api.patch("a", &PatchParams::default(), &Patch::Merge(json!({ "spec": spec }))).await
}

/// Returns the events of a watch within a second: the names of the objects with a sign for the type.
async fn seen(api: &Api<DynamicObject>, params: WatchParams, version: &str) -> Vec<String> {
    let stream = api.watch(&params.disable_bookmarks().timeout(1), version).await.unwrap();
    let describe = |event: WatchEvent<DynamicObject>| match event {
        WatchEvent::Added(object) => format!("+{}", object.name_any()),
        WatchEvent::Modified(object) => format!("~{}", object.name_any()),
        WatchEvent::Deleted(object) => format!("-{}", object.name_any()),
        WatchEvent::Bookmark(_) => "bookmark".to_owned(),
        WatchEvent::Error(status) => status.code.to_string(),
    };
    stream.map_ok(describe).try_collect().await.unwrap()
}

async fn client_with_history(history: usize) -> Client {
    let client = ApiServer::builder().history(history).build().client();
    create_definition(&client, widget_definition()).await;
    client
}

#[tokio::test]
async fn f03_an_apply_creates_and_each_manager_owns_its_fields() {
    let api = widgets(&client().await);
    let made = api.patch("a", &applied("one"), &Patch::Apply(widget_of_color("red"))).await.unwrap();
    assert_eq!(made.labels()["color"], "red");
    let (code, reason, message) =
        rejection(api.patch("a", &applied("two"), &Patch::Apply(widget_of_color("blue"))).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"one\": .metadata.labels.color");
    let taken = api.patch("a", &applied("two").force(), &Patch::Apply(widget_of_color("blue"))).await.unwrap();
    assert_eq!(taken.labels()["color"], "blue");
}

#[tokio::test]
async fn f03_an_apply_without_a_type_is_rejected() {
    let api = widgets(&client().await);
    assert_eq!(
        rejection(api.patch("a", &applied("one"), &Patch::Apply(json!({ "spec": { "name": "x" } }))).await).0,
        400
    );
}

#[tokio::test]
async fn f04_a_patch_of_a_missing_object_is_not_found() {
    let api = widgets(&client().await);
    let test = serde_json::from_value(json!([{ "op": "test", "path": "/spec", "value": {} }])).unwrap();
    for patch in [Patch::Merge(json!({})), Patch::Json(test)] {
        assert_eq!(rejection(api.patch("nope", &PatchParams::default(), &patch).await).0, 404);
        assert_eq!(rejection(api.patch_status("nope", &PatchParams::default(), &patch).await).0, 404);
    }
}

#[tokio::test]
async fn f05_every_write_increments_the_version_and_stale_writes_conflict() {
    let api = widgets(&client().await);
    let made = create(&api, &widget("a")).await;
    let changed = set(&api, json!({ "name": "y" })).await.unwrap();
    assert_eq!(version(&changed), version(&made) + 1);
    assert_eq!(rejection(api.replace("a", &PostParams::default(), &made).await).0, 409);
    let replaced = api.replace("a", &PostParams::default(), &changed).await.unwrap();
    assert_eq!(version(&replaced), version(&changed), "nothing changed");
}

#[tokio::test]
async fn f05_a_status_is_written_by_its_subresource_only() {
    let api = widgets(&client().await);
    create(&api, &widget("a")).await;
    let status = Patch::Merge(json!({ "spec": { "name": "y" }, "status": { "state": "A" } }));
    let by_object = api.patch("a", &PatchParams::default(), &status).await.unwrap();
    assert_eq!((&by_object.data["spec"]["name"], by_object.data.get("status")), (&json!("y"), None));
    let other = Patch::Merge(json!({ "spec": { "name": "z" }, "status": { "state": "A" } }));
    let by_status = api.patch_status("a", &PatchParams::default(), &other).await.unwrap();
    assert_eq!((&by_status.data["spec"]["name"], &by_status.data["status"]["state"]), (&json!("y"), &json!("A")));
}

#[tokio::test]
async fn f05_an_object_with_finalizers_is_deleted_with_the_last_one() {
    let api = widgets(&client().await);
    let mut held = widget("a");
    held.finalizers_mut().push("example.com/f".to_owned());
    create(&api, &held).await;
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(api.get("a").await.unwrap().metadata.deletion_timestamp.is_some());
    let free = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    api.patch("a", &PatchParams::default(), &free).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn f05_a_dry_run_changes_nothing() {
    let api = widgets(&client().await);
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    api.create(&dry, &widget("a")).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
    create(&api, &widget("a")).await;
    api.delete("a", &DeleteParams::default().dry_run()).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn f06_a_deletion_between_a_list_and_its_watch_is_not_lost() {
    let api = widgets(&client().await);
    create(&api, &widget("a")).await;
    let listed = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(seen(&api, WatchParams::default(), &listed).await, ["-a"]);
}

#[tokio::test(start_paused = true)]
async fn f06_watches_start_at_every_retained_version_and_older_ones_expire() {
    let api = widgets(&client_with_history(3).await);
    let mut versions = Vec::new();
    for name in ["a", "b", "c", "d"] {
        versions.push(create(&api, &widget(name)).await.resource_version().unwrap());
    }
    let expected: [&[&str]; 4] = [&["+b", "+c", "+d"], &["+c", "+d"], &["+d"], &[]];
    for (version, expected) in versions.iter().zip(expected) {
        assert_eq!(seen(&api, WatchParams::default(), version).await, expected);
    }
    create(&api, &widget("e")).await;
    assert_eq!(seen(&api, WatchParams::default(), &versions[0]).await, ["410"]);
}

#[tokio::test(start_paused = true)]
async fn f06_selectors_are_honoured_by_lists_and_watches() {
    let mut definition = widget_definition();
    definition["spec"]["versions"][0]["selectableFields"] = json!([{ "jsonPath": ".spec.mode" }]);
    let client = ApiServer::new().client();
    create_definition(&client, definition).await;
    let api = widgets(&client);
    let first = create(&api, &labelled("a", &[("l", "x")])).await.resource_version().unwrap();
    set(&api, json!({ "mode": "Fast" })).await.unwrap();
    create(&api, &widget("b")).await;
    let by_field = ListParams::default().fields("spec.mode=Fast");
    assert_eq!(api.list(&by_field).await.unwrap().items.len(), 1);
    set(&api, json!({ "mode": "Slow" })).await.unwrap();
    assert_eq!(seen(&api, WatchParams::default().fields("spec.mode=Fast"), &first).await, ["+a", "-a"]);
    assert_eq!(seen(&api, WatchParams::default().labels("l=x"), &first).await, ["~a", "~a"]);
}

#[tokio::test(start_paused = true)]
async fn f06_an_unread_watch_buffers_nothing_and_ends() {
    let api = widgets(&client_with_history(100).await);
    create(&api, &widget("a")).await;
    let mut unread = pin!(api.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap());
    assert!(matches!(unread.try_next().await.unwrap(), Some(WatchEvent::Added(_))));
    for round in 0..1000 {
        set(&api, json!({ "timeInterval": round % 100 + 1 })).await.unwrap();
    }
    assert!(unread.try_next().await.unwrap().is_none(), "the watch ends; its restart would receive 410");
}

#[tokio::test(start_paused = true)]
async fn f06_initial_events_end_with_an_annotated_bookmark() {
    let api = widgets(&client().await);
    create(&api, &widget("a")).await;
    let mut stream = pin!(api.watch(&WatchParams::default().initial_events(), "").await.unwrap());
    assert!(matches!(stream.try_next().await.unwrap(), Some(WatchEvent::Added(_))));
    let Some(WatchEvent::Bookmark(mark)) = stream.try_next().await.unwrap() else { panic!("no bookmark") };
    assert_eq!(mark.metadata.annotations["k8s.io/initial-events-end"], "true");
}
