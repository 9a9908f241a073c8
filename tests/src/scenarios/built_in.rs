//! Built-in kinds: stored, defaulted, scaled, applied and rejected as by the real server.

mod kinds;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
};
use kube::{
    Api, Client, Error,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind, Request, Status},
};
use serde_json::{Value, json};

use crate::namespace;
use kinds::KINDS;

fn post() -> PostParams {
    PostParams { field_manager: Some("tests".to_owned()), ..PostParams::default() }
}

fn applied_by(manager: &str) -> PatchParams {
    PatchParams::apply(manager)
}

/// Returns the parameters of a merge patch by a field manager.
fn merged_by(manager: &str) -> PatchParams {
    PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() }
}

fn rejection<T>(outcome: Result<T, Error>) -> Box<Status> {
    match outcome {
        Err(Error::Api(status)) => status,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the request is accepted"),
    }
}

fn resource(group: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), plural)
}

fn dynamic(value: Value) -> DynamicObject {
    serde_json::from_value(value).expect("an object")
}

/// Returns each manager with its subresource and the fields that it owns.
fn owners(object: &impl kube::ResourceExt) -> Vec<(String, String, Value)> {
    let entries = object.managed_fields().iter();
    let owner = |entry: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry| {
        let fields = entry.fields_v1.as_ref().map(|fields| fields.0.clone());
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        (text(&entry.manager), text(&entry.subresource), fields.unwrap_or_default())
    };
    let mut owners: Vec<_> = entries.map(owner).collect();
    owners.sort_by(|left, right| (&left.0, &left.1).cmp(&(&right.0, &right.1)));
    owners
}

/// Every kind is created from a minimal object and returned with its defaults. Updates and deletions are answered as
/// specified for the kind.
pub(super) async fn every_built_in_kind_is_stored_with_its_defaults(client: Client) {
    let namespace = namespace(&client, "built-in-kinds").await;
    for kind in KINDS {
        let resource = resource(kind.group, kind.kind, kind.plural);
        let api: Api<DynamicObject> = match kind.cluster {
            true => Api::all_with(client.clone(), &resource),
            false => Api::namespaced_with(client.clone(), &namespace, &resource),
        };
        let body = |name: &str, labels: Value| {
            let mut body = (kind.minimal)();
            body["apiVersion"] = json!(resource.api_version);
            body["kind"] = json!(kind.kind);
            body["metadata"] = json!({"name": name, "labels": labels});
            body
        };
        let made = api.create(&post(), &dynamic(body("built-in-kinds", json!({})))).await;
        let made = made.unwrap_or_else(|error| panic!("{}: {error}", kind.kind));
        assert_eq!(kind.without_ignored(&made.data), (kind.stored)(), "{}", kind.kind);
        assert_eq!(made.metadata.generation, kind.generation, "{}", kind.kind);
        assert!(made.metadata.creation_timestamp.is_some());
        let read = api.get("built-in-kinds").await.unwrap();
        assert_eq!(read.metadata, made.metadata, "{}", kind.kind);

        let unversioned =
            api.replace("built-in-kinds", &post(), &dynamic(body("built-in-kinds", json!({"a": "b"})))).await;
        if kind.unversioned_updates {
            let updated = unversioned.unwrap_or_else(|error| panic!("{}: {error}", kind.kind));
            assert_eq!(updated.metadata.labels.map(|labels| labels["a"].clone()).as_deref(), Some("b"));
            assert_eq!(updated.metadata.generation, kind.generation, "{}", kind.kind);
        } else {
            assert_eq!(rejection(unversioned).code, 422, "{}", kind.kind);
        }
        let missing = api.replace("built-in-none", &post(), &dynamic(body("built-in-none", json!({})))).await;
        if kind.created_by_updates {
            missing.unwrap_or_else(|error| panic!("{}: {error}", kind.kind));
            // Events of both groups share one storage.
            api.delete("built-in-none", &DeleteParams::default()).await.unwrap();
        } else {
            assert_eq!(rejection(missing).code, 404, "{}", kind.kind);
        }
        let deleted = api.delete("built-in-kinds", &DeleteParams::background()).await.unwrap();
        assert_eq!(deleted.is_left(), kind.returned_when_deleted, "{}", kind.kind);
    }
}

pub(super) async fn discovery_lists_built_in_kinds(client: Client) {
    for kind in KINDS {
        let list = match kind.group {
            "" => client.list_core_api_resources("v1").await.unwrap(),
            group => client.list_api_group_resources(&format!("{group}/v1")).await.unwrap(),
        };
        let found = |name: &str| list.resources.iter().find(|resource| resource.name == name).cloned();
        let main = found(kind.plural).unwrap_or_else(|| panic!("{} is not listed", kind.plural));
        assert_eq!((main.kind.as_str(), main.namespaced), (kind.kind, !kind.cluster));
        assert_eq!(main.singular_name, kind.kind.to_lowercase());
        assert_eq!(main.short_names.unwrap_or_default(), kind.short_names, "{}", kind.kind);
        assert_eq!(main.categories.unwrap_or_default(), kind.categories, "{}", kind.kind);
        assert_eq!(main.verbs.len(), 8, "{:?}", main.verbs);
        for (subresource, served) in [("status", kind.status), ("scale", kind.scale)] {
            let found = found(&format!("{}/{subresource}", kind.plural));
            assert_eq!(found.is_some(), served, "{}/{subresource}", kind.plural);
        }
    }
}

pub(super) async fn config_maps_are_created_listed_watched_and_patched(client: Client) {
    let namespace = namespace(&client, "config-maps").await;
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let raw: Api<DynamicObject> = Api::namespaced_with(client, &namespace, &resource("", "ConfigMap", "configmaps"));
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"app": "x"}},
        "data": {"k": "1", "none": null}, "binaryData": {}, "extra": 1,
    });
    let made = raw.create(&post(), &dynamic(object)).await.unwrap();
    assert_eq!(
        made.data,
        json!({"data": {"k": "1", "none": ""}}),
        "nulls become empty, unknown and empty fields are dropped"
    );
    assert_eq!(made.metadata.generation, None);
    let fields = json!({
        "f:data": {".": {}, "f:k": {}, "f:none": {}}, "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
    });
    assert_eq!(owners(&made), [("tests".to_owned(), String::new(), fields)]);

    let since = made.metadata.resource_version.clone().unwrap();
    let merge = Patch::Merge(json!({"data": {"none": null, "l": "2"}}));
    let merged = api.patch("a", &merged_by("tests"), &merge).await.unwrap();
    assert_eq!(
        merged.data.unwrap().into_iter().collect::<Vec<_>>(),
        [("k".into(), "1".into()), ("l".into(), "2".into())]
    );
    // An absent field tests equal to null: kube's `finalizer` relies on it.
    let absent = json!({"op": "test", "path": "/metadata/finalizers", "value": null});
    let replaced = json!({"op": "replace", "path": "/data/k", "value": "3"});
    let operations = json!([absent, replaced, {"op": "remove", "path": "/data/l"}]);
    let patch = Patch::Json::<()>(serde_json::from_value(operations).unwrap());
    let patched = api.patch("a", &merged_by("tests"), &patch).await.unwrap();
    assert_eq!(patched.data.unwrap().into_iter().collect::<Vec<_>>(), [("k".into(), "3".into())]);
    let listed = api.list(&ListParams::default().labels("app=x")).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    let unknown = rejection(api.list(&ListParams::default().fields("data.k=3")).await);
    let known = "only \"metadata.name\", \"metadata.namespace\"";
    assert_eq!(unknown.message, format!("\"data.k\" is not a known field selector: {known}"));

    api.delete("a", &DeleteParams::default()).await.unwrap();
    let mut events = std::pin::pin!(api.watch(&WatchParams::default().labels("app=x"), &since).await.unwrap());
    let mut received = Vec::new();
    while received.last() != Some(&"deleted") {
        match futures::TryStreamExt::try_next(&mut events).await.unwrap().expect("events") {
            WatchEvent::Modified(_) => received.push("modified"),
            WatchEvent::Deleted(_) => received.push("deleted"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(received, ["modified", "modified", "deleted"]);
}

pub(super) async fn secrets_store_string_data_as_data(client: Client) {
    let namespace = namespace(&client, "secrets").await;
    let api: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    let raw: Api<DynamicObject> = Api::namespaced_with(client, &namespace, &resource("", "Secret", "secrets"));
    let secret = |fields: Value| {
        let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
        secret.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        dynamic(secret)
    };
    let made = raw.create(&post(), &secret(json!({"stringData": {"a": "1"}, "data": {"b": "Mg=="}}))).await.unwrap();
    assert_eq!(made.data, json!({"data": {"a": "MQ==", "b": "Mg=="}, "type": "Opaque"}));
    let fields = json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}, "f:type": {}});
    assert_eq!(owners(&made), [("tests".to_owned(), String::new(), fields)]);
    let merge = Patch::Merge(json!({"stringData": {"b": "3"}}));
    let merged = api.patch("s", &merged_by("tests"), &merge).await.unwrap();
    assert_eq!(merged.data.unwrap()["b"].0, b"3");
    assert_eq!(merged.string_data, None);

    let applied = Patch::Apply(secret(json!({"stringData": {"c": "4"}})));
    let applied = raw.patch("s", &applied_by("applier"), &applied).await.unwrap();
    assert_eq!(applied.data["data"]["c"], "NA==");
    let fields = json!({"f:stringData": {"f:c": {}}});
    assert_eq!(owners(&applied)[0], ("applier".to_owned(), String::new(), fields));

    let other = rejection(api.patch("s", &merged_by("tests"), &Patch::Merge(json!({"type": "x"}))).await);
    assert_eq!(other.message, "Secret \"s\" is invalid: type: Invalid value: \"x\": field is immutable");
    for (text, place) in [("%%", 0), ("YQ=", 3)] {
        let rejected = rejection(raw.create(&post(), &secret(json!({"data": {"a": text}}))).await);
        let error = format!("illegal base64 data at input byte {place}");
        assert_eq!(rejected.message, format!("Secret in version \"v1\" cannot be handled as a Secret: {error}"));
    }
    assert_eq!(api.list(&ListParams::default().fields("type=Opaque")).await.unwrap().items.len(), 1);
    assert_eq!(api.list(&ListParams::default().fields("type=other")).await.unwrap().items.len(), 0);
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": "x"}},
            "template": {
                "metadata": {"labels": {"app": "x"}},
                "spec": {"containers": [{"name": "main", "image": "main:1"}]},
            },
        },
    })
}

pub(super) async fn deployments_are_scaled_and_their_status_is_written(client: Client) {
    let namespace = namespace(&client, "deployments").await;
    let api: Api<Deployment> = Api::namespaced(client, &namespace);
    let object: Deployment = serde_json::from_value(deployment("web")).unwrap();
    let made = api.create(&post(), &object).await.unwrap();
    assert_eq!(made.metadata.generation, Some(1));
    let merge = |patch: Value| Patch::Merge(patch);
    let generation = async |patch: Value| {
        api.patch("web", &merged_by("tests"), &merge(patch)).await.unwrap().metadata.generation.unwrap()
    };
    assert_eq!(
        generation(json!({"metadata": {"labels": {"a": "b"}}})).await,
        1,
        "labels do not increment the generation"
    );
    assert_eq!(generation(json!({"metadata": {"annotations": {"a": "b"}}})).await, 2, "annotations do");
    assert_eq!(generation(json!({"spec": {"paused": true}})).await, 3);

    let scale = api.get_scale("web").await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(1));
    assert_eq!(scale.status.unwrap().selector.as_deref(), Some("app=x"));
    let scaled = api.patch_scale("web", &merged_by("scaler"), &merge(json!({"spec": {"replicas": 3}}))).await.unwrap();
    assert_eq!(scaled.spec.unwrap().replicas, Some(3));
    let read = api.get("web").await.unwrap();
    assert_eq!((read.metadata.generation, read.spec.as_ref().unwrap().replicas), (Some(4), Some(3)));
    let scaler = ("scaler".to_owned(), "scale".to_owned(), json!({"f:spec": {"f:replicas": {}}}));
    assert!(owners(&read).contains(&scaler), "{:?}", owners(&read));
    let negative =
        rejection(api.patch_scale("web", &merged_by("scaler"), &merge(json!({"spec": {"replicas": -1}}))).await);
    let error = "spec.replicas: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!((negative.code, negative.message), (422, format!("Scale.autoscaling \"web\" is invalid: {error}")));

    let report = json!({
        "metadata": {"labels": {"a": "other"}, "annotations": {"b": "c"}},
        "spec": {"replicas": 9}, "status": {"replicas": 3, "observedGeneration": 4},
    });
    let reported = api.patch_status("web", &merged_by("reporter"), &merge(report)).await.unwrap();
    assert_eq!(reported.status.as_ref().unwrap().replicas, Some(3));
    assert_eq!((reported.metadata.generation, reported.spec.as_ref().unwrap().replicas), (Some(4), Some(3)));
    assert_eq!(reported.metadata.labels.as_ref().unwrap()["a"], "b", "a status write ignores labels");
    assert_eq!(reported.metadata.annotations.as_ref().unwrap()["b"], "c");
    let fields = json!({
        "f:metadata": {"f:annotations": {"f:b": {}}}, "f:status": {"f:observedGeneration": {}, "f:replicas": {}},
    });
    assert!(
        owners(&reported).contains(&("reporter".to_owned(), "status".to_owned(), fields)),
        "{:?}",
        owners(&reported)
    );
    assert_eq!(api.get_scale("web").await.unwrap().status.unwrap().replicas, 3);
    let unchanged = api.patch("web", &merged_by("tests"), &merge(json!({"status": null}))).await.unwrap();
    assert_eq!(unchanged.status.unwrap().replicas, Some(3), "only /status writes the status");
    assert!(api.delete("web", &DeleteParams::default()).await.unwrap().is_right());
    assert_eq!(api.get_opt("web").await.unwrap(), None);
}

/// Returns what a second manager applies to [`deployment`]: another container, and more fields of the first.
fn their_configuration() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"spec": {
            "containers": [
                {"name": "side", "image": "side"},
                {"name": "main", "env": [{"name": "B", "value": "2"}], "ports": [{"containerPort": 81}]},
            ],
            "volumes": [{"name": "v", "emptyDir": {}}],
            "tolerations": [{"key": "k", "operator": "Exists"}],
        }}},
    })
}

pub(super) async fn appliers_share_a_deployment(client: Client) {
    let namespace = namespace(&client, "shared-deployment").await;
    let api: Api<DynamicObject> =
        Api::namespaced_with(client, &namespace, &resource("apps", "Deployment", "deployments"));
    let containers = |containers: Value| {
        let mut object = deployment("web");
        object["spec"]["template"]["spec"]["containers"] = containers;
        Patch::Apply(object)
    };
    let mine = containers(json!([{
        "name": "main", "image": "main:1", "env": [{"name": "A", "value": "1"}],
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
    }]));
    let made = api.patch("web", &applied_by("mine"), &mine).await.unwrap();
    let selected = json!({"f:metadata": {"f:labels": {"f:app": {}}}});
    let container = json!({
        ".": {}, "f:name": {}, "f:image": {},
        "f:env": {"k:{\"name\":\"A\"}": {".": {}, "f:name": {}, "f:value": {}}},
        "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:protocol": {}}},
    });
    let mut template = selected.clone();
    template["f:spec"] = json!({"f:containers": {"k:{\"name\":\"main\"}": container}});
    assert_eq!(owners(&made)[0].2, json!({"f:spec": {"f:selector": {}, "f:template": template}}));

    let theirs = their_configuration();
    let both = api.patch("web", &applied_by("theirs"), &Patch::Apply(&theirs)).await.unwrap();
    let spec = &both.data["spec"]["template"]["spec"];
    let names: Vec<_> =
        spec["containers"].as_array().unwrap().iter().map(|container| container["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["side", "main"]);
    assert_eq!(spec["containers"][0]["imagePullPolicy"], "Always");
    assert_eq!(spec["containers"][1]["imagePullPolicy"], "IfNotPresent");
    assert_eq!(spec["containers"][1]["env"], json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]));
    let ports = json!([{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 81, "protocol": "TCP"}]);
    assert_eq!(spec["containers"][1]["ports"], ports);
    assert_eq!(both.metadata.generation, Some(2));

    let mut image = theirs.clone();
    image["spec"]["template"]["spec"]["containers"][1]["image"] = json!("other");
    let conflict = rejection(api.patch("web", &applied_by("theirs"), &Patch::Apply(image)).await);
    let field = ".spec.template.spec.containers[name=\"main\"].image";
    assert_eq!(conflict.message, format!("Apply failed with 1 conflict: conflict with \"mine\": {field}"));
    let tolerations = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"tolerations": [{"key": "l", "operator": "Exists"}]}}},
    });
    let conflict = rejection(api.patch("web", &applied_by("others"), &Patch::Apply(tolerations)).await);
    assert_eq!(conflict.reason, "Conflict", "tolerations are atomic");

    let mut less = theirs;
    less["spec"]["template"]["spec"] = json!({"containers": [{"name": "main", "env": [{"name": "B", "value": "2"}]}]});
    let left = api.patch("web", &applied_by("theirs"), &Patch::Apply(less)).await.unwrap();
    let spec = &left.data["spec"]["template"]["spec"];
    assert_eq!(spec["containers"].as_array().unwrap().len(), 1);
    assert_eq!(spec["containers"][0]["ports"], json!([{"containerPort": 80, "protocol": "TCP"}]));
    assert_eq!((&spec["volumes"], &spec["tolerations"]), (&Value::Null, &Value::Null));
}

/// Unlike the Scale of a custom resource, that of a Deployment can be applied.
pub(super) async fn scales_of_deployments_are_applied(client: Client) {
    let namespace = namespace(&client, "applied-scale").await;
    let api: Api<Deployment> = Api::namespaced(client, &namespace);
    api.patch("web", &applied_by("mine"), &Patch::Apply(deployment("web"))).await.unwrap();
    let scale = Patch::Apply(json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 3},
    }));
    let conflict = rejection(api.patch_scale("web", &applied_by("scaler"), &scale).await);
    let owner = "\"before-first-apply\" with subresource \"scale\" using autoscaling/v1";
    assert_eq!(conflict.message, format!("Apply failed with 1 conflict: conflict with {owner}: .spec.replicas"));
    let scaled = api.patch_scale("web", &applied_by("scaler").force(), &scale).await.unwrap();
    assert_eq!(scaled.spec.unwrap().replicas, Some(3));
    let read = api.get("web").await.unwrap();
    assert_eq!(read.spec.as_ref().unwrap().replicas, Some(3));
    let scaler = ("scaler".to_owned(), "scale".to_owned(), json!({"f:spec": {"f:replicas": {}}}));
    assert!(owners(&read).contains(&scaler), "{:?}", owners(&read));
    let mut object = deployment("web");
    object["spec"]["replicas"] = json!(5);
    let conflict = rejection(api.patch("web", &applied_by("mine"), &Patch::Apply(object)).await);
    assert!(conflict.message.contains("conflict with \"scaler\""), "{}", conflict.message);
}

/// Returns a deployment with another value at a JSON pointer.
fn deployment_with(pointer: &str, value: Value) -> DynamicObject {
    let mut object = deployment("web");
    *object.pointer_mut(pointer).expect("the pointer resolves") = value;
    dynamic(object)
}

pub(super) async fn undecodable_built_in_objects_are_rejected(client: Client) {
    let namespace = namespace(&client, "unreadable-built-in").await;
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), &namespace, &resource("apps", "Deployment", "deployments"));
    let undecodable = [
        ("/spec", json!("x"), "string into Go struct field Deployment.spec of type v1.DeploymentSpec"),
        (
            "/spec/template",
            json!([]),
            "array into Go struct field DeploymentSpec.spec.template of type v1.PodTemplateSpec",
        ),
        (
            "/spec/template/spec/containers",
            json!({}),
            "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            "/spec/template/spec/containers/0/image",
            json!(5),
            "number into Go struct field Container.spec.template.spec.containers.image of type string",
        ),
        (
            "/spec/selector/matchLabels/app",
            json!(1),
            "number into Go struct field LabelSelector.spec.selector.matchLabels of type string",
        ),
    ];
    for (pointer, value, mismatch) in undecodable {
        let rejected = rejection(api.create(&post(), &deployment_with(pointer, value)).await);
        let expected = format!(
            "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal {mismatch}"
        );
        assert_eq!((rejected.code, rejected.message), (400, expected));
    }
    let mut quantity = deployment("web");
    quantity["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"limits": {"cpu": "much"}});
    assert!(rejection(api.create(&post(), &dynamic(quantity)).await).message.contains("quantities must match"));
    let mut unknown = deployment("web");
    unknown["spec"]["size"] = json!(1);
    let mut strict = Request::new(api.resource_url()).create(&post(), unknown.to_string().into_bytes()).unwrap();
    *strict.uri_mut() = format!("{}&fieldValidation=Strict", strict.uri()).parse().unwrap();
    let rejected = rejection(client.request::<DynamicObject>(strict).await);
    assert!(rejected.message.ends_with("strict decoding error: unknown field \"spec.size\""), "{}", rejected.message);
    let applied = rejection(api.patch("web", &applied_by("tests"), &Patch::Apply(unknown)).await);
    assert!(applied.message.contains(".spec.size: field not declared in schema"), "{}", applied.message);
}

pub(super) async fn invalid_built_in_objects_are_rejected(client: Client) {
    let namespace = namespace(&client, "broken-built-in").await;
    let api: Api<DynamicObject> =
        Api::namespaced_with(client, &namespace, &resource("apps", "Deployment", "deployments"));
    let invalid = [
        ("/spec/template/spec/containers", json!([]), "spec.template.spec.containers: Required value"),
        (
            "/spec/template/spec/containers/0",
            json!({"image": "x"}),
            "spec.template.spec.containers[0].name: Required value",
        ),
        (
            "/spec/template/metadata/labels",
            json!({"app": "y"}),
            "spec.template.metadata.labels: Invalid value: {\"app\":\"y\"}: `selector` does not match template `labels`",
        ),
    ];
    for (pointer, value, error) in invalid {
        let rejected = rejection(api.create(&post(), &deployment_with(pointer, value)).await);
        assert_eq!((rejected.code, rejected.message), (422, format!("Deployment.apps \"web\" is invalid: {error}")));
    }
    let unnamed = rejection(api.create(&post(), &deployment_with("/metadata/name", json!("A_"))).await);
    assert!(unnamed.message.contains("a lowercase RFC 1123 subdomain must consist of"), "{}", unnamed.message);

    api.create(&post(), &deployment_with("/metadata/name", json!("web"))).await.unwrap();
    let selector = json!({"spec": {"selector": {"matchLabels": {"app": "y"}}, "template": {"metadata": {"labels": {"app": "y"}}}}});
    let changed = rejection(api.patch("web", &merged_by("tests"), &Patch::Merge(selector)).await);
    let error = "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"y\"}}: field is immutable";
    assert_eq!(changed.message, format!("Deployment.apps \"web\" is invalid: {error}"));
    let text =
        rejection(api.patch("web", &merged_by("tests"), &Patch::Merge(json!({"spec": {"replicas": "x"}}))).await);
    assert_eq!(text.code, 422);
    let error = "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32";
    assert!(text.message.ends_with(error), "{}", text.message);
}
