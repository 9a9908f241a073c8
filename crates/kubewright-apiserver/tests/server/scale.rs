//! The `/scale` subresource. Every message and code is that of kube-apiserver 1.36.3.

use k8s_openapi::api::autoscaling::v1::{Scale, ScaleSpec, ScaleStatus};
use kube::{
    Api, Client, ResourceExt,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

const GIZMO: &str = "/apis/example.com/v1/gizmos/g";
const SCALE: &str = "/apis/example.com/v1/gizmos/g/scale";
const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const UNREADABLE: &str = "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";

#[tokio::test]
async fn a_scale_shows_replicas_and_selector() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    let made = status(&api, json!({ "replicas": 3, "selector": "a=b" })).await;
    let scale = api.get_scale("a").await.unwrap();
    assert_eq!(replicas(&scale), Some(2));
    assert_eq!(scale.status, Some(ScaleStatus { replicas: 3, selector: Some("a=b".into()) }));
    let mut metadata = made.metadata.clone();
    (metadata.generation, metadata.labels, metadata.managed_fields) = (None, None, None);
    assert_eq!(scale.metadata, metadata);
}

#[tokio::test]
async fn a_scale_without_a_status_has_zero_replicas_and_no_selector() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    assert_eq!(api.get_scale("a").await.unwrap().status, Some(ScaleStatus { replicas: 0, selector: None }));
}

#[tokio::test]
async fn zero_replicas_are_omitted() {
    let api = scaled(json!({ "name": "x", "replicas": 0 })).await;
    assert_eq!(api.get_scale("a").await.unwrap().spec, Some(ScaleSpec { replicas: None }));
}

#[tokio::test]
async fn unset_replicas_cannot_be_read_but_written() {
    let api = scaled(json!({ "name": "x" })).await;
    let message = "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist";
    assert_eq!(rejection(api.get_scale("a").await), (500, "InternalError".into(), message.into()));
    let (code, reason, message) = rejection(merge(&api, json!({ "metadata": { "labels": { "l": "v" } } })).await);
    assert_eq!((code, reason.as_str()), (400, "BadRequest"));
    assert_eq!(message, "the spec replicas field \".spec.replicas\" cannot be empty");
    assert_eq!(replicas(&merge(&api, json!({ "spec": { "replicas": 2 } })).await.unwrap()), Some(2));
}

#[tokio::test]
async fn replacing_a_scale_sets_the_replicas_only() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    let made = status(&api, json!({ "replicas": 3, "selector": "a=b" })).await;
    let mut wanted = scale(7);
    wanted.metadata.labels = Some([("l".into(), "v".into())].into());
    wanted.status = Some(ScaleStatus { replicas: 77, selector: Some("q=r".into()) });
    let replaced = api.replace_scale("a", &PostParams::default(), &wanted).await.unwrap();
    assert_eq!((replicas(&replaced), replaced.status.unwrap().replicas), (Some(7), 3));

    let now = api.get("a").await.unwrap();
    assert_eq!(now.data["spec"], json!({ "name": "x", "replicas": 7, "timeInterval": 5 }));
    assert_eq!((now.labels(), &now.data["status"]), (made.labels(), &made.data["status"]));
    assert_eq!((now.metadata.generation, now.resource_version()), (Some(2), replaced.metadata.resource_version));
}

#[tokio::test]
async fn replacing_a_scale_without_replicas_sets_zero() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    let empty = Scale { spec: None, ..scale(0) };
    api.replace_scale("a", &PostParams::default(), &empty).await.unwrap();
    assert_eq!(api.get("a").await.unwrap().data["spec"]["replicas"], 0);
}

#[tokio::test]
async fn a_no_op_scale_creates_no_version() {
    // The replicas are applied: a scale drops the owner of updated ones, see `apply.rs`.
    let api = scaled(json!({ "name": "x" })).await;
    let wanted = widget_with("a", json!({ "replicas": 2 }));
    api.patch("a", &PatchParams::apply("me"), &Patch::Apply(wanted)).await.unwrap();
    let made = api.get("a").await.unwrap();
    let same = api.replace_scale("a", &PostParams::default(), &scale(2)).await.unwrap();
    assert_eq!(same.metadata.resource_version, made.resource_version());
    assert_eq!(api.get("a").await.unwrap(), made);
}

#[tokio::test]
async fn a_version_and_a_uid_in_a_scale_are_preconditions() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    let mut wanted = api.get_scale("a").await.unwrap();
    wanted.spec = Some(ScaleSpec { replicas: Some(3) });
    api.replace_scale("a", &PostParams::default(), &wanted).await.unwrap();
    let (code, reason, message) = rejection(api.replace_scale("a", &PostParams::default(), &wanted).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert!(message.contains("widgets.example.com \"a\": the object has been modified"), "{message}");
    let old = json!({ "metadata": { "resourceVersion": "1" }, "spec": { "replicas": 4 } });
    assert_eq!(rejection(merge(&api, old).await).0, 409);

    wanted.metadata.uid = Some("x".into());
    let message = rejection(api.replace_scale("a", &PostParams::default(), &wanted).await).2;
    assert!(message.contains("Precondition failed: UID in precondition: x"), "the uid is checked first: {message}");
    let zero = json!({ "metadata": { "resourceVersion": "0" }, "spec": { "replicas": 4 } });
    let message = "widgets.example.com \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    assert_eq!(rejection(merge(&api, zero).await), (422, "Invalid".into(), message.into()));
    assert_eq!(replicas(&api.get_scale("a").await.unwrap()), Some(3));
}

#[tokio::test]
async fn negative_replicas_are_rejected_by_schema_and_scale() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    let message = "Widget.example.com \"a\" is invalid: [spec.replicas: Invalid value: -1: spec.replicas in body should be \
        greater than or equal to 0, .spec.replicas: Invalid value: -1: should be a non-negative integer]";
    let expected = (422, "Invalid".into(), message.into());
    assert_eq!(rejection(api.replace_scale("a", &PostParams::default(), &scale(-1)).await), expected);
    assert_eq!(rejection(merge(&api, json!({ "spec": { "replicas": -1 } })).await), expected);
    let patch = Patch::Merge(json!({ "spec": { "replicas": -1 } }));
    assert_eq!(rejection(api.patch("a", &PatchParams::default(), &patch).await), expected, "at the main endpoint");
}

#[tokio::test]
async fn a_scale_can_be_patched() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    assert_eq!(replicas(&merge(&api, json!({ "spec": { "replicas": 6 } })).await.unwrap()), Some(6));
    assert_eq!(api.get("a").await.unwrap().metadata.generation, Some(2));
    let operations = json!([
        { "op": "test", "path": "/spec/replicas", "value": 6 },
        { "op": "replace", "path": "/spec/replicas", "value": 8 },
    ]);
    assert_eq!(replicas(&json_patch(&api, operations.clone()).await.unwrap()), Some(8));
    let (code, _, message) = rejection(json_patch(&api, operations).await);
    assert_eq!((code, message.as_str()), (422, "the server rejected our request due to an error in our request"));
    let ignored = json!({ "metadata": { "labels": { "l": "v" }, "uid": "1" }, "status": { "replicas": 99 }, "foo": 1 });
    let unchanged = merge(&api, ignored).await.unwrap();
    assert_eq!((replicas(&unchanged), unchanged.status.unwrap().replicas), (Some(8), 0));
    assert_eq!(replicas(&merge(&api, json!({ "spec": { "replicas": null } })).await.unwrap()), None);
}

#[tokio::test]
async fn a_json_patch_can_replace_omitted_zero_replicas() {
    let api = scaled(json!({ "name": "x", "replicas": 0 })).await;
    let replace = |value| json!([{ "op": "replace", "path": "/spec/replicas", "value": value }]);
    assert_eq!(replicas(&json_patch(&api, replace(3)).await.unwrap()), Some(3));
    let deeper = json!([{ "op": "replace", "path": "/spec/no/ne", "value": 1 }]);
    assert_eq!(rejection(json_patch(&api, deeper).await).0, 422);
}

#[tokio::test]
async fn a_patched_scale_must_decode() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    let cases = [
        (
            json!({ "spec": { "replicas": "x" } }),
            "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32",
        ),
        (
            json!({ "spec": { "replicas": 9_999_999_999_i64 } }),
            "json: cannot unmarshal number 9999999999 into Go struct field ScaleSpec.spec.replicas of type int32",
        ),
        (json!({ "spec": "x" }), "json: cannot unmarshal string into Go struct field Scale.spec of type v1.ScaleSpec"),
        (
            json!({ "kind": "Foo" }),
            "no kind \"Foo\" is registered for version \"autoscaling/v1\" in scheme \"pkg/runtime/scheme.go:111\"",
        ),
    ];
    for (patch, detail) in cases {
        let (code, reason, message) = rejection(merge(&api, patch).await);
        assert_eq!((code, reason.as_str()), (422, "Invalid"));
        let start = r#" "" is invalid: patch: Invalid value: "{\"apiVersion\":\"autoscaling/v1\",\"kind\":"#;
        assert!(message.starts_with(start) && message.ends_with(&format!("}}\": {detail}")), "{message}");
    }
    let (code, _, message) = rejection(merge(&api, json!({ "metadata": { "name": "b" } })).await);
    assert_eq!((code, message.as_str()), (400, "the name of the object (b) does not match the name on the URL (a)"));
}

#[tokio::test]
async fn a_dry_run_of_a_scale_stores_nothing() {
    let api = scaled(json!({ "name": "x", "replicas": 2 })).await;
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    assert_eq!(replicas(&api.replace_scale("a", &dry, &scale(8)).await.unwrap()), Some(8));
    assert_eq!(replicas(&api.get_scale("a").await.unwrap()), Some(2));
}

#[tokio::test]
async fn a_missing_object_has_no_scale() {
    let api = scaled(json!({ "name": "x" })).await;
    let missing = (404, "NotFound".into(), "widgets.example.com \"zz\" not found".into());
    let mut wanted = scale(1);
    wanted.metadata.name = Some("zz".into());
    assert_eq!(rejection(api.get_scale("zz").await), missing);
    assert_eq!(rejection(api.replace_scale("zz", &PostParams::default(), &wanted).await), missing);
}

#[tokio::test]
async fn a_kind_without_the_subresource_has_no_scale() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let missing = (404, "NotFound".into(), "widgets.example.com \"a\" not found".into());
    assert_eq!(rejection(api.get_scale("a").await), missing);
    assert_eq!(rejection(api.replace_scale("a", &PostParams::default(), &scale(1)).await), missing);
    assert_eq!(rejection(merge(&api, json!({ "spec": { "replicas": 1 } })).await), missing);
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client);
    assert_eq!(rejection(namespaces.get_scale("default").await).0, 404);
}

#[tokio::test]
async fn discovery_lists_the_scale_with_the_autoscaling_group() {
    let client = gizmo_client(json!({})).await;
    let resources = client.list_api_group_resources("example.com/v1").await.unwrap().resources;
    let scale = resources.iter().find(|resource| resource.name == "gizmos/scale").unwrap();
    assert_eq!((scale.group.as_deref(), scale.version.as_deref()), (Some("autoscaling"), Some("v1")));
    assert_eq!((scale.kind.as_str(), scale.namespaced), ("Scale", false));
    assert_eq!(scale.verbs, ["get", "patch", "update"]);
    assert!(resources.iter().all(|resource| resource.name != "gizmos/status"));
}

#[tokio::test]
async fn cluster_scoped_kinds_have_scales_with_any_paths() {
    let client = gizmo_client(json!({})).await;
    let api = gizmos(&client);
    let mut wanted = scale(3);
    wanted.metadata.name = Some("g".into());
    let replaced = api.replace_scale("g", &PostParams::default(), &wanted).await.unwrap();
    assert_eq!((replicas(&replaced), replaced.metadata.namespace), (Some(3), None));
    assert_eq!(api.get("g").await.unwrap().data, json!({ "spec": { "deep": { "count": 3 } } }));
    wanted.spec = Some(ScaleSpec { replicas: Some(-2) });
    let message =
        "Gizmo.example.com \"g\" is invalid: .spec.deep.count: Invalid value: -2: should be a non-negative integer";
    assert_eq!(rejection(api.replace_scale("g", &PostParams::default(), &wanted).await).2, message);
}

#[tokio::test]
async fn a_null_parent_of_the_replicas_is_an_error() {
    let client = gizmo_client(json!({ "spec": { "deep": null } })).await;
    let body = json!({ "metadata": { "name": "g" }, "spec": { "replicas": 2 } }).to_string();
    let (code, answer) = raw(&client, "PUT", SCALE, JSON, &body).await;
    assert_eq!(code, 500);
    assert_eq!(message(&answer), "value cannot be set because .spec.deep is not a map[string]interface{}");
}

#[tokio::test]
async fn the_main_endpoint_validates_the_scale_fields() {
    let client = gizmo_client(json!({ "spec": { "deep": { "count": 1 } } })).await;
    let cases = [
        (
            json!({ "spec": { "deep": { "count": -1 } } }),
            ".spec.deep.count: Invalid value: -1: should be a non-negative integer",
        ),
        (
            json!({ "status": { "n": 9_999_999_999_i64 } }),
            ".status.n: Invalid value: 9999999999: should be less than or equal to 2147483647",
        ),
        (
            json!({ "status": { "n": [1, "x"] } }),
            ".status.n: Invalid value: 0: .status.n accessor error: [1 x] is of the type []interface {}, expected int64",
        ),
        (
            json!({ "spec": { "deep": "y" } }),
            ".spec.deep.count: Invalid value: 0: .spec.deep.count accessor error: y is of the type string, expected map[string]interface{}",
        ),
        (
            json!({ "status": { "sel": 5 } }),
            ".status.sel: Invalid value: \"\": .status.sel accessor error: 5 is of the type int64, expected string",
        ),
    ];
    for (patch, detail) in cases {
        let (code, answer) = raw(&client, "PATCH", GIZMO, MERGE, &patch.to_string()).await;
        assert_eq!((code, message(&answer)), (422, format!("Gizmo.example.com \"g\" is invalid: {detail}")));
    }
}

#[tokio::test]
async fn a_status_write_validates_the_status_counts_only() {
    let client = client().await;
    let api = widgets(&client);
    let mut definition = scaled_definition();
    definition["spec"]["versions"][0]["subresources"]["scale"]["specReplicasPath"] = json!(".spec.name");
    create(&api, &widget("a")).await;
    let patch = Patch::Merge(json!({ "spec": definition["spec"] }));
    definitions(&client).patch("widgets.example.com", &PatchParams::default(), &patch).await.unwrap();

    let (code, _, text) = rejection(api.get_scale("a").await);
    assert_eq!((code, text.as_str()), (500, ".spec.name accessor error: x is of the type string, expected int64"));
    status(&api, json!({ "replicas": 1 })).await;
    let negative = Patch::Merge(json!({ "status": { "replicas": -1 } }));
    let message =
        "Widget.example.com \"a\" is invalid: .status.replicas: Invalid value: -1: should be a non-negative integer";
    assert_eq!(rejection(api.patch_status("a", &PatchParams::default(), &negative).await).2, message);
}

#[tokio::test]
async fn a_body_may_omit_its_type_but_must_be_a_scale() {
    let client = gizmo_client(json!({ "spec": { "deep": { "count": 1 } } })).await;
    let untyped = r#"{"metadata":{"name":"g"},"spec":{"replicas":3}}"#;
    assert_eq!(raw(&client, "PUT", SCALE, JSON, untyped).await.0, 200);
    for body in [
        r#"{"kind":"Foo","apiVersion":"autoscaling/v1","metadata":{"name":"g"},"spec":{"replicas":3}}"#,
        r#"{"kind":"Gizmo","apiVersion":"example.com/v1","metadata":{"name":"g"}}"#,
        r#"{"metadata":{"name":"g"},"spec":{"replicas":"x"}}"#,
        r#"{"metadata":{"name":"g"},"spec":{"replicas":3.0}}"#,
        "{bad",
        "[]",
        "",
    ] {
        let (code, answer) = raw(&client, "PUT", SCALE, JSON, body).await;
        assert_eq!((code, message(&answer).as_str()), (400, UNREADABLE), "{body}");
    }
    let (code, answer) = raw(&client, "PUT", SCALE, JSON, r#"{"spec":{"replicas":3}}"#).await;
    let nameless = "the name of the object (g based on URL) was undeterminable: name must be provided";
    assert_eq!((code, message(&answer).as_str()), (400, nameless));
    assert_eq!(raw(&client, "PUT", SCALE, "text/foo", "{}").await.0, 415);
}

#[tokio::test]
async fn strict_validation_rejects_unknown_fields_of_a_scale() {
    let client = gizmo_client(json!({ "spec": { "deep": { "count": 1 } } })).await;
    let strict = format!("{SCALE}?fieldValidation=Strict");
    let body = r#"{"metadata":{"name":"g"},"spec":{"replicas":2,"x":1},"foo":"bar"}"#;
    assert_eq!(message(&raw(&client, "PUT", &strict, JSON, body).await.1), UNREADABLE);
    let (code, answer) = raw(&client, "PATCH", &strict, MERGE, r#"{"foo":"bar","spec":{"x":1}}"#).await;
    assert_eq!(code, 422);
    let detail = "strict decoding error: unknown field \"foo\", unknown field \"spec.x\"";
    assert!(message(&answer).ends_with(detail), "{answer}");
    assert_eq!(raw(&client, "PUT", SCALE, JSON, body).await.0, 200);
}

#[tokio::test]
async fn a_scale_can_be_neither_created_nor_deleted() {
    let client = gizmo_client(json!({})).await;
    for (method, verb) in [("POST", "create"), ("DELETE", "delete")] {
        let (code, answer) = raw(&client, method, SCALE, JSON, "{}").await;
        let expected = format!("{verb} is not supported on resources of kind \"gizmos.example.com\"");
        assert_eq!((code, message(&answer)), (405, expected));
    }
}

#[tokio::test]
async fn the_scale_paths_must_be_below_spec_and_status() {
    let client = ApiServer::new().client();
    let cases = [
        (
            json!({ "specReplicasPath": ".status.deep", "statusReplicasPath": ".spec.n", "labelSelectorPath": "metadata.sel" }),
            "[spec.subresources.scale.specReplicasPath: Invalid value: \".status.deep\": should be a json path under .spec, \
             spec.subresources.scale.statusReplicasPath: Invalid value: \".spec.n\": should be a json path under .status, \
             spec.subresources.scale.labelSelectorPath: Invalid value: \"metadata.sel\": must be a simple json path starting with .]",
        ),
        (
            json!({}),
            "[spec.subresources.scale.specReplicasPath: Required value, \
             spec.subresources.scale.statusReplicasPath: Required value]",
        ),
    ];
    for (scale, detail) in cases {
        let mut definition = gizmo_definition();
        definition["spec"]["versions"][0]["subresources"]["scale"] = scale;
        let rejected = rejection(definitions(&client).create(&PostParams::default(), &object(definition)).await).2;
        let start = "CustomResourceDefinition.apiextensions.k8s.io \"gizmos.example.com\" is invalid:";
        assert_eq!(rejected, format!("{start} {detail}"));
    }
}

#[tokio::test]
async fn an_invalid_scale_path_is_reported_with_its_version() {
    let mut definition = gizmo_definition();
    let mut other = definition["spec"]["versions"][0].clone();
    (other["name"], other["storage"]) = (json!("v2"), json!(false));
    other["subresources"]["scale"]["specReplicasPath"] = json!(".spic.count");
    definition["spec"]["versions"].as_array_mut().unwrap().push(other);
    let api = definitions(&ApiServer::new().client());
    let rejected = rejection(api.create(&PostParams::default(), &object(definition)).await).2;
    let detail = "spec.versions[1].subresources.scale.specReplicasPath: Invalid value: \".spic.count\": should be a json path under .spec";
    assert!(rejected.ends_with(detail), "{rejected}");
}

/// Returns the definition of Widgets with replicas and a Scale.
fn scaled_definition() -> Value {
    let mut definition = widget_definition();
    let version = &mut definition["spec"]["versions"][0];
    version["subresources"]["scale"] = json!({
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector",
    });
    let fields = &mut version["schema"]["openAPIV3Schema"]["properties"];
    fields["spec"]["properties"]["replicas"] = json!({ "type": "integer", "format": "int32", "minimum": 0 });
    fields["status"]["properties"]["replicas"] = json!({ "type": "integer", "format": "int32" });
    fields["status"]["properties"]["selector"] = json!({ "type": "string" });
    definition
}

/// Returns the Widgets of a new server with one object: `a`, with a label.
async fn scaled(spec: Value) -> Api<DynamicObject> {
    let client = ApiServer::new().client();
    create_definition(&client, scaled_definition()).await;
    let mut widget = labelled("a", &[("x", "y")]);
    widget.data = json!({ "spec": spec });
    create(&widgets(&client), &widget).await;
    widgets(&client)
}

async fn status(api: &Api<DynamicObject>, status: Value) -> DynamicObject {
    api.patch_status("a", &PatchParams::default(), &Patch::Merge(json!({ "status": status }))).await.unwrap()
}

/// Returns the definition of Gizmos: cluster-scoped, with any fields, without a status endpoint.
fn gizmo_definition() -> Value {
    let mut definition = widget_definition();
    definition["metadata"]["name"] = json!("gizmos.example.com");
    definition["spec"]["names"] = json!({ "kind": "Gizmo", "plural": "gizmos" });
    definition["spec"]["scope"] = json!("Cluster");
    let version = &mut definition["spec"]["versions"][0];
    version["schema"]["openAPIV3Schema"] = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    version["subresources"] = json!({ "scale": {
        "specReplicasPath": ".spec.deep.count", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.sel",
    } });
    definition
}

/// Returns a client of a new server with one Gizmo: `g`.
async fn gizmo_client(data: Value) -> Client {
    let client = ApiServer::new().client();
    create_definition(&client, gizmo_definition()).await;
    let mut gizmo = DynamicObject::new("g", &gizmo_kind());
    gizmo.data = data;
    create(&gizmos(&client), &gizmo).await;
    client
}

fn gizmo_kind() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Gizmo"))
}

fn gizmos(client: &Client) -> Api<DynamicObject> {
    Api::all_with(client.clone(), &gizmo_kind())
}

/// Returns a Scale of `a` without a resource version.
fn scale(replicas: i32) -> Scale {
    let mut scale = Scale { spec: Some(ScaleSpec { replicas: Some(replicas) }), ..Scale::default() };
    scale.metadata.name = Some("a".into());
    scale
}

fn replicas(scale: &Scale) -> Option<i32> {
    scale.spec.as_ref().unwrap().replicas
}

async fn merge(api: &Api<DynamicObject>, patch: Value) -> kube::Result<Scale> {
    api.patch_scale("a", &PatchParams::default(), &Patch::Merge(patch)).await
}

async fn json_patch(api: &Api<DynamicObject>, operations: Value) -> kube::Result<Scale> {
    let patch = Patch::<()>::Json(serde_json::from_value(operations).unwrap());
    api.patch_scale("a", &PatchParams::default(), &patch).await
}

/// Returns the message of a raw rejection.
fn message(answer: &str) -> String {
    serde_json::from_str::<Value>(answer).unwrap()["message"].as_str().unwrap().to_owned()
}
