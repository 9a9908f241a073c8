//! Built-in kinds beyond the scenarios. The messages are those of the real server.

use serde_json::{Value, json};

use crate::support::*;

/// Creates an object and returns the code and the message of the answer.
async fn created(path: &str, body: Value) -> (u16, String) {
    let client = client().await;
    let (code, answer) = raw(&client, "POST", path, "application/json", &body.to_string()).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    (code, answer["message"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn names_are_validated_by_the_rule_of_their_kind() {
    let named = |name: &str| json!({ "metadata": { "name": name }, "spec": { "clusterIP": "None" } });
    let (services, roles) = ("/api/v1/namespaces/default/services", "/apis/rbac.authorization.k8s.io/v1/clusterroles");
    let (code, message) = created(services, named("a.b")).await;
    let expected = "Service \"a.b\" is invalid: metadata.name: Invalid value: \"a.b\": must not contain dots";
    assert_eq!((code, message.as_str()), (422, expected));
    assert_eq!(created(roles, named("system:A_")).await.0, 201);
    let (code, message) = created(roles, named("a%b")).await;
    assert!(code == 422 && message.ends_with("may not contain '%'"), "{code} {message}");
}

#[tokio::test]
async fn times_and_quantities_are_decoded_as_by_go() {
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = |storage: Value| json!({ "spec": { "resources": { "requests": { "storage": storage } } } });
    let (code, message) = created(claims, claim(json!("much"))).await;
    assert!(code == 400 && message.contains("quantities must match the regular expression"), "{code} {message}");
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let (code, message) = created(leases, json!({ "spec": { "renewTime": "x" } })).await;
    let expected = "Lease in version \"v1\" cannot be handled as a Lease: parsing time \"x\" as \
                    \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"x\" as \"2006\"";
    assert_eq!((code, message.as_str()), (400, expected));
}

#[tokio::test]
async fn stateful_sets_allow_updates_of_some_fields_only() {
    let client = client().await;
    let path = "/apis/apps/v1/namespaces/default/statefulsets";
    let set = json!({
        "metadata": { "name": "a" },
        "spec": {
            "selector": { "matchLabels": { "a": "b" } },
            "template": { "metadata": { "labels": { "a": "b" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } },
        },
    });
    assert_eq!(raw(&client, "POST", path, "application/json", &set.to_string()).await.0, 201);
    let patch = async |patch: Value| {
        raw(&client, "PATCH", &format!("{path}/a"), "application/merge-patch+json", &patch.to_string()).await
    };
    assert_eq!(patch(json!({ "spec": { "replicas": 2 } })).await.0, 200);
    let (code, message) = patch(json!({ "spec": { "serviceName": "other" } })).await;
    let expected = "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                    'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' \
                    are forbidden";
    assert!(code == 422 && message.contains(expected), "{code} {message}");
}
