//! Server-side apply, and the managed fields after each kind of write.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{DynamicObject, ObjectMeta, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
    runtime::wait::{await_condition, conditions},
};
use logger_types::v2::Logger;
use serde_json::{Value, json};

use crate::{logger, namespace};

/// Returns the definition of Parts, which have a field of every merge strategy.
fn definition() -> Value {
    let text = json!({ "type": "string" });
    let port = json!({
        "type": "object",
        "required": ["name"],
        "properties": { "name": text, "protocol": { "type": "string", "default": "TCP" }, "number": { "type": "integer" } },
    });
    let spec = json!({
        "type": "object",
        "properties": {
            "size": { "type": "integer" },
            "color": { "type": "string", "default": "red" },
            "replicas": { "type": "integer" },
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name", "protocol"],
                "items": port,
            },
            "tags": { "type": "array", "x-kubernetes-list-type": "set", "items": text },
            "args": { "type": "array", "items": text },
            "notes": { "type": "object", "additionalProperties": text },
            "whole": { "type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": text },
            "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        },
    });
    let status = json!({ "type": "object", "properties": { "replicas": { "type": "integer" }, "state": text } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "parts.apply.example.org" },
        "spec": {
            "group": "apply.example.org",
            "names": { "kind": "Part", "plural": "parts" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {
                    "status": {},
                    "scale": { "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas" },
                },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec, "status": status } } },
            }],
        },
    })
}

/// Creates a namespace for a test and returns its Parts.
async fn parts(client: &Client, test: &str) -> Api<DynamicObject> {
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    let definition: CustomResourceDefinition = serde_json::from_value(definition()).unwrap();
    match definitions.create(&PostParams::default(), &definition).await {
        // Another scenario has created it.
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {}
        created => drop(created.unwrap()),
    }
    await_condition(definitions, "parts.apply.example.org", conditions::is_crd_established()).await.unwrap();
    let namespace = namespace(client, test).await;
    Api::namespaced_with(client.clone(), &namespace, &kind())
}

fn kind() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("apply.example.org", "v1", "Part"))
}

fn part(spec: Value) -> DynamicObject {
    let mut part = DynamicObject::new("a", &kind());
    part.data = json!({ "spec": spec });
    part
}

async fn create(api: &Api<DynamicObject>, manager: &str, spec: Value) -> DynamicObject {
    let params = PostParams { field_manager: Some(manager.to_owned()), ..PostParams::default() };
    api.create(&params, &part(spec)).await.unwrap()
}

async fn apply(api: &Api<DynamicObject>, manager: &str, spec: Value) -> kube::Result<DynamicObject> {
    api.patch("a", &PatchParams::apply(manager), &Patch::Apply(part(spec))).await
}

async fn force(api: &Api<DynamicObject>, manager: &str, spec: Value) -> DynamicObject {
    api.patch("a", &PatchParams::apply(manager).force(), &Patch::Apply(part(spec))).await.unwrap()
}

async fn merge(api: &Api<DynamicObject>, manager: &str, patch: Value) -> DynamicObject {
    let params = PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() };
    api.patch("a", &params, &Patch::Merge(patch)).await.unwrap()
}

/// Returns the owned fields by manager, operation and subresource.
fn owners(metadata: &ObjectMeta) -> Value {
    let entries = metadata.managed_fields.iter().flatten().map(|entry| {
        assert_eq!(entry.fields_type.as_deref(), Some("FieldsV1"));
        let texts = [&entry.manager, &entry.operation, &entry.api_version, &entry.subresource];
        let name: Vec<&str> = texts.into_iter().filter_map(|text| text.as_deref()).collect();
        (name.join(" ").replace(" apply.example.org/v1", ""), entry.fields_v1.as_ref().unwrap().0.clone())
    });
    Value::Object(entries.collect())
}

#[track_caller]
fn rejection(result: kube::Result<DynamicObject>) -> (u16, String, String) {
    match result {
        Err(kube::Error::Api(status)) => (status.code, status.reason.clone(), status.message.clone()),
        other => panic!("the request is not rejected: {other:?}"),
    }
}

pub(super) async fn writes_own_the_fields_they_set(client: Client) {
    let api = parts(&client, "own").await;
    let made =
        create(&api, "maker", json!({ "size": 1, "notes": { "n": "1" }, "args": ["x"], "free": { "p": { "q": 1 } } }))
            .await;
    let spec = json!({
        ".": {}, "f:size": {}, "f:color": {}, "f:notes": { ".": {}, "f:n": {} }, "f:args": {},
        "f:free": { ".": {}, "f:p": { ".": {}, "f:q": {} } },
    });
    assert_eq!(owners(&made.metadata), json!({ "maker Update": { "f:spec": spec } }));
    assert!(made.metadata.managed_fields.unwrap()[0].time.is_some());

    merge(&api, "other", json!({ "metadata": { "labels": { "l": "1" } }, "spec": { "size": 2 } })).await;
    let mut now = merge(&api, "other", json!({ "spec": { "notes": null, "free": null } })).await;
    let other = json!({ "f:metadata": { "f:labels": { ".": {}, "f:l": {} } }, "f:spec": { "f:size": {} } });
    let maker = json!({ "f:spec": { ".": {}, "f:color": {}, "f:args": {} } });
    assert_eq!(owners(&now.metadata), json!({ "maker Update": maker, "other Update": other }));

    now.data["spec"] = json!({ "size": 2, "color": "blue" });
    now.metadata.labels = None;
    let params = PostParams { field_manager: Some("last".into()), ..PostParams::default() };
    let replaced = api.replace("a", &params, &now).await.unwrap();
    let expected = json!({
        "maker Update": { "f:spec": {} },
        "other Update": { "f:spec": { "f:size": {} } },
        "last Update": { "f:spec": { "f:color": {} } },
    });
    assert_eq!(owners(&replaced.metadata), expected);
}

pub(super) async fn appliers_share_equal_values_and_conflict_over_others(client: Client) {
    let api = parts(&client, "share").await;
    apply(&api, "one", json!({ "size": 1, "args": ["x"] })).await.unwrap();
    let shared = apply(&api, "two", json!({ "size": 1 })).await.unwrap();
    let fields = json!({ "f:spec": { "f:size": {} } });
    let expected = json!({ "one Apply": { "f:spec": { "f:size": {}, "f:args": {} } }, "two Apply": fields });
    assert_eq!(owners(&shared.metadata), expected);
    assert_eq!(shared.metadata.generation, Some(1));

    merge(&api, "editor", json!({ "spec": { "notes": { "n": "1" } } })).await;
    let message = "Apply failed with 1 conflict: conflict with \"one\": .spec.args";
    let conflict = rejection(apply(&api, "two", json!({ "size": 1, "args": ["y"] })).await);
    assert_eq!(conflict, (409, "Conflict".into(), message.into()));
    let object = json!({ "size": 2, "notes": { "n": "2" } });
    let result = apply(&api, "two", object.clone()).await;
    let Err(kube::Error::Api(status)) = &result else { panic!("{result:?}") };
    let mut causes: Vec<String> = status
        .details
        .iter()
        .flat_map(|details| &details.causes)
        .map(|cause| format!("{} {} {}", cause.reason, cause.message, cause.field))
        .collect();
    causes.sort();
    assert_eq!(
        causes,
        [
            "FieldManagerConflict conflict with \"editor\" using apply.example.org/v1 .spec.notes.n",
            "FieldManagerConflict conflict with \"one\" .spec.size",
        ]
    );
    let message = "Apply failed with 2 conflicts: conflicts with \"editor\" using apply.example.org/v1:\n\
        - .spec.notes.n\nconflicts with \"one\":\n- .spec.size";
    assert_eq!(rejection(result).2, message);

    let forced = force(&api, "two", object).await;
    let expected = json!({
        "one Apply": { "f:spec": { "f:args": {} } },
        "two Apply": { "f:spec": { "f:size": {}, "f:notes": { "f:n": {} } } },
        "editor Update": { "f:spec": { "f:notes": {} } },
    });
    assert_eq!(owners(&forced.metadata), expected);
    assert_eq!(forced.data["spec"], json!({ "size": 2, "color": "red", "args": ["x"], "notes": { "n": "2" } }));
}

pub(super) async fn fields_that_an_applier_drops_are_removed(client: Client) {
    let api = parts(&client, "give-up").await;
    let all = json!({ "size": 1, "args": ["x"], "notes": { "n": "1", "m": "2" }, "whole": { "w": "1" } });
    apply(&api, "one", all).await.unwrap();
    apply(&api, "two", json!({ "args": ["x"], "notes": { "o": "3" } })).await.unwrap();
    let now = apply(&api, "one", json!({ "notes": { "m": "2" } })).await.unwrap();
    // Defaults have no owner and stay; so do fields that another manager applies.
    assert_eq!(now.data["spec"], json!({ "color": "red", "args": ["x"], "notes": { "m": "2", "o": "3" } }));
    assert_eq!(now.metadata.generation, Some(3));
    let expected = json!({
        "one Apply": { "f:spec": { "f:notes": { "f:m": {} } } },
        "two Apply": { "f:spec": { "f:args": {}, "f:notes": { "f:o": {} } } },
    });
    assert_eq!(owners(&now.metadata), expected);

    let now = apply(&api, "two", json!({})).await.unwrap();
    assert_eq!(now.data["spec"], json!({ "color": "red", "notes": { "m": "2" } }));
    assert_eq!(owners(&now.metadata)["two Apply"], json!({ "f:spec": {} }));
}

pub(super) async fn list_items_are_merged_by_key(client: Client) {
    let api = parts(&client, "items").await;
    apply(&api, "one", json!({ "ports": [{ "name": "http", "number": 80 }] })).await.unwrap();
    let ports = json!([{ "name": "dns", "protocol": "UDP" }, { "name": "http", "protocol": "TCP" }]);
    let now = apply(&api, "two", json!({ "ports": ports })).await.unwrap();
    let merged = json!([
        { "name": "dns", "protocol": "UDP" }, { "name": "http", "protocol": "TCP", "number": 80 },
    ]);
    assert_eq!(now.data["spec"]["ports"], merged);
    let http = "k:{\"name\":\"http\",\"protocol\":\"TCP\"}";
    let dns = "k:{\"name\":\"dns\",\"protocol\":\"UDP\"}";
    let expected = json!({
        "one Apply": { "f:spec": { "f:ports": { http: { ".": {}, "f:name": {}, "f:number": {} } } } },
        "two Apply": { "f:spec": { "f:ports": {
            http: { ".": {}, "f:name": {}, "f:protocol": {} }, dns: { ".": {}, "f:name": {}, "f:protocol": {} },
        } } },
    });
    assert_eq!(owners(&now.metadata), expected);

    let conflict = rejection(apply(&api, "two", json!({ "ports": [{ "name": "http", "number": 81 }] })).await);
    let field = ".spec.ports[name=\"http\",protocol=\"TCP\"].number";
    assert_eq!(conflict.2, format!("Apply failed with 1 conflict: conflict with \"one\": {field}"));

    let now = apply(&api, "one", json!({ "ports": [] })).await.unwrap();
    let rest = json!([{ "name": "dns", "protocol": "UDP" }, { "name": "http", "protocol": "TCP" }]);
    assert_eq!(now.data["spec"]["ports"], rest, "the item belongs to the other manager, its number did not");
    let duplicate = json!({ "ports": [{ "name": "x" }, { "name": "x" }] });
    let (code, _, message) = rejection(apply(&api, "two", duplicate).await);
    let error = ".spec.ports: duplicate entries for key [name=\"x\",protocol=\"TCP\"]";
    let object = "(/a; apply.example.org/v1, Kind=Part)";
    assert_eq!((code, message), (500, format!("failed to create typed patch object {object}: {error}")));
}

pub(super) async fn sets_are_merged_and_atomic_values_replaced(client: Client) {
    let api = parts(&client, "sets").await;
    let spec = json!({ "tags": ["a", "b", "c", "d"], "args": ["a"], "whole": { "a": "1" } });
    apply(&api, "one", spec).await.unwrap();
    let now = apply(&api, "two", json!({ "tags": ["d", "x", "b", "y"] })).await.unwrap();
    assert_eq!(now.data["spec"]["tags"], json!(["a", "c", "d", "x", "b", "y"]));
    let tags = |tags: &[&str]| tags.iter().map(|tag| (format!("v:\"{tag}\""), json!({}))).collect::<Value>();
    let expected = json!({
        "one Apply": { "f:spec": { "f:tags": tags(&["a", "b", "c", "d"]), "f:args": {}, "f:whole": {} } },
        "two Apply": { "f:spec": { "f:tags": tags(&["b", "d", "x", "y"]) } },
    });
    assert_eq!(owners(&now.metadata), expected);

    let now = apply(&api, "one", json!({ "tags": ["c", "a"] })).await.unwrap();
    let expected = json!({ "color": "red", "tags": ["c", "d", "x", "b", "y", "a"] });
    assert_eq!(now.data["spec"], expected, "b and d belong to the other manager");

    let wholes = json!({ "args": ["a", "b"], "whole": { "b": "2" } });
    apply(&api, "one", wholes).await.unwrap();
    let conflict = rejection(apply(&api, "two", json!({ "args": ["b"], "whole": { "a": "1" } })).await);
    let message = "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.args\n- .spec.whole";
    assert_eq!(conflict, (409, "Conflict".into(), message.into()));
    let now = force(&api, "two", json!({ "args": ["b"], "whole": { "a": "1" } })).await;
    assert_eq!((&now.data["spec"]["args"], &now.data["spec"]["whole"]), (&json!(["b"]), &json!({ "a": "1" })));
    assert_eq!(owners(&now.metadata), json!({ "two Apply": { "f:spec": { "f:args": {}, "f:whole": {} } } }));
}

pub(super) async fn status_fields_are_owned_by_subresource(client: Client) {
    let api = Api::<Logger>::namespaced(client.clone(), &namespace(&client, "owned-status").await);
    let params = PostParams { field_manager: Some("maker".into()), ..PostParams::default() };
    api.create(&params, &logger("a")).await.unwrap();
    let condition = |type_: &str| {
        json!({
            "type": type_, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z",
        })
    };
    let status = |conditions: Vec<Value>| {
        Patch::Apply(json!({
            "apiVersion": "example.com/v2", "kind": "Logger",
            "metadata": { "name": "a", "labels": { "not": "written" } },
            "spec": { "name": "a", "interval": "7s" }, "status": { "conditions": conditions },
        }))
    };
    api.patch_status("a", &PatchParams::apply("one"), &status(vec![condition("Ready")])).await.unwrap();
    let now = api.patch_status("a", &PatchParams::apply("two"), &status(vec![condition("Old")])).await.unwrap();
    assert_eq!((now.spec.interval.as_str(), &now.metadata.labels), ("1m", &None));
    let fields = json!({
        ".": {}, "f:type": {}, "f:status": {}, "f:reason": {}, "f:message": {}, "f:lastTransitionTime": {},
    });
    let condition_fields =
        |type_: &str| json!({ "f:status": { "f:conditions": { format!("k:{{\"type\":\"{type_}\"}}"): fields } } });
    let maker = json!({ "f:spec": { ".": {}, "f:name": {}, "f:interval": {} } });
    let expected = json!({
        "maker Update example.com/v2": maker,
        "one Apply example.com/v2 status": condition_fields("Ready"),
        "two Apply example.com/v2 status": condition_fields("Old"),
    });
    assert_eq!(owners(&now.metadata), expected);

    // A status in an apply to the main resource is neither written nor owned, and causes no conflict.
    let whole = status(vec![condition("Ready"), condition("New")]);
    let conflict = api.patch("a", &PatchParams::apply("three"), &whole).await.unwrap_err().to_string();
    assert!(conflict.contains("conflict with \"maker\" using example.com/v2: .spec.interval"), "{conflict}");
    let now = api.patch("a", &PatchParams::apply("three").force(), &whole).await.unwrap();
    let spec = json!({ "f:name": {}, "f:interval": {} });
    let three = json!({ "f:metadata": { "f:labels": { "f:not": {} } }, "f:spec": spec });
    assert_eq!(owners(&now.metadata)["three Apply example.com/v2"], three);
    assert_eq!(now.status.unwrap().conditions.unwrap().len(), 2);

    let none = api.patch_status("a", &PatchParams::apply("one"), &status(vec![])).await.unwrap();
    let left = none.status.unwrap().conditions.unwrap();
    assert_eq!(left.iter().map(|condition| condition.type_.as_str()).collect::<Vec<_>>(), ["Old"]);
}

pub(super) async fn appliers_share_fields_with_updaters(client: Client) {
    let api = parts(&client, "take-over").await;
    create(&api, "maker", json!({ "size": 1, "args": ["x"] })).await;
    let shared = apply(&api, "one", json!({ "size": 1 })).await.unwrap();
    assert_eq!(owners(&shared.metadata)["one Apply"], json!({ "f:spec": { "f:size": {} } }));
    assert_eq!(owners(&shared.metadata)["maker Update"]["f:spec"]["f:size"], json!({}));
    let now = merge(&api, "maker", json!({ "spec": { "size": 2 } })).await;
    assert_eq!(owners(&now.metadata).get("one Apply"), None, "an update takes ownership without a conflict");

    // A field that an updater owns stays when an applier drops it.
    force(&api, "one", json!({ "args": ["x"] })).await;
    let now = apply(&api, "one", json!({})).await.unwrap();
    assert_eq!(now.data["spec"]["args"], json!(["x"]));

    let reset = merge(&api, "maker", json!({ "metadata": { "managedFields": [{}] } })).await;
    assert_eq!(reset.metadata.managed_fields, None);
    let untracked = merge(&api, "maker", json!({ "spec": { "size": 3 } })).await;
    assert_eq!(untracked.metadata.managed_fields, None, "tracking starts with the next apply");
    let now = apply(&api, "one", json!({ "notes": { "n": "1" } })).await.unwrap();
    let before = json!({ "f:spec": { ".": {}, "f:size": {}, "f:color": {}, "f:args": {} } });
    let expected = json!({
        "before-first-apply Update": before, "one Apply": { "f:spec": { "f:notes": { "f:n": {} } } },
    });
    assert_eq!(owners(&now.metadata), expected);
}

pub(super) async fn a_no_op_apply_is_not_written(client: Client) {
    let api = parts(&client, "no-op").await;
    let spec = json!({ "size": 1, "tags": ["a"], "ports": [{ "name": "http" }] });
    let first = apply(&api, "one", spec.clone()).await.unwrap();
    let again = apply(&api, "one", spec.clone()).await.unwrap();
    assert_eq!(again, first);
    let wet = json!({ "size": 2 });
    let dry = PatchParams { dry_run: true, ..PatchParams::apply("one") };
    let shown = api.patch("a", &dry, &Patch::Apply(part(wet))).await.unwrap();
    assert_eq!(shown.data["spec"], json!({ "size": 2, "color": "red" }));
    assert_eq!(api.get("a").await.unwrap(), first);
    let two = PostParams { field_manager: Some("two".into()), ..PostParams::default() };
    assert_eq!(api.replace("a", &two, &first).await.unwrap(), first);
}

pub(super) async fn apply_creates_missing_objects(client: Client) {
    let api = parts(&client, "make").await;
    let owner = json!([{ "apiVersion": "v1", "kind": "X", "name": "x", "uid": "u" }]);
    let mut object = json!(part(json!({ "size": 1, "notes": {}, "free": null })));
    object["metadata"] =
        json!({ "name": "a", "labels": { "l": "1" }, "finalizers": ["a/b"], "ownerReferences": owner });
    object["status"] = json!({ "state": "not written" });
    let null = rejection(api.patch("a", &PatchParams::apply("one"), &Patch::Apply(&object)).await);
    let error = "spec.free: Invalid value: \"null\": spec.free in body must be of type object: \"null\"";
    assert_eq!(null, (422, "Invalid".into(), format!("Part.apply.example.org \"a\" is invalid: {error}")));
    object["spec"].as_object_mut().unwrap().remove("free");
    let made = api.patch("a", &PatchParams::apply("one"), &Patch::Apply(&object)).await.unwrap();
    assert_eq!(made.data, json!({ "spec": { "size": 1, "color": "red", "notes": {} } }));
    let metadata = json!({
        "f:labels": { "f:l": {} }, "f:finalizers": { "v:\"a/b\"": {} },
        "f:ownerReferences": { "k:{\"uid\":\"u\"}": {} },
    });
    let spec = json!({ "f:size": {}, "f:notes": {} });
    assert_eq!(owners(&made.metadata), json!({ "one Apply": { "f:metadata": metadata, "f:spec": spec } }));
    assert_eq!(made.metadata.generation, Some(1));
}

pub(super) async fn invalid_applies_are_rejected(client: Client) {
    let api = parts(&client, "reject").await;
    let reject = async |params: PatchParams, body: Value| rejection(api.patch("a", &params, &Patch::Apply(body)).await);
    let message = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
    let whole = json!(part(json!({ "size": 1 })));
    assert_eq!(reject(PatchParams::default(), whole.clone()).await, (422, "Invalid".into(), message.into()));
    let apply_as_one = || PatchParams::apply("one");
    let missing = rejection(api.patch_status("a", &apply_as_one(), &Patch::Apply(&whole)).await);
    assert_eq!((missing.0, missing.2.as_str()), (404, "parts.apply.example.org \"a\" not found"));
    let with = |pointer: &str, name: &str, value: Value| {
        let mut body = whole.clone();
        body.pointer_mut(pointer).unwrap()[name] = value;
        body
    };
    let typed = "failed to create typed patch object (/a; apply.example.org/v1, Kind=Part)";
    let cases = [
        (with("", "kind", json!("Whole")), 400, "invalid object type: apply.example.org/v1, Kind=Whole".into()),
        (with("", "apiVersion", json!("v1")), 400, "invalid object type: /v1, Kind=Part".into()),
        (with("/metadata", "managedFields", json!([])), 400, "metadata.managedFields must be nil".to_owned()),
        (
            with("/metadata", "name", json!("b")),
            400,
            "the name of the object (b) does not match the name on the URL (a)".into(),
        ),
        (
            with("/metadata", "namespace", json!("b")),
            400,
            "the namespace of the provided object does not match the namespace sent on the request".into(),
        ),
        (
            with("/metadata", "uid", json!("u")),
            409,
            "Operation cannot be fulfilled on parts.apply.example.org \"a\": uid mismatch: the provided object specified uid u, \
             and no existing object was found"
                .into(),
        ),
        (with("/spec", "sise", json!(1)), 500, format!("{typed}: .spec.sise: field not declared in schema")),
        (with("/spec", "size", json!("1")), 500, format!("{typed}: .spec.size: expected numeric (int or float), got string")),
        (
            with("/spec", "color", json!([true])),
            500,
            format!("{typed}: .spec.color: expected string, got &value.valueUnstructured{{Value:[]interface {{}}{{true}}}}"),
        ),
        (with("/spec", "args", json!("1")), 500, format!("{typed}: .spec.args: expected list, got &{{1}}")),
        (with("/spec", "notes", json!([1])), 500, format!("{typed}: .spec.notes: expected map, got &{{[1]}}")),
    ];
    for (body, code, message) in cases {
        let rejected = reject(apply_as_one(), body).await;
        assert_eq!((rejected.0, rejected.2), (code, message));
    }
    assert!(api.get_opt("a").await.unwrap().is_none());
}

pub(super) async fn scaling_owns_the_replicas(client: Client) {
    let api = parts(&client, "who-scales").await;
    create(&api, "maker", json!({ "size": 1, "replicas": 1 })).await;
    let scaler = PatchParams { field_manager: Some("scaler".into()), ..PatchParams::default() };
    let to = |replicas: i32| Patch::Merge(json!({ "spec": { "replicas": replicas } }));
    for replicas in [2, 3] {
        api.patch_scale("a", &scaler, &to(replicas)).await.unwrap();
        let now = api.get("a").await.unwrap();
        let expected = json!({
            "maker Update": { "f:spec": { ".": {}, "f:size": {}, "f:color": {} } },
            "scaler Update scale": { "f:spec": { "f:replicas": {} } },
        });
        assert_eq!(owners(&now.metadata), expected);
    }
    let conflict = rejection(apply(&api, "one", json!({ "replicas": 4 })).await);
    let owner = "\"scaler\" with subresource \"scale\" using apply.example.org/v1";
    assert_eq!(conflict.2, format!("Apply failed with 1 conflict: conflict with {owner}: .spec.replicas"));
    let now = apply(&api, "one", json!({ "replicas": 3 })).await.unwrap();
    assert_eq!(owners(&now.metadata)["one Apply"], json!({ "f:spec": { "f:replicas": {} } }));

    let scale = |replicas: i32| {
        Patch::Apply(json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": "a" },
            "spec": { "replicas": replicas },
        }))
    };
    api.patch_scale("a", &PatchParams::apply("two"), &scale(3)).await.unwrap();
    let now = api.get("a").await.unwrap();
    assert_eq!(owners(&now.metadata)["two Apply scale"], json!({ "f:spec": { "f:replicas": {} } }));
    let conflict = api.patch_scale("a", &PatchParams::apply("two"), &scale(4)).await.unwrap_err().to_string();
    assert!(conflict.contains("conflicts with \"one\":\n- .spec.replicas"), "{conflict}");
    assert_eq!(api.get_scale("a").await.unwrap().spec.unwrap().replicas, Some(3));
}

pub(super) async fn server_side_apply_takes_over_client_side_applied_fields(client: Client) {
    const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
    let api = parts(&client, "kubectl").await;
    let mut object = part(json!({ "size": 1, "args": ["x"] }));
    let annotation = json!(object).to_string();
    object.metadata.annotations = Some([(ANNOTATION.to_owned(), annotation)].into());
    let params = PostParams { field_manager: Some("kubectl-client-side-apply".into()), ..PostParams::default() };
    api.create(&params, &object).await.unwrap();

    merge(&api, "editor", json!({ "spec": { "args": ["y"] } })).await;
    let conflict = rejection(apply(&api, "kubectl", json!({ "size": 2, "args": ["z"] })).await);
    let owner = "\"editor\" using apply.example.org/v1";
    assert_eq!(conflict.2, format!("Apply failed with 1 conflict: conflict with {owner}: .spec.args"));
    let conflict = rejection(apply(&api, "other", json!({ "size": 2 })).await);
    assert!(conflict.2.contains("conflict with \"kubectl-client-side-apply\""), "{}", conflict.2);

    let now = apply(&api, "kubectl", json!({ "size": 2 })).await.unwrap();
    assert_eq!(owners(&now.metadata)["kubectl Apply"], json!({ "f:spec": { "f:size": {} } }));
    let annotation: Value = serde_json::from_str(&now.metadata.annotations.unwrap()[ANNOTATION]).unwrap();
    assert_eq!(annotation, json!(part(json!({ "size": 2 }))), "the annotation is updated");
}
