//! Schemas: pruning, defaulting, and the messages of validation errors.

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::support::*;

const PREFIX: &str = "Widget.example.com \"a\" is invalid: ";

async fn rejection_of(spec: Value) -> (u16, String, String) {
    let client = client().await;
    rejection(widgets(&client).create(&PostParams::default(), &widget_with("a", spec)).await)
}

#[tokio::test]
async fn unknown_fields_are_pruned_and_absent_ones_defaulted() {
    let client = client().await;
    let spec = json!({ "name": "x", "unknown": 1, "opt": null, "on": null, "free": { "x": 1 }, "nest": { "a": "", "b": 2.0, "c": 3 } });
    let made = create(&widgets(&client), &widget_with("a", spec)).await;
    let pruned =
        json!({ "name": "x", "opt": null, "free": { "x": 1 }, "nest": { "a": "", "b": 2 }, "timeInterval": 5 });
    assert_eq!(made.data, json!({ "spec": pruned }));
}

#[tokio::test]
async fn strict_field_validation_reports_unknown_fields() {
    let client = client().await;
    let path = "/apis/example.com/v1/namespaces/default/widgets?fieldValidation=Strict";
    let body = serde_json::to_string(&widget_with("a", json!({ "name": "x", "u": 1 }))).unwrap();
    let (code, body) = raw(&client, "POST", path, "application/json", &body).await;
    let message =
        r#"Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \"spec.u\""#;
    assert_eq!((code, body.contains(message)), (400, true), "{body}");
}

#[tokio::test]
async fn each_schema_violation_has_the_real_servers_message() {
    let cases = [
        (
            json!({ "name": "x", "timeInterval": 0 }),
            "spec.timeInterval: Invalid value: 0: spec.timeInterval in body should be greater than or equal to 1",
        ),
        (
            json!({ "name": "x", "timeInterval": 1000 }),
            "spec.timeInterval: Invalid value: 1000: spec.timeInterval in body should be less than or equal to 100",
        ),
        (
            json!({ "name": "x", "ratio": 0 }),
            "spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0",
        ),
        (
            json!({ "name": "x", "mode": "Foo" }),
            "spec.mode: Unsupported value: \"Foo\": supported values: \"Fast\", \"Slow\"",
        ),
        (
            json!({ "name": "x", "tone": null }),
            "spec.tone: Unsupported value: null: supported values: \"Soft\", \"null\"",
        ),
        (json!({}), "spec.name: Required value"),
        (json!({ "name": null }), "spec.name: Required value"),
        (json!({ "name": "" }), "spec.name: Invalid value: \"\": spec.name in body should be at least 1 chars long"),
        (json!({ "name": "xxxxxxxxx" }), "spec.name: Too long: may not be more than 8 bytes"),
        (
            json!({ "name": "x", "tags": [] }),
            "spec.tags: Invalid value: 0: spec.tags in body should have at least 1 items",
        ),
        (json!({ "name": "x", "tags": ["a", "b", "c"] }), "spec.tags: Too many: 3: must have at most 2 items"),
        (
            json!({ "name": "x", "tags": ["a", 2] }),
            "spec.tags[1]: Invalid value: \"integer\": spec.tags[1] in body must be of type string: \"integer\"",
        ),
        (
            json!({ "name": "x", "timeInterval": "string" }),
            "spec.timeInterval: Invalid value: \"string\": spec.timeInterval in body must be of type integer: \"string\"",
        ),
        (
            json!({ "name": "x", "port": true }),
            "spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer,string: \"boolean\"",
        ),
        (
            json!({ "name": "x", "labels": { "a": 1 } }),
            "spec.labels.a: Invalid value: \"integer\": spec.labels.a in body must be of type string: \"integer\"",
        ),
        (json!([1]), "spec: Invalid value: \"array\": spec in body must be of type object: \"array\""),
    ];
    for (spec, message) in cases {
        assert_eq!(rejection_of(spec).await, (422, "Invalid".into(), format!("{PREFIX}{message}")));
    }
}

#[tokio::test]
async fn several_schema_violations_are_reported_together() {
    let (_, _, message) = rejection_of(json!({ "name": "x", "mode": 1, "nest": {} })).await;
    let expected = "[spec.mode: Invalid value: \"integer\": spec.mode in body must be of type string: \"integer\", \
        spec.mode: Unsupported value: 1: supported values: \"Fast\", \"Slow\", \
        spec.nest.a: Required value, spec.nest.b: Required value]";
    assert_eq!(message, format!("{PREFIX}{expected}"));
}

#[tokio::test]
async fn causes_have_reason_message_and_field() {
    let client = client().await;
    let body =
        serde_json::to_value(widget_with("a", json!({ "timeInterval": "s", "mode": "Foo", "tags": [] }))).unwrap();
    let (_, status) = post(&client, body).await;
    let causes = status["details"]["causes"].as_array().unwrap();
    let found: Vec<(&str, &str)> =
        causes.iter().map(|cause| (cause["field"].as_str().unwrap(), cause["reason"].as_str().unwrap())).collect();
    let expected = [
        ("spec.name", "FieldValueRequired"),
        ("spec.mode", "FieldValueNotSupported"),
        ("spec.tags", "FieldValueInvalid"),
        ("spec.timeInterval", "FieldValueTypeInvalid"),
    ];
    assert_eq!(found, expected);
    assert_eq!(causes[0]["message"], "Required value");
    assert_eq!(status["details"]["kind"], "Widget");
}

#[tokio::test]
async fn a_status_write_is_validated() {
    let client = client().await;
    let api = widgets(&client);
    create(&api, &widget("a")).await;
    let patch = Patch::Merge(json!({ "status": { "state": "Foo" } }));
    let rejected = rejection(api.patch_status("a", &PatchParams::default(), &patch).await);
    let message = format!("{PREFIX}status.state: Unsupported value: \"Foo\": supported values: \"A\", \"B\"");
    assert_eq!(rejected, (422, "Invalid".into(), message));
}
