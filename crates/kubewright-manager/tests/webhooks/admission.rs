//! Decisions of defaulters and validators, by raw reviews.

use k8s_openapi::api::core::v1::Pod;
use kubewright_manager::{
    Webhooks,
    webhooks::{AdmissionRequest, Denied, Validator},
};
use serde_json::{Value, json};

use crate::fixture::*;

async fn reviewed(path: &str, operation: &str, object: &Value, old: &Value) -> Value {
    respond(&webhooks().router().unwrap(), path, &review(operation, object, old)).await
}

#[tokio::test]
async fn a_patch_contains_only_what_the_defaulter_changed() {
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "future": { "a": 1 } }, "unknown": [1],
    });
    let response = reviewed(MUTATE, "CREATE", &map, &Value::Null).await;
    let expected = json!([{ "op": "add", "path": "/data", "value": { "level": "info" } }]);
    assert_eq!(patch(&response), expected);
    assert_eq!(response["warnings"], json!(["the level is not set"]));
}

#[tokio::test]
async fn an_object_that_is_not_changed_has_no_patch() {
    for (operation, object, old) in [
        ("CREATE", config_map("debug"), Value::Null),
        ("UPDATE", config_map("debug"), config_map("info")),
        ("DELETE", Value::Null, config_map("panic")),
        ("CONNECT", Value::Null, Value::Null),
    ] {
        let response = reviewed(MUTATE, operation, &object, &old).await;
        assert_eq!(response, json!({ "uid": "705ab4f5", "allowed": true }), "{operation}");
    }
}

#[tokio::test]
async fn a_defaulter_can_deny() {
    let response = reviewed(MUTATE, "CREATE", &config_map("forbidden"), &Value::Null).await;
    assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(403)));
    assert_eq!(response["status"]["message"], "the level is forbidden");
    assert_eq!(response.get("patch"), None);
}

#[tokio::test]
async fn invalid_fields_are_causes_of_the_status() {
    let response = reviewed(VALIDATE, "CREATE", &config_map("loud"), &Value::Null).await;
    let status = &response["status"];
    assert_eq!((&response["allowed"], &status["code"]), (&json!(false), &json!(422)));
    assert_eq!((&status["status"], &status["reason"]), (&json!("Failure"), &json!("Invalid")));
    let error = "Unsupported value: \"loud\": supported values: \"debug\", \"info\", \"pinned\"";
    assert_eq!(status["message"], format!("ConfigMap \"a\" is invalid: data.level: {error}"));
    let cause = json!({ "field": "data.level", "message": error, "reason": "FieldValueNotSupported" });
    assert_eq!(status["details"], json!({ "kind": "ConfigMap", "name": "a", "causes": [cause] }));
    assert_eq!(response["warnings"], json!(["see the documentation"]));
    assert_eq!(response["auditAnnotations"], json!({ "level": "loud" }));
}

#[tokio::test]
async fn each_operation_has_its_method() {
    let (debug, info, pinned) = (config_map("debug"), config_map("info"), config_map("pinned"));
    for (operation, object, old, allowed) in [
        ("CREATE", &debug, &Value::Null, true),
        ("UPDATE", &debug, &debug, true),
        ("UPDATE", &debug, &info, false),
        ("DELETE", &Value::Null, &debug, true),
        ("DELETE", &Value::Null, &pinned, false),
        ("CONNECT", &Value::Null, &Value::Null, true),
    ] {
        let response = reviewed(VALIDATE, operation, object, old).await;
        assert_eq!(response["allowed"], allowed, "{operation} {object} {old}");
    }
}

#[tokio::test]
async fn a_dry_run_and_the_user_are_known() {
    let mut request = review("UPDATE", &config_map("info"), &config_map("info"));
    request["request"]["dryRun"] = json!(true);
    let response = respond(&webhooks().router().unwrap(), VALIDATE, &request).await;
    assert_eq!(response["warnings"], json!(["dry run by jane"]));
}

#[tokio::test]
async fn objects_that_cannot_be_decoded_are_denied() {
    let mut invalid = config_map("info");
    invalid["data"] = json!(3);
    for path in [MUTATE, VALIDATE] {
        let response = reviewed(path, "CREATE", &invalid, &Value::Null).await;
        assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(400)));
        let message = response["status"]["message"].as_str().unwrap();
        assert!(message.starts_with("cannot decode `object`: invalid type: integer `3`"), "{message}");
        let missing = reviewed(path, "CREATE", &Value::Null, &Value::Null).await;
        assert_eq!(missing["status"]["message"], "the request has no `object`");
    }
    let missing = reviewed(VALIDATE, "DELETE", &Value::Null, &Value::Null).await;
    assert_eq!(missing["status"]["message"], "the request has no `oldObject`");
}

#[tokio::test]
async fn another_kind_is_denied() {
    let mut request = review("CREATE", &config_map("info"), &Value::Null);
    request["request"]["kind"]["kind"] = json!("Secret");
    let response = respond(&webhooks().router().unwrap(), VALIDATE, &request).await;
    assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(400)));
    let expected = "the webhook is for `v1, Kind=ConfigMap`: found `v1, Kind=Secret`";
    assert_eq!(response["status"]["message"], expected);
}

#[tokio::test]
async fn a_panic_denies_one_request() {
    let router = webhooks().router().unwrap();
    let panicked = review("CREATE", &config_map("panic"), &Value::Null);
    let response = respond(&router, MUTATE, &panicked).await;
    assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(500)));
    assert_eq!(response["status"]["message"], "the webhook panicked; its log contains the message");
    let next = review("CREATE", &config_map("info"), &Value::Null);
    assert_eq!(respond(&router, MUTATE, &next).await["allowed"], true);
}

/// Requires a node, which a client would look up.
struct OnNode;

impl Validator<Pod> for OnNode {
    async fn validate_create(&self, _: &Pod, _: &AdmissionRequest) -> Result<(), Denied> {
        let status =
            json!({ "status": "Failure", "code": 404, "reason": "NotFound", "message": "nodes \"n\" not found" });
        Err(kube::Error::Api(Box::new(serde_json::from_value(status).unwrap())).into())
    }
}

#[tokio::test]
async fn the_status_of_a_failed_request_is_passed_on() {
    let router = Webhooks::new().validator::<Pod>(OnNode).router().unwrap();
    let mut request = review("CREATE", &json!({ "metadata": { "name": "a" } }), &Value::Null);
    request["request"]["kind"]["kind"] = json!("Pod");
    let response = respond(&router, "/validate--v1-pod", &request).await;
    assert_eq!((&response["status"]["code"], &response["status"]["reason"]), (&json!(404), &json!("NotFound")));
    assert_eq!(response["status"]["message"], "nodes \"n\" not found");
}
