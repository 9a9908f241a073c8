//! Create, update, patch and status.

use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::support::*;

const MODIFIED: &str = "Operation cannot be fulfilled on widgets.example.com \"a\": the object has been modified; \
    please apply your changes to the latest version and try again";

fn merge() -> PatchParams {
    PatchParams::default()
}

#[tokio::test]
async fn create_sets_the_fields_of_the_server() {
    let client = client().await;
    let made = create(&widgets(&client), &widget("a")).await;
    assert_eq!(made.metadata.generation, Some(1));
    assert_eq!(made.namespace().as_deref(), Some("default"));
    assert!(made.uid().is_some() && made.creation_timestamp().is_some() && version(&made) > 1);
    assert_eq!(made.types.as_ref().map(|types| types.kind.as_str()), Some("Widget"));
    assert_eq!(widgets(&client).get("a").await.unwrap(), made);
}

#[tokio::test]
async fn create_of_an_existing_name_is_rejected() {
    let client = client().await;
    create(&widgets(&client), &widget("a")).await;
    let rejected = rejection(widgets(&client).create(&PostParams::default(), &widget("a")).await);
    assert_eq!(rejected, (409, "AlreadyExists".into(), "widgets.example.com \"a\" already exists".into()));
}

#[tokio::test]
async fn generate_name_adds_five_characters() {
    let client = client().await;
    let mut nameless = widget("");
    nameless.metadata.name = None;
    nameless.metadata.generate_name = Some("g-".into());
    let names =
        [create(&widgets(&client), &nameless).await.name_any(), create(&widgets(&client), &nameless).await.name_any()];
    assert_ne!(names[0], names[1]);
    assert!(names.iter().all(|name| name.starts_with("g-") && name.len() == 7), "{names:?}");
}

#[tokio::test]
async fn create_without_a_name_is_rejected() {
    let (code, body) = post(
        &client().await,
        json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {}, "spec": { "name": "x" } }),
    )
    .await;
    let message = "Widget.example.com \"\" is invalid: metadata.name: Required value: name or generateName is required";
    assert_eq!((code, body["message"].as_str()), (422, Some(message)));
}

#[tokio::test]
async fn create_in_a_missing_namespace_is_rejected() {
    let client = client().await;
    let api = Api::namespaced_with(client, "missing", &widget_kind());
    let rejected = rejection(api.create(&PostParams::default(), &widget("a")).await);
    assert_eq!(rejected, (404, "NotFound".into(), "namespaces \"missing\" not found".into()));
}

#[tokio::test]
async fn create_with_a_resource_version_is_rejected() {
    let client = client().await;
    let mut versioned = widget("a");
    versioned.metadata.resource_version = Some("5".into());
    let (code, _, message) = rejection(widgets(&client).create(&PostParams::default(), &versioned).await);
    // The real server answers with 500, too.
    assert_eq!((code, message.as_str()), (500, "resourceVersion should not be set on objects to be created"));
}

#[tokio::test]
async fn the_body_must_match_the_type_and_namespace_of_the_endpoint() {
    let client = client().await;
    let body = |api_version: &str, kind: &str, namespace: &str| {
        json!({
            "apiVersion": api_version, "kind": kind,
            "metadata": { "name": "x", "namespace": namespace }, "spec": { "name": "x" },
        })
    };
    let cases = [
        (
            body("example.com/v2", "Widget", "default"),
            400,
            "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)",
        ),
        (
            body("example.com/v1", "Gadget", "default"),
            422,
            "Gadget.example.com \"x\" is invalid: kind: Invalid value: \"Gadget\": must be Widget",
        ),
        (
            body("example.com/v1", "Widget", "other"),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ];
    for (body, code, message) in cases {
        let (found, status) = post(&client, body).await;
        assert_eq!((found, status["message"].as_str()), (code, Some(message)));
    }
}

#[tokio::test]
async fn an_update_increments_the_generation_only_if_the_content_changes() {
    let client = client().await;
    let api = widgets(&client);
    let made = create(&api, &widget("a")).await;

    let mut changed = made.clone();
    changed.data["spec"]["name"] = json!("y");
    let changed = api.replace("a", &PostParams::default(), &changed).await.unwrap();
    assert_eq!(changed.metadata.generation, Some(2));
    assert!(version(&changed) > version(&made));

    let mut relabelled = changed.clone();
    relabelled.labels_mut().insert("l".into(), "v".into());
    let relabelled = api.replace("a", &PostParams::default(), &relabelled).await.unwrap();
    assert_eq!(relabelled.metadata.generation, Some(2));
}

#[tokio::test]
async fn a_no_op_update_preserves_the_version() {
    let client = client().await;
    let made = create(&widgets(&client), &widget("a")).await;
    assert_eq!(widgets(&client).replace("a", &PostParams::default(), &made).await.unwrap(), made);
}

#[tokio::test]
async fn an_update_of_an_older_version_conflicts() {
    let client = client().await;
    let api = widgets(&client);
    let made = create(&api, &widget("a")).await;
    api.patch("a", &merge(), &Patch::Merge(json!({ "spec": { "name": "y" } }))).await.unwrap();
    let rejected = rejection(api.replace("a", &PostParams::default(), &made).await);
    assert_eq!(rejected, (409, "Conflict".into(), MODIFIED.into()));
}

#[tokio::test]
async fn an_update_must_have_a_resource_version() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let message = "widgets.example.com \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    let rejected = rejection(api.replace("a", &PostParams::default(), &widget("a")).await);
    assert_eq!(rejected, (422, "Invalid".into(), message.into()));
}

#[tokio::test]
async fn an_update_with_another_uid_conflicts() {
    let client = client().await;
    let api = widgets(&client);
    let mut other = create(&api, &widget("a")).await;
    other.metadata.uid = Some("other".into());
    let (code, reason, message) = rejection(api.replace("a", &PostParams::default(), &other).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert!(message.contains("Precondition failed: UID in precondition: other"), "{message}");
}

#[tokio::test]
async fn an_update_cannot_change_the_creation_time_or_the_generation() {
    let client = client().await;
    let api = widgets(&client);
    let made = create(&api, &widget("a")).await;
    let patch = json!({ "metadata": { "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 77 } });
    assert_eq!(api.patch("a", &merge(), &Patch::Merge(patch)).await.unwrap(), made);
}

#[tokio::test]
async fn an_update_of_a_missing_object_is_not_found() {
    let client = client().await;
    let rejected = rejection(widgets(&client).replace("nope", &PostParams::default(), &widget("nope")).await);
    assert_eq!(rejected, (404, "NotFound".into(), "widgets.example.com \"nope\" not found".into()));
}

#[tokio::test]
async fn status_and_other_fields_are_written_by_separate_endpoints() {
    let client = client().await;
    let api = widgets(&client);
    let mut with_status = widget("a");
    with_status.data["status"] = json!({ "state": "A" });
    let made = create(&api, &with_status).await;
    assert_eq!(made.data.get("status"), None, "a create drops the status");

    let main = json!({ "spec": { "name": "y" }, "status": { "state": "A" } });
    let main = api.patch("a", &merge(), &Patch::Merge(main)).await.unwrap();
    assert_eq!((main.data.get("status"), &main.data["spec"]["name"]), (None, &json!("y")));

    let status = json!({ "metadata": { "labels": { "l": "v" } }, "spec": { "name": "z" }, "status": { "state": "B" } });
    let status = api.patch_status("a", &merge(), &Patch::Merge(status)).await.unwrap();
    assert_eq!(status.data, json!({ "spec": { "name": "y", "timeInterval": 5 }, "status": { "state": "B" } }));
    assert_eq!((status.labels().len(), status.metadata.generation), (0, Some(2)));
    assert!(version(&status) > version(&main));
}

#[tokio::test]
async fn status_can_be_read_and_replaced() {
    let client = client().await;
    let api = widgets(&client);
    let mut made = create(&api, &widget("a")).await;
    made.data["status"] = json!({ "state": "A" });
    let replaced = api.replace_status("a", &PostParams::default(), &made).await.unwrap();
    assert_eq!(api.get_status("a").await.unwrap(), replaced);
    assert_eq!(rejection(api.replace_status("a", &PostParams::default(), &made).await).2, MODIFIED);
}

#[tokio::test]
async fn without_the_subresource_the_status_is_part_of_the_content() {
    let client = client().await;
    let mut definition = widget_definition();
    definition["metadata"]["name"] = json!("gadgets.example.com");
    definition["spec"]["names"] = json!({ "kind": "Gadget", "plural": "gadgets" });
    definition["spec"]["scope"] = json!("Cluster");
    definition["spec"]["versions"][0]["subresources"] = Value::Null;
    create_definition(&client, definition).await;
    let kind = kube::core::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk("example.com", "v1", "Gadget"));
    let api: Api<kube::api::DynamicObject> = Api::all_with(client, &kind);

    let mut gadget = kube::api::DynamicObject::new("g", &kind);
    gadget.data = json!({ "spec": { "name": "x" }, "status": { "state": "A" } });
    let made = create(&api, &gadget).await;
    assert_eq!((made.namespace(), &made.data["status"]["state"]), (None, &json!("A")));
    let patch = Patch::Merge(json!({ "status": { "state": "B" } }));
    assert_eq!(api.patch("g", &merge(), &patch).await.unwrap().metadata.generation, Some(2));
    let rejected = rejection(api.patch_status("g", &merge(), &patch).await);
    assert_eq!(rejected, (404, "NotFound".into(), "gadgets.example.com \"g\" not found".into()));
}

#[tokio::test]
async fn json_patches_are_applied() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let patch = |operations: Value| Patch::<()>::Json(serde_json::from_value(operations).unwrap());
    let operations = json!([
        { "op": "test", "path": "/spec/name", "value": "x" },
        { "op": "add", "path": "/spec/tags", "value": ["t"] },
        { "op": "remove", "path": "/spec/timeInterval" },
    ]);
    let patched = api.patch("a", &merge(), &patch(operations)).await.unwrap();
    assert_eq!(
        patched.data["spec"],
        json!({ "name": "x", "tags": ["t"], "timeInterval": 5 }),
        "the removed field is defaulted"
    );

    for failing in [
        json!([{ "op": "test", "path": "/spec/name", "value": "other" }]),
        json!([{ "op": "remove", "path": "/spec/none" }]),
    ] {
        let (code, reason, message) = rejection(api.patch("a", &merge(), &patch(failing)).await);
        assert_eq!((code, reason.as_str()), (422, "Invalid"));
        assert_eq!(message, "the server rejected our request due to an error in our request");
    }
}

#[tokio::test]
async fn a_version_in_a_patch_is_a_precondition() {
    let client = client().await;
    let api = widgets(&client);
    let made = create(&api, &widget("a")).await;
    let at =
        |version: &str| Patch::Merge(json!({ "metadata": { "resourceVersion": version }, "spec": { "name": "y" } }));
    assert_eq!(rejection(api.patch("a", &merge(), &at("1")).await).2, MODIFIED);
    api.patch("a", &merge(), &at(&made.resource_version().unwrap())).await.unwrap();
}

#[tokio::test]
async fn a_patch_cannot_change_the_identity_of_an_object() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let cases = [
        (json!({ "kind": "Z" }), "Z.example.com \"a\" is invalid: kind: Invalid value: \"Z\": must be Widget"),
        (json!({ "metadata": { "name": "z" } }), "the name of the object (z) does not match the name on the URL (a)"),
        (
            json!({ "metadata": { "uid": "1" } }),
            "Widget.example.com \"a\" is invalid: metadata.uid: Invalid value: \"1\": field is immutable",
        ),
        (
            json!({ "apiVersion": "example.com/v2" }),
            "Widget.example.com \"a\" is invalid: apiVersion: Invalid value: \"example.com/v2\": must be example.com/v1",
        ),
    ];
    for (patch, message) in cases {
        assert_eq!(rejection(api.patch("a", &merge(), &Patch::Merge(patch)).await).2, message);
    }
}

#[tokio::test]
async fn strategic_patches_of_custom_resources_are_an_unsupported_media_type() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let (code, reason, message) = rejection(api.patch("a", &merge(), &Patch::Strategic(json!({}))).await);
    assert_eq!((code, reason.as_str()), (415, "UnsupportedMediaType"));
    assert!(
        message.ends_with("application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
    );
}

#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let client = client().await;
    let api = widgets(&client);
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let planned = api.create(&dry, &widget("a")).await.unwrap();
    assert_eq!((planned.resource_version(), planned.uid().is_some()), (None, true));
    assert_eq!(api.get_opt("a").await.unwrap(), None);

    let made = create(&api, &widget("a")).await;
    let patch = Patch::Merge(json!({ "spec": { "name": "y" } }));
    let planned = api.patch("a", &merge().dry_run(), &patch).await.unwrap();
    assert_eq!((planned.metadata.generation, version(&planned)), (Some(2), version(&made)));
    assert_eq!(rejection(api.create(&dry, &widget("a")).await).1, "AlreadyExists");
    assert_eq!(api.get("a").await.unwrap(), made);
}

#[tokio::test]
async fn labels_are_validated() {
    let client = client().await;
    let (code, _, message) =
        rejection(widgets(&client).create(&PostParams::default(), &labelled("a", &[("a b", "c")])).await);
    assert_eq!(code, 422);
    assert!(message.starts_with(
        "Widget.example.com \"a\" is invalid: metadata.labels: Invalid value: \"a b\": name part must consist"
    ));
}

#[tokio::test]
async fn metadata_must_decode() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let labels = json!({ "metadata": { "labels": { "l": 1 } } });
    let (code, reason, _) = rejection(api.patch("a", &merge(), &Patch::Merge(labels)).await);
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
    let body = json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": "x", "spec": { "name": "x" } });
    let (code, status) = post(&client, body).await;
    assert_eq!(code, 400);
    let message = status["message"].as_str().unwrap();
    assert!(message.starts_with("Widget in version \"v1\" cannot be handled as a Widget: "), "{message}");
}
