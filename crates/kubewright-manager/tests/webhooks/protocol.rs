//! Requests that are not reviews, and the metrics of requests.

use bytes::Bytes;
use http::{Method, Request};
use kubewright_core::description::ConversionWebhookDescription;
use kubewright_manager::serving::{ClientCertificate, Router};
use kubewright_runtime::metrics::Metrics;
use serde_json::{Value, json};

use crate::fixture::*;

/// Sends a body, and returns the code and the message of the `Status`.
async fn rejected(content_type: &str, body: impl Into<Bytes>) -> (u16, String) {
    let response = send(&webhooks().router().unwrap(), VALIDATE, content_type, body).await;
    let status: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!((&status["kind"], &status["status"]), (&json!("Status"), &json!("Failure")));
    assert_eq!(status["code"], response.status().as_u16());
    (response.status().as_u16(), status["message"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_body_that_is_not_a_review_gets_a_status() {
    let (code, message) = rejected("text/plain", "{}").await;
    assert_eq!((code, message.as_str()), (415, "the content type is `text/plain`: expected `application/json`"));
    let json = "application/json";
    assert_eq!(rejected(json, "").await, (400, "the body is empty: expected a review".to_owned()));
    for body in ["not JSON", "[]", "{\"apiVersion\":", "\u{0}"] {
        let (code, message) = rejected(json, body).await;
        assert_eq!(code, 400, "{body}");
        assert!(message.starts_with("the body is not a review: "), "{message}");
    }
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(rejected(json, nested).await.0, 400);
}

#[tokio::test]
async fn a_review_of_another_version_names_the_supported_one() {
    let mut beta = review("CREATE", &config_map("info"), &Value::Null);
    beta["apiVersion"] = json!("admission.k8s.io/v1beta1");
    let (code, message) = rejected("application/json", beta.to_string()).await;
    assert_eq!(code, 400);
    let expected = "the review has the type `admission.k8s.io/v1beta1, Kind=AdmissionReview`: expected \
                    `admission.k8s.io/v1, Kind=AdmissionReview`; set the review versions of the configuration to `v1`";
    assert_eq!(message, expected);
}

#[tokio::test]
async fn a_review_needs_a_request_with_a_uid() {
    let json = "application/json";
    let mut review = review("CREATE", &config_map("info"), &Value::Null);
    review["request"]["uid"] = json!("");
    assert_eq!(rejected(json, review.to_string()).await.1, "the request of the review has no uid");
    review["request"] = Value::Null;
    assert_eq!(rejected(json, review.to_string()).await.1, "the review has no request");
}

#[tokio::test]
async fn an_object_that_is_nested_too_deeply_is_denied() {
    let request = review("CREATE", &json!("nested"), &Value::Null).to_string();
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let response = send(
        &webhooks().router().unwrap(),
        VALIDATE,
        "application/json",
        request.replace("\"nested\"", &format!("{{\"metadata\":{nested}}}")),
    )
    .await;
    assert_eq!(response.status(), 200);
    let answer: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!((&answer["response"]["allowed"], &answer["response"]["uid"]), (&json!(false), &json!("705ab4f5")));
}

#[tokio::test]
async fn other_paths_and_methods_are_not_served() {
    let router = webhooks().router().unwrap();
    assert_eq!(send(&router, "/validate", "application/json", "{}").await.status(), 404);
    let get = Request::builder().method(Method::GET).uri(VALIDATE).body(Bytes::new()).unwrap();
    assert_eq!(router.respond(get).await.status(), 405);
}

fn with_metrics() -> (Router, Metrics) {
    let metrics = Metrics::default();
    let conversion = ConversionWebhookDescription::new("example.com", "Widget", "widgets");
    let webhooks = webhooks().conversion(conversion, |_, _| Ok::<_, String>(())).metrics(metrics.clone());
    (webhooks.router().unwrap(), metrics)
}

#[tokio::test]
async fn requests_are_counted_by_path_and_code() {
    let (router, metrics) = with_metrics();
    let sample = |line: &str| assert!(metrics.text().lines().any(|found| found == line), "{line}\n{}", metrics.text());
    sample("controller_runtime_webhook_requests_total{webhook=\"/mutate--v1-configmap\",code=\"200\"} 0");
    sample("controller_runtime_webhook_requests_in_flight{webhook=\"/validate--v1-configmap\"} 0.0");
    sample("conversion_webhook_objects_total{group=\"example.com\",kind=\"Widget\",result=\"error\"} 0");
    respond(&router, MUTATE, &review("CREATE", &config_map("panic"), &Value::Null)).await;
    send(&router, VALIDATE, "text/plain", "").await;
    sample("controller_runtime_webhook_requests_total{webhook=\"/mutate--v1-configmap\",code=\"200\"} 1");
    sample("controller_runtime_webhook_requests_total{webhook=\"/validate--v1-configmap\",code=\"415\"} 1");
    sample("controller_runtime_webhook_latency_seconds_count{webhook=\"/mutate--v1-configmap\"} 1");
    sample("controller_runtime_webhook_panics_total{} 1");
    sample("controller_runtime_webhook_requests_in_flight{webhook=\"/mutate--v1-configmap\"} 0.0");
}

#[tokio::test]
async fn a_review_of_a_client_without_a_certificate_is_rejected_if_one_is_required() {
    let description = ConversionWebhookDescription::new("example.com", "Widget", "widgets");
    let path = description.path.clone();
    let webhooks = webhooks().conversion(description, |_, _| Ok::<_, String>(())).require_client_certificate();
    let (router, body) = (webhooks.router().unwrap(), review("CREATE", &config_map("info"), &Value::Null).to_string());
    for webhook in [MUTATE, VALIDATE] {
        let response = send(&router, webhook, "application/json", body.clone()).await;
        let status: Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!((response.status().as_u16(), &status["reason"]), (401, &json!("Unauthorized")));
        let mut request = Request::post(webhook).header("content-type", "application/json").body(body.clone().into());
        request.as_mut().unwrap().extensions_mut().insert(ClientCertificate);
        assert_eq!(router.respond(request.unwrap()).await.status(), 200);
    }
    let conversion = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "request": {"uid": "1", "desiredAPIVersion": "example.com/v1", "objects": []}});
    assert_eq!(send(&router, &path, "application/json", conversion.to_string()).await.status(), 200);
}
