//! Admission policies: what they match, their decisions and messages, and their mutations. The answers are those of the
//! real server to the same requests.

use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

const GROUP: &str = "admissionregistration.k8s.io";

async fn add(client: &Client, kind: &str, plural: &str, name: &str, spec: Value) -> kube::Result<DynamicObject> {
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(GROUP, "v1", kind), plural);
    let mut configuration = DynamicObject::new(name, &resource);
    configuration.data = json!({ "spec": spec });
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    api.create(&PostParams::default(), &configuration).await
}

/// Matches Widgets.
fn constraints(operations: &[&str]) -> Value {
    json!({ "resourceRules": [{
        "apiGroups": ["example.com"],
        "apiVersions": ["v1"],
        "operations": operations,
        "resources": ["widgets"],
    }] })
}

/// Merges fields into a spec.
fn with(mut spec: Value, fields: Value) -> Value {
    if let (Some(spec), Value::Object(fields)) = (spec.as_object_mut(), fields) {
        spec.extend(fields);
    }
    spec
}

async fn add_policy(client: &Client, name: &str, spec: Value) -> kube::Result<DynamicObject> {
    let defaults = json!({ "matchConstraints": constraints(&["CREATE", "UPDATE"]) });
    let (kind, plural) = ("ValidatingAdmissionPolicy", "validatingadmissionpolicies");
    add(client, kind, plural, name, with(defaults, spec)).await
}

async fn bind(client: &Client, policy: &str, spec: Value) {
    let defaults = json!({ "policyName": policy, "validationActions": ["Deny"] });
    let (kind, plural) = ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");
    add(client, kind, plural, "binding", with(defaults, spec)).await.unwrap();
}

/// Creates a server with a bound policy.
async fn server_with(policy: Value, binding: Value) -> (Client, Api<DynamicObject>) {
    let client = client().await;
    add_policy(&client, "policy", policy).await.unwrap();
    bind(&client, "policy", binding).await;
    let widgets = widgets(&client);
    (client, widgets)
}

fn fast(name: &str) -> DynamicObject {
    widget_with(name, json!({ "name": "x", "mode": "Fast" }))
}

#[tokio::test]
async fn a_request_that_fails_a_validation_is_denied() {
    let rule = json!({ "expression": "object.spec.mode != 'Fast'", "message": "not so fast" });
    let (_, widgets) = server_with(json!({ "validations": [rule] }), json!({})).await;
    let error = widgets.create(&PostParams::default(), &fast("a")).await.unwrap_err();
    let kube::Error::Api(status) = error else { panic!("{error}") };
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    let message = "ValidatingAdmissionPolicy 'policy' with binding 'binding' denied request: not so fast";
    assert_eq!(status.message, format!("widgets.example.com \"a\" is forbidden: {message}"));
    let details = status.details.as_ref().unwrap();
    assert_eq!((details.name.as_str(), details.group.as_str(), details.kind.as_str()), ("a", "example.com", "widgets"));
    assert_eq!(details.causes[0].message, message);
    let slow = widget_with("a", json!({ "name": "x", "mode": "Slow" }));
    let created = create(&widgets, &slow).await;
    let patch = Patch::Merge(json!({ "spec": { "mode": "Fast" } }));
    let (code, _, _) = rejection(widgets.patch("a", &PatchParams::default(), &patch).await);
    assert_eq!(code, 422);
    assert_eq!(widgets.get("a").await.unwrap(), created);
}

#[tokio::test]
async fn reasons_determine_the_status_code() {
    for (reason, expected) in [("Forbidden", 403), ("Unauthorized", 401), ("RequestEntityTooLarge", 413)] {
        let rule = json!({ "expression": "false", "reason": reason });
        let (_, widgets) = server_with(json!({ "validations": [rule] }), json!({})).await;
        let (code, found, message) = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
        assert_eq!((code, found.as_str()), (expected, reason));
        assert!(message.ends_with("denied request: failed expression: false"), "{message}");
    }
}

#[tokio::test]
async fn expressions_read_the_request_the_user_and_the_namespace() {
    let server = ApiServer::builder().rbac(true).build();
    let client = server.client();
    create_definition(&client, widget_definition()).await;
    let variables = json!([
        { "name": "isNew", "expression": "oldObject == null" },
        { "name": "ns", "expression": "namespaceObject.metadata.name" },
    ]);
    let rules = json!([
        { "expression": "request.userInfo.username != 'admin' || request.operation == 'DELETE'",
          "messageExpression": "request.userInfo.username + ' ' + request.operation + ' ' + request.resource.resource + \
                                ' in ' + variables.ns + (variables.isNew ? ' (new)' : '')" },
    ]);
    add_policy(&client, "policy", json!({ "variables": variables, "validations": rules })).await.unwrap();
    bind(&client, "policy", json!({})).await;
    let (_, _, message) = rejection(widgets(&client).create(&PostParams::default(), &widget("a")).await);
    assert!(message.ends_with("denied request: admin CREATE widgets in default (new)"), "{message}");
}

#[tokio::test]
async fn the_authorizer_checks_permissions_by_role() {
    let server = ApiServer::builder().rbac(true).build();
    let client = server.client();
    create_definition(&client, widget_definition()).await;
    let rules = json!([
        { "expression": "authorizer.requestResource.check('approve').allowed()", "message": "user" },
        { "expression": "authorizer.serviceAccount('default', 'operator').group('').resource('pods').check('list')\
                         .allowed()", "message": "service account" },
    ]);
    add_policy(&client, "policy", json!({ "validations": rules })).await.unwrap();
    bind(&client, "policy", json!({})).await;
    let (_, _, message) = rejection(widgets(&client).create(&PostParams::default(), &widget("a")).await);
    assert!(message.ends_with("denied request: service account"), "{message}");
}

#[tokio::test]
async fn deletions_have_only_the_old_object() {
    let rule = json!({ "expression": "object == null && oldObject.spec.mode != 'Fast'", "message": "keep it" });
    let policy = json!({ "matchConstraints": constraints(&["DELETE"]), "validations": [rule] });
    let (_, widgets) = server_with(policy, json!({})).await;
    create(&widgets, &fast("a")).await;
    create(&widgets, &widget_with("b", json!({ "name": "x", "mode": "Slow" }))).await;
    let (code, _, message) = rejection(widgets.delete("a", &DeleteParams::default()).await);
    assert!(code == 422 && message.ends_with("denied request: keep it"), "{message}");
    let dry_run = DeleteParams { dry_run: true, ..DeleteParams::default() };
    assert_eq!(rejection(widgets.delete("a", &dry_run).await).0, 422);
    widgets.delete("b", &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn warnings_are_returned_with_the_response() {
    let rule = json!({ "expression": "false", "message": "careful" });
    let binding = json!({ "validationActions": ["Warn", "Audit"] });
    let (client, _) = server_with(json!({ "validations": [rule] }), binding).await;
    let body = serde_json::to_vec(&widget("a")).unwrap();
    let request = http::Request::post("/apis/example.com/v1/namespaces/default/widgets")
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(kube::client::Body::from(body))
        .unwrap();
    let response = client.send(request).await.unwrap();
    assert_eq!(response.status(), 201);
    let warning = response.headers().get("warning").unwrap().to_str().unwrap();
    let expected = "299 - \"Validation failed for ValidatingAdmissionPolicy 'policy' with binding 'binding': careful\"";
    assert_eq!(warning, expected);
}

#[tokio::test]
async fn failures_deny_the_request_unless_they_are_ignored() {
    let rule = json!({ "expression": "object.spec.nest.b > 0" });
    for (failure_policy, is_denied) in [("Fail", true), ("Ignore", false)] {
        let policy = json!({ "failurePolicy": failure_policy, "validations": [rule] });
        let (_, widgets) = server_with(policy, json!({})).await;
        let outcome = widgets.create(&PostParams::default(), &widget("a")).await;
        assert_eq!(outcome.is_err(), is_denied, "{failure_policy}");
        if is_denied {
            let (_, _, message) = rejection(outcome);
            let expected = "denied request: expression 'object.spec.nest.b > 0' resulted in error: no such key: nest";
            assert!(message.ends_with(expected), "{message}");
        }
    }
}

#[tokio::test]
async fn policies_apply_to_what_they_match() {
    let rule = json!({ "expression": "false" });
    let labels = json!({ "matchLabels": { "a": "b" } });
    let names = |names: Value| {
        let mut constraints = constraints(&["*"]);
        constraints["resourceRules"][0]["resourceNames"] = names;
        constraints
    };
    let mut excluded = constraints(&["*"]);
    excluded["excludeResourceRules"] = excluded["resourceRules"].clone();
    let mut cluster = constraints(&["*"]);
    cluster["resourceRules"][0]["scope"] = json!("Cluster");
    for (policy, binding, is_denied) in [
        (json!({}), json!({}), true),
        (json!({ "matchConstraints": constraints(&["UPDATE"]) }), json!({}), false),
        (
            json!({ "matchConstraints": with(constraints(&["*"]), json!({ "objectSelector": labels })) }),
            json!({}),
            false,
        ),
        (json!({}), json!({ "matchResources": { "objectSelector": labels } }), false),
        (json!({}), json!({ "matchResources": { "namespaceSelector": labels } }), false),
        (json!({ "matchConstraints": names(json!(["a"])) }), json!({}), true),
        (json!({ "matchConstraints": names(json!(["b"])) }), json!({}), false),
        (json!({ "matchConstraints": excluded }), json!({}), false),
        (json!({ "matchConstraints": cluster }), json!({}), false),
        (json!({ "matchConditions": [{ "name": "c", "expression": "request.name == 'b'" }] }), json!({}), false),
    ] {
        let description = format!("{policy} {binding}");
        let (_, widgets) = server_with(with(json!({ "validations": [rule] }), policy), binding).await;
        let outcome = widgets.create(&PostParams::default(), &widget("a")).await;
        assert_eq!(outcome.is_err(), is_denied, "{description}");
    }
}

#[tokio::test]
async fn a_policy_without_a_binding_has_no_effect() {
    let client = client().await;
    add_policy(&client, "policy", json!({ "validations": [{ "expression": "false" }] })).await.unwrap();
    create(&widgets(&client), &widget("a")).await;
}

#[tokio::test]
async fn parameters_are_selected_by_the_binding() {
    let policy = json!({
        "paramKind": { "apiVersion": "v1", "kind": "ConfigMap" },
        "validations": [{ "expression": "object.spec.timeInterval <= int(params.data.max)" }],
    });
    let reference = json!({ "name": "limits", "parameterNotFoundAction": "Deny" });
    let (client, widgets) = server_with(policy, json!({ "paramRef": reference })).await;
    let (_, _, message) = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
    let expected = "denied request: failed to configure binding: no params found for policy binding with `Deny` \
                    parameterNotFoundAction";
    assert!(message.ends_with(expected), "{message}");
    let config_maps: Api<DynamicObject> =
        Api::default_namespaced_with(client, &ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap")));
    let limits = json!({ "metadata": { "name": "limits" }, "data": { "max": "7" } });
    create(&config_maps, &object(limits)).await;
    create(&widgets, &widget_with("a", json!({ "name": "x", "timeInterval": 7 }))).await;
    let slower = widget_with("b", json!({ "name": "x", "timeInterval": 8 }));
    assert_eq!(rejection(widgets.create(&PostParams::default(), &slower).await).0, 422);
}

#[tokio::test]
async fn invalid_policies_are_rejected() {
    let client = client().await;
    let rule = json!({ "expression": "object.spec.", "reason": "Gone" });
    let (code, _, message) = rejection(add_policy(&client, "policy", json!({ "validations": [rule] })).await);
    assert_eq!(code, 422);
    let start = "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"policy\" is invalid: \
                 [spec.validations[0].expression: Invalid value: \"object.spec.\": compilation failed: ERROR: ";
    assert!(message.starts_with(start), "{message}");
    let end = "spec.validations[0].reason: Unsupported value: \"Gone\": supported values: \"Forbidden\", \"Invalid\", \
               \"RequestEntityTooLarge\", \"Unauthorized\"]";
    assert!(message.ends_with(end), "{message}");
}

/// Creates a server with a bound mutating policy.
async fn server_with_mutations(spec: Value) -> Api<DynamicObject> {
    let client = client().await;
    let defaults = json!({
        "matchConstraints": constraints(&["CREATE", "UPDATE"]),
        "reinvocationPolicy": "Never",
    });
    let (kind, plural) = ("MutatingAdmissionPolicy", "mutatingadmissionpolicies");
    add(&client, kind, plural, "policy", with(defaults, spec)).await.unwrap();
    let (kind, plural) = ("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings");
    add(&client, kind, plural, "binding", json!({ "policyName": "policy" })).await.unwrap();
    widgets(&client)
}

fn json_patch(expression: &str) -> Value {
    json!({ "patchType": "JSONPatch", "jsonPatch": { "expression": expression } })
}

fn apply(expression: &str) -> Value {
    json!({ "patchType": "ApplyConfiguration", "applyConfiguration": { "expression": expression } })
}

#[tokio::test]
async fn mutations_change_the_object_in_order() {
    let mutations = json!([
        json_patch("[JSONPatch{op: 'add', path: '/spec/mode', value: 'Slow'}]"),
        apply(
            "Object{metadata: Object.metadata{labels: {'mode': object.spec.mode}}, spec: Object.spec{nest: \
             Object.spec.nest{a: request.name, b: object.spec.timeInterval + 1}}}"
        ),
    ]);
    let widgets = server_with_mutations(json!({ "mutations": mutations })).await;
    let created = create(&widgets, &widget("a")).await;
    assert_eq!(created.data["spec"]["mode"], "Slow");
    assert_eq!(created.data["spec"]["nest"], json!({ "a": "a", "b": 6 }));
    assert_eq!(created.metadata.labels.unwrap()["mode"], "Slow");
    let fields = serde_json::to_string(&created.metadata.managed_fields).unwrap();
    assert!(!fields.contains("f:nest"), "the client does not own the mutated fields: {fields}");
}

#[tokio::test]
async fn a_patch_with_a_failed_test_changes_nothing() {
    let patch = "[JSONPatch{op: 'test', path: '/spec/name', value: 'y'}, JSONPatch{op: 'add', path: '/spec/mode', value: \
                 'Slow'}]";
    let widgets = server_with_mutations(json!({ "mutations": [json_patch(patch)] })).await;
    assert_eq!(create(&widgets, &widget("a")).await.data["spec"].get("mode"), None);
}

#[tokio::test]
async fn mutations_that_fail_deny_the_request_unless_they_are_ignored() {
    for (mutation, detail) in [
        (json_patch("[JSONPatch{op: 'add', path: '/spec/mode', value: object.spec.missing}]"), "no such key: missing"),
        (
            apply("Object{spec: Object.spec{tags: ['a']}}"),
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tags",
        ),
        (
            apply("Object{spec: Object.status{}}"),
            "type mismatch: unexpected type name \"Object.status\", expected \"Object.spec\", which matches field name \
             path from root Object type",
        ),
    ] {
        let widgets = server_with_mutations(json!({ "mutations": [mutation] })).await;
        let (_, reason, message) = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
        assert_eq!(reason, "Invalid");
        assert!(message.starts_with("policy 'policy' with binding 'binding' denied request: "), "{message}");
        assert!(message.ends_with(detail), "{message}");
        let ignored = json!({ "failurePolicy": "Ignore", "mutations": [mutation] });
        create(&server_with_mutations(ignored).await, &widget("a")).await;
    }
}

#[tokio::test]
async fn mutated_objects_are_validated() {
    let mutation = json_patch("[JSONPatch{op: 'replace', path: '/spec/timeInterval', value: 1000}]");
    let widgets = server_with_mutations(json!({ "mutations": [mutation] })).await;
    let (code, _, message) = rejection(widgets.create(&PostParams::default(), &widget("a")).await);
    assert!(code == 422 && message.contains("spec.timeInterval"), "{message}");
}
