//! Server-side apply beyond the scenarios: bodies, options, versions, and built-in kinds.

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client,
    api::{DynamicObject, ObjectMeta, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};

use crate::support::*;

const APPLY: &str = "application/apply-patch+yaml";
const PATH: &str = "/apis/example.com/v1/namespaces/default/widgets/a?fieldManager=me";

/// Returns the owned fields by manager, operation and subresource.
fn owners(metadata: &ObjectMeta) -> Value {
    let entries = metadata.managed_fields.iter().flatten().map(|entry| {
        let texts = [&entry.manager, &entry.operation, &entry.subresource];
        let name: Vec<&str> = texts.into_iter().filter_map(|text| text.as_deref()).collect();
        (name.join(" "), entry.fields_v1.as_ref().unwrap().0.clone())
    });
    Value::Object(entries.collect())
}

async fn apply_text(client: &Client, query: &str, body: &str) -> (u16, Value) {
    let (code, answer) = raw(client, "PATCH", &format!("{PATH}{query}"), APPLY, body).await;
    (code, serde_json::from_str(&answer).unwrap())
}

async fn merge_as(api: &Api<DynamicObject>, manager: &str, patch: Value) -> DynamicObject {
    let params = PatchParams { field_manager: Some(manager.into()), ..PatchParams::default() };
    api.patch("a", &params, &Patch::Merge(patch)).await.unwrap()
}

#[tokio::test]
async fn bodies_are_decoded_as_go_decodes_yaml() {
    let client = client().await;
    let body = "
apiVersion: example.com/v1
kind: Widget
metadata: { name: a }
spec:
  name: x
  ratio: 2.0
  free: { yes: 1, on: yes, octal: 010, half: 0.5, nothing: ~, day: 2001-01-01, 1: one }
---
more: documents are not read
";
    let (code, made) = apply_text(&client, "", body).await;
    let free = json!({
        "yes": 1, "on": true, "octal": 8, "half": 0.5, "nothing": null, "day": "2001-01-01", "1": "one",
    });
    assert_eq!((code, &made["spec"]["free"], &made["spec"]["ratio"]), (201, &free, &json!(2)));
}

#[tokio::test]
async fn bodies_that_are_no_object_are_rejected() {
    let client = client().await;
    let into = "Go value of type map[string]interface {}";
    let decoding = "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal";
    let cases = [
        ("[]", format!("{decoding} array into {into}")),
        ("text", format!("{decoding} string into {into}")),
        ("", "invalid object type: /, Kind=".into()),
        ("apiVersion: a/b/c\nkind: Widget", "invalid object type: /, Kind=".into()),
        ("kind: Widget", "invalid object type: /, Kind=Widget".into()),
    ];
    for (body, message) in cases {
        let (code, status) = apply_text(&client, "", body).await;
        assert_eq!((code, status["message"].as_str()), (400, Some(message.as_str())), "{body}");
    }
    let (code, status) = apply_text(&client, "", "a: [").await;
    let message = status["message"].as_str().unwrap();
    assert!(code == 400 && message.starts_with("error decoding YAML: error converting YAML to JSON: "), "{message}");
}

#[tokio::test]
async fn the_last_duplicate_field_wins() {
    let client = client().await;
    let body = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {name: x, name: z}}";
    let (code, made) = apply_text(&client, "", body).await;
    assert_eq!((code, &made["spec"]["name"]), (201, &json!("z")));
}

#[tokio::test]
async fn all_option_errors_are_reported_together() {
    let client = client().await;
    let long = "x".repeat(129);
    let path =
        format!("{}?fieldManager={long}&dryRun=No&fieldValidation=Most&force=true", PATH.split('?').next().unwrap());
    let (code, answer) = raw(&client, "PATCH", &path, "application/merge-patch+json", "{}").await;
    let status: Value = serde_json::from_str(&answer).unwrap();
    let message = "PatchOptions.meta.k8s.io \"\" is invalid: [\
        force: Forbidden: may not be specified for non-apply patch, \
        fieldManager: Too long: may not be more than 128 bytes, \
        dryRun: Unsupported value: [\"No\"]: supported values: \"All\", \
        fieldValidation: Unsupported value: \"Most\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]";
    assert_eq!((code, status["message"].as_str()), (422, Some(message)));
    let path = "/apis/example.com/v1/namespaces/default/widgets?fieldManager=a%0Ab";
    let (code, answer) = raw(&client, "POST", path, "application/json", "{}").await;
    assert!(code == 422 && answer.contains("invalid character U+000A (at position 1)"), "{answer}");
}

#[tokio::test]
async fn the_default_field_manager_is_the_user_agent_without_its_version() {
    let client = client().await;
    let body = json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "a" }, "spec": { "name": "x" } });
    let request = http::Request::post("/apis/example.com/v1/namespaces/default/widgets")
        .header(http::header::USER_AGENT, "agent/1.0 (more)")
        .body(body.to_string().into_bytes());
    let made: DynamicObject = client.request(request.unwrap()).await.unwrap();
    assert_eq!(owners(&made.metadata).as_object().unwrap().keys().collect::<Vec<_>>(), ["agent Update"]);
    let made = create(&widgets(&client), &widget("b")).await;
    assert_eq!(owners(&made.metadata).as_object().unwrap().keys().collect::<Vec<_>>(), ["unknown Update"]);
}

#[tokio::test]
async fn an_applied_resource_version_is_a_precondition_of_updates() {
    let client = client().await;
    let api = widgets(&client);
    let mut wanted = widget("a");
    wanted.metadata.resource_version = Some("1".into());
    let made = api.patch("a", &PatchParams::apply("me"), &Patch::Apply(&wanted)).await.unwrap();
    let (code, _, message) = rejection(api.patch("a", &PatchParams::apply("me"), &Patch::Apply(&wanted)).await);
    assert!(code == 409 && message.ends_with("apply your changes to the latest version and try again"), "{message}");
    wanted.metadata.resource_version = made.metadata.resource_version.clone();
    assert_eq!(api.patch("a", &PatchParams::apply("me"), &Patch::Apply(&wanted)).await.unwrap(), made);
}

#[tokio::test]
async fn apply_cannot_create_in_a_missing_namespace_or_invalid_objects() {
    let client = client().await;
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), "missing", &widget_kind());
    let rejected = rejection(api.patch("a", &PatchParams::apply("me"), &Patch::Apply(widget("a"))).await);
    assert_eq!(rejected, (404, "NotFound".into(), "namespaces \"missing\" not found".into()));
    let mut broken = widget("a");
    broken.data["spec"]["name"] = json!("much too long a name");
    let (code, reason, _) =
        rejection(widgets(&client).patch("a", &PatchParams::apply("me"), &Patch::Apply(broken)).await);
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
    assert!(widgets(&client).get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn managed_fields_can_be_set_and_invalid_entries_are_ignored() {
    let client = client().await;
    let api = widgets(&client);
    let made = create(&api, &widget("a")).await;
    let same = merge_as(&api, "me", json!({ "metadata": { "managedFields": [{ "manager": "x" }] } })).await;
    assert_eq!(same, made);
    // For custom resources the server ignores an empty list, as the real one does.
    assert_eq!(merge_as(&api, "me", json!({ "metadata": { "managedFields": [] } })).await, made);
    let entry = json!({
        "manager": "x", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
        "fieldsV1": { "f:spec": { "f:name": {} } },
    });
    let now = merge_as(&api, "me", json!({ "metadata": { "managedFields": [entry] } })).await;
    assert_eq!(owners(&now.metadata), json!({ "x Update": { "f:spec": { "f:name": {} } } }));
    let status = json!({ "metadata": { "managedFields": [{}] }, "status": { "state": "A" } });
    let now = api.patch_status("a", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    assert_eq!(owners(&now.metadata)["x Update"], json!({ "f:spec": { "f:name": {} } }), "not by a subresource");
}

#[tokio::test]
async fn managed_fields_of_unknown_versions_are_dropped() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let entry = json!({
        "manager": "x", "operation": "Update", "apiVersion": "example.com/v9", "fieldsType": "FieldsV1",
        "fieldsV1": { "f:spec": { "f:name": {} } },
    });
    let now = merge_as(&api, "me", json!({ "metadata": { "managedFields": [entry] } })).await;
    assert_eq!(now.metadata.managed_fields, None);
}

#[tokio::test]
async fn the_oldest_of_many_update_managers_are_merged() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    for number in 10..21 {
        let label = json!({ "metadata": { "labels": { format!("l{number}"): "x" } } });
        merge_as(&api, &format!("m{number}"), label).await;
    }
    let now = api.get("a").await.unwrap();
    let owners = owners(&now.metadata);
    assert_eq!(owners.as_object().unwrap().len(), 10);
    assert!(owners.get("ancient-changes Update").is_some(), "{owners}");
}

#[tokio::test]
async fn managers_of_two_versions_share_common_fields() {
    let client = client().await;
    let mut definition = widget_definition();
    definition["metadata"]["name"] = json!("gadgets.example.com");
    definition["spec"]["names"] = json!({ "kind": "Gadget", "plural": "gadgets" });
    let version = |name: &str, field: &str| {
        let fields = json!({ "a": { "type": "string" }, field: { "type": "string" } });
        json!({
            "name": name, "served": true, "storage": name == "v1",
            "schema": { "openAPIV3Schema": { "type": "object", "properties": fields } },
        })
    };
    definition["spec"]["versions"] = json!([version("v1", "old"), version("v2", "new")]);
    create_definition(&client, definition).await;
    let kind = |version: &str| ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", version, "Gadget"));
    let api = |version: &str| Api::<DynamicObject>::default_namespaced_with(client.clone(), &kind(version));
    let gadget = |version: &str, fields: Value| {
        let mut gadget = DynamicObject::new("a", &kind(version));
        gadget.data = fields;
        gadget
    };
    let by_first = PostParams { field_manager: Some("one".into()), ..PostParams::default() };
    api("v1").create(&by_first, &gadget("v1", json!({ "a": "1", "old": "1" }))).await.unwrap();
    let second = api("v2");
    let apply = async |fields: Value| {
        rejection(second.patch("a", &PatchParams::apply("two"), &Patch::Apply(gadget("v2", fields))).await)
    };
    let (_, _, message) = apply(json!({ "a": "2" })).await;
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"one\" using example.com/v1: .a");
    let (code, _, message) = apply(json!({ "new": "2" })).await;
    assert_eq!((code, message.as_str()), (500, "failed to convert new object: .new: field not declared in schema"));
    let now = merge_as(&second, "two", json!({ "a": "2" })).await;
    let expected = json!({ "one Update": { "f:old": {} }, "two Update": { "f:a": {} } });
    assert_eq!(owners(&now.metadata), expected);
}

#[tokio::test]
async fn built_in_kinds_have_managed_fields_and_can_be_applied() {
    let client = client().await;
    let api: Api<Namespace> = Api::all(client.clone());
    let label = json!({ "f:metadata": { "f:labels": { ".": {}, "f:kubernetes.io/metadata.name": {} } } });
    let initial = api.get("default").await.unwrap();
    assert_eq!(owners(&initial.metadata), json!({ "kube-apiserver Update": label }));
    let wanted =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "n", "labels": { "a": "b" } } });
    let made = api.patch("n", &PatchParams::apply("me"), &Patch::Apply(&wanted)).await.unwrap();
    assert_eq!(owners(&made.metadata), json!({ "me Apply": { "f:metadata": { "f:labels": { "f:a": {} } } } }));
    assert_eq!(made.metadata.labels.unwrap()["kubernetes.io/metadata.name"], "n");

    let definition = definitions(&client).get("widgets.example.com").await.unwrap();
    let owners = owners(&definition.metadata);
    let names = json!({ "f:kind": {}, "f:listKind": {}, "f:plural": {}, "f:shortNames": {}, "f:singular": {} });
    let spec = json!({
        "f:conversion": { ".": {}, "f:strategy": {} }, "f:group": {}, "f:names": names, "f:scope": {}, "f:versions": {},
    });
    assert_eq!(owners["unknown Update"], json!({ "f:spec": spec }));
    assert_eq!(owners["kube-apiserver Update status"]["f:status"]["f:acceptedNames"], names);
}

#[tokio::test]
async fn writing_a_scale_of_updated_replicas_drops_their_owner() {
    // The real server loses the owner, too.
    let client = client().await;
    let mut definition = widget_definition();
    definition["metadata"]["name"] = json!("gizmos.example.com");
    definition["spec"]["names"] = json!({ "kind": "Gizmo", "plural": "gizmos" });
    let version = &mut definition["spec"]["versions"][0];
    version["schema"]["openAPIV3Schema"] = json!({
        "type": "object",
        "properties": { "n": { "type": "integer" }, "spec": { "type": "object", "properties": { "r": { "type": "integer" } } } },
    });
    version["subresources"] = json!({ "scale": { "specReplicasPath": ".spec.r", "statusReplicasPath": ".status.r" } });
    create_definition(&client, definition).await;
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Gizmo"));
    let api = Api::<DynamicObject>::default_namespaced_with(client.clone(), &kind);
    let mut gizmo = DynamicObject::new("a", &kind);
    gizmo.data = json!({ "n": 1, "spec": { "r": 2 } });
    create(&api, &gizmo).await;
    let same = Patch::Merge(json!({ "spec": { "replicas": 2 } }));
    api.patch_scale("a", &PatchParams::default(), &same).await.unwrap();
    api.patch_scale("a", &PatchParams::default(), &same).await.unwrap();
    let now = api.get("a").await.unwrap();
    assert_eq!(owners(&now.metadata), json!({ "unknown Update": { "f:n": {}, "f:spec": {} } }));
    let scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": "a" }, "spec": { "replicas": 3 },
    });
    let (code, _, message) = rejection(api.patch_scale("a", &PatchParams::apply("me"), &Patch::Apply(scale)).await);
    let object = "live object (/; autoscaling/v1, Kind=Scale) to proper version";
    let reason = "request to convert CR to an invalid group/version: autoscaling/v1";
    let first = "failed to create manager for existing fields: failed to convert";
    assert_eq!((code, message), (500, format!("{first} {object}: {reason}")));
}

#[tokio::test]
async fn sets_and_list_maps_reject_duplicates() {
    let client = client().await;
    let mut definition = widget_definition();
    definition["metadata"]["name"] = json!("gizmos.example.com");
    definition["spec"]["names"] = json!({ "kind": "Gizmo", "plural": "gizmos" });
    let item = json!({ "type": "object", "properties": { "k": { "type": "string", "default": "d" } } });
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({
        "type": "object",
        "properties": {
            "set": { "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "integer" } },
            "map": { "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item },
        },
    });
    create_definition(&client, definition).await;
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Gizmo"));
    let api = Api::<DynamicObject>::default_namespaced_with(client.clone(), &kind);
    let mut gizmo = DynamicObject::new("a", &kind);
    gizmo.data = json!({ "set": [1, 2, 1, 1], "map": [{}, { "k": "x" }, { "k": "d" }] });
    let (code, _, message) = rejection(api.create(&PostParams::default(), &gizmo).await);
    let detail = "[map[2]: Duplicate value: {\"k\":\"d\"}, set[2]: Duplicate value: 1]";
    assert_eq!((code, message), (422, format!("Gizmo.example.com \"a\" is invalid: {detail}")));
}

#[tokio::test]
async fn deletion_fields_cannot_be_written() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let deletion =
        json!({ "metadata": { "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 4 } });
    let rejected = rejection(api.patch("a", &PatchParams::default(), &Patch::Merge(deletion)).await);
    let message = "Widget.example.com \"a\" is invalid: [\
        metadata.deletionTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable, \
        metadata.deletionGracePeriodSeconds: Invalid value: 4: field is immutable]";
    assert_eq!(rejected, (422, "Invalid".into(), message.into()));
}

#[tokio::test]
async fn every_field_of_a_wrong_type_is_reported() {
    let client = client().await;
    let body = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {name: 1, tag: x}, other: 1}";
    let (code, status) = apply_text(&client, "", body).await;
    let message = "failed to create typed patch object (/a; example.com/v1, Kind=Widget): errors:\n  \
        .other: field not declared in schema\n  \
        .spec.name: expected string, got &value.valueUnstructured{Value:1}\n  \
        .spec.tag: field not declared in schema";
    assert_eq!((code, status["message"].as_str()), (500, Some(message)));
}
