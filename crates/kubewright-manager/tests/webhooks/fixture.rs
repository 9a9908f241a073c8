//! Webhooks of config maps, and raw reviews for them.

use bytes::Bytes;
use http::{Request, Response, header::CONTENT_TYPE};
use k8s_openapi::{ByteString, api::core::v1::ConfigMap};
use kubewright_core::validation::FieldError;
use kubewright_manager::{
    Webhook, Webhooks,
    serving::Router,
    webhooks::{AdmissionRequest, Denied, Operation, Validator},
};
use serde_json::{Value, json};

pub(crate) const MUTATE: &str = "/mutate--v1-configmap";
pub(crate) const VALIDATE: &str = "/validate--v1-configmap";

/// Sets the level of a config map, and panics for the level `panic`.
pub(crate) fn set_level(map: &mut ConfigMap, request: &AdmissionRequest) -> Result<(), Denied> {
    let data = map.data.get_or_insert_default();
    match data.get("level").map(String::as_str) {
        Some("panic") => panic!("the level"),
        Some("forbidden") => return Err(Denied::forbidden("the level is forbidden")),
        Some(_) => {}
        None => request.warn("the level is not set"),
    }
    data.entry("level".to_owned()).or_insert_with(|| "info".to_owned());
    Ok(())
}

/// Validates config maps: a known level that does not change, and no deletion of those with the level `pinned`.
pub(crate) struct Levels;

fn level(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|data| data.get("level")).map(String::as_str).unwrap_or_default()
}

impl Validator<ConfigMap> for Levels {
    async fn validate_create(&self, map: &ConfigMap, request: &AdmissionRequest) -> Result<(), Denied> {
        request.annotate_audit("level", level(map));
        let levels = ["debug", "info", "pinned"];
        if levels.contains(&level(map)) {
            return Ok(());
        }
        request.warn("see the documentation");
        Err(Denied::invalid([FieldError::not_supported("data.level", level(map), &levels)]))
    }

    async fn validate_update(
        &self,
        map: &ConfigMap,
        old: &ConfigMap,
        request: &AdmissionRequest,
    ) -> Result<(), Denied> {
        if request.dry_run {
            request.warn(format!("dry run by {}", request.user_info.username.as_deref().unwrap_or_default()));
        }
        if level(map) == level(old) { Ok(()) } else { Err(Denied::forbidden("the level must not be changed")) }
    }

    async fn validate_delete(&self, map: &ConfigMap, _: &AdmissionRequest) -> Result<(), Denied> {
        if level(map) == "pinned" { Err(Denied::forbidden("the config map is pinned")) } else { Ok(()) }
    }
}

/// Returns the webhooks of config maps.
pub(crate) fn webhooks() -> Webhooks {
    let operations = [Operation::Create, Operation::Update, Operation::Delete];
    Webhooks::new()
        .defaulter::<ConfigMap>(set_level)
        .webhook(Webhook::validating::<ConfigMap>(Levels).operations(operations))
}

/// Returns a config map with a level, as JSON.
pub(crate) fn config_map(level: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "level": level } })
}

/// Returns a review of a config map.
pub(crate) fn review(operation: &str, object: &Value, old: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5",
            "kind": { "group": "", "version": "v1", "kind": "ConfigMap" },
            "resource": { "group": "", "version": "v1", "resource": "configmaps" },
            "requestKind": { "group": "", "version": "v1", "kind": "ConfigMap" },
            "requestResource": { "group": "", "version": "v1", "resource": "configmaps" },
            "name": "a",
            "namespace": "default",
            "operation": operation,
            "userInfo": { "username": "jane", "groups": ["system:authenticated"] },
            "object": object,
            "oldObject": old,
            "dryRun": false,
            "options": null,
        },
    })
}

/// Sends a body, and returns the response.
pub(crate) async fn send(router: &Router, path: &str, content_type: &str, body: impl Into<Bytes>) -> Response<Bytes> {
    let request = Request::post(path).header(CONTENT_TYPE, content_type).body(body.into()).unwrap();
    router.respond(request).await
}

/// Sends a review, and returns the response in its review.
pub(crate) async fn respond(router: &Router, path: &str, review: &Value) -> Value {
    let response = send(router, path, "application/json", review.to_string()).await;
    assert_eq!(response.status(), 200, "{response:?}");
    let mut answer: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!((&answer["apiVersion"], &answer["kind"]), (&review["apiVersion"], &review["kind"]));
    assert_eq!(answer["response"]["uid"], review["request"]["uid"]);
    answer["response"].take()
}

/// Returns the operations of the patch in a response.
pub(crate) fn patch(response: &Value) -> Value {
    assert_eq!((&response["allowed"], &response["patchType"]), (&json!(true), &json!("JSONPatch")));
    let patch: ByteString = serde_json::from_value(response["patch"].clone()).unwrap();
    serde_json::from_slice(&patch.0).unwrap()
}
