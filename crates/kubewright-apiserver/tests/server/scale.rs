//! The `/scale` subresource beyond the topic `scales` of the conformance suite.

use kube::api::{Patch, PatchParams};
use kubewright_apiserver::ApiServer;
use serde_json::json;

use crate::support::*;

/// The real server prints the managed fields of the Scale as well, so only the start and the end of its messages are
/// equal.
#[tokio::test]
async fn a_patched_scale_must_decode() {
    let client = ApiServer::new().client();
    let mut definition = widget_definition();
    let version = &mut definition["spec"]["versions"][0];
    version["subresources"]["scale"] =
        json!({ "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas" });
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["replicas"] = json!({ "type": "integer" });
    create_definition(&client, definition).await;
    let api = widgets(&client);
    create(&api, &widget_with("a", json!({ "name": "x", "replicas": 2 }))).await;
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
        let (code, reason, message) =
            rejection(api.patch_scale("a", &PatchParams::default(), &Patch::Merge(patch)).await);
        assert_eq!((code, reason.as_str()), (422, "Invalid"));
        let start = r#" "" is invalid: patch: Invalid value: "{\"apiVersion\":\"autoscaling/v1\",\"kind\":"#;
        assert!(message.starts_with(start) && message.ends_with(&format!("}}\": {detail}")), "{message}");
    }
}
