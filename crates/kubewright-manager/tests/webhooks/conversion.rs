//! Conversion reviews: all objects or none, in order, and errors that name an object.

use kubewright_core::{Converter, description::ConversionWebhookDescription};
use kubewright_manager::{Webhooks, serving::Router};
use kubewright_runtime::metrics::Metrics;
use serde_json::{Value, json};

use crate::fixture::{respond, send};

const PATH: &str = "/convert/widgets.example.com";

/// A kind with a converter.
mod gadget {
    use kubewright_core::{
        Convert, CrdSchema, DeepCopy, Object, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };
    use serde::{Deserialize, Serialize};

    pub(super) mod v2 {
        use super::*;

        #[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object)]
        #[genclient]
        #[convert(hub)]
        pub(crate) struct Gadget {
            pub metadata: ObjectMeta,
            pub spec: GadgetSpec,
        }

        #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
        #[convert(hub)]
        pub(crate) struct GadgetSpec {
            pub length: i32,
        }

        kubewright_core::group_version! { group = "example.com", version = "v2", kinds = [Gadget] }
    }

    pub(super) mod v1 {
        use super::*;

        #[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object)]
        #[genclient]
        #[convert(hub = v2::Gadget)]
        pub(crate) struct Gadget {
            pub metadata: ObjectMeta,
            pub spec: GadgetSpec,
        }

        #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
        #[convert(hub = v2::GadgetSpec)]
        pub(crate) struct GadgetSpec {
            #[convert(from = "length")]
            pub size: i32,
        }

        kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Gadget] }
    }
}

/// Renames `spec.speed` of v1 to `spec.pace` of v2. Speeds that are not numbers select an error.
fn convert(object: &mut Value, target: &str) -> Result<(), String> {
    let spec = object.get_mut("spec").and_then(Value::as_object_mut);
    let speed = spec.and_then(|spec| spec.remove("speed"));
    match speed.as_ref().and_then(Value::as_str) {
        Some("fail") => return Err("unknown speed".to_owned()),
        Some("panic") => panic!("the speed"),
        Some("rename") => object["metadata"]["name"] = json!("other"),
        Some("kind") => object["kind"] = json!("Other"),
        Some("metadata") => object["metadata"] = Value::Null,
        Some("forget") => return Ok(()),
        _ => {}
    }
    if let Some(speed) = speed {
        object["spec"]["pace"] = speed;
    }
    object["apiVersion"] = json!(target);
    Ok(())
}

fn router() -> Router {
    let description = ConversionWebhookDescription::new("example.com", "Widget", "widgets");
    Webhooks::new().conversion(description, convert).router().unwrap()
}

fn widget(name: &str, speed: &Value) -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": { "name": name, "namespace": "default", "uid": "1" },
        "spec": { "speed": speed },
    })
}

fn review(objects: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": { "uid": "705ab4f5", "desiredAPIVersion": "example.com/v2", "objects": objects },
    })
}

async fn converted(objects: &Value) -> Value {
    respond(&router(), PATH, &review(objects)).await
}

/// Returns the message of a conversion that fails.
async fn failure(objects: &Value) -> String {
    let response = converted(objects).await;
    assert_eq!((&response["result"]["status"], &response["convertedObjects"]), (&json!("Failure"), &json!([])));
    response["result"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn objects_are_converted_in_their_order() {
    let response = converted(&json!([widget("a", &json!(1)), widget("b", &json!(2))])).await;
    assert_eq!(response["result"], json!({ "status": "Success" }));
    let objects = response["convertedObjects"].as_array().unwrap();
    let found: Vec<_> = objects.iter().map(|object| (&object["metadata"]["name"], &object["spec"])).collect();
    let (first, second) = (json!({ "pace": 1 }), json!({ "pace": 2 }));
    assert_eq!(found, [(&json!("a"), &first), (&json!("b"), &second)]);
    assert!(objects.iter().all(|object| object["apiVersion"] == "example.com/v2"));
}

#[tokio::test]
async fn a_converter_converts_complete_and_partial_objects() {
    let converter = Converter::hub::<gadget::v2::Gadget>().spoke::<gadget::v1::Gadget>().build();
    let router = Webhooks::new().converter(converter).router().unwrap();
    let gadget = |version: &str, metadata: Value, spec: Value| {
        let api_version = format!("example.com/{version}");
        json!({ "apiVersion": api_version, "kind": "Gadget", "metadata": metadata, "spec": spec })
    };
    let metadata = || json!({ "name": "a", "uid": "1", "managedFields": [{ "manager": "m" }], "labels": { "a": "b" } });
    let objects = json!([
        gadget("v1", metadata(), json!({ "size": 1 })),
        gadget("v1", json!({}), json!({ "size": 2 })),
        gadget("v2", metadata(), json!({ "length": 3 })),
    ]);
    let response = respond(&router, "/convert/gadgets.example.com", &review(&objects)).await;
    let expected = json!([
        gadget("v2", metadata(), json!({ "length": 1 })),
        gadget("v2", json!({}), json!({ "length": 2 })),
        gadget("v2", metadata(), json!({ "length": 3 })),
    ]);
    assert_eq!(response["convertedObjects"], expected);

    let objects = json!([gadget("v3", metadata(), json!({}))]);
    let response = respond(&router, "/convert/gadgets.example.com", &review(&objects)).await;
    let expected = "cannot convert Gadget `a` from `example.com/v3` to `example.com/v2`: unknown version \
                    `example.com/v3` of Gadget; expected one of example.com/v2, example.com/v1";
    assert_eq!(response["result"]["message"], expected);
}

#[tokio::test]
async fn partial_objects_are_converted() {
    let object = json!({ "apiVersion": "example.com/v1", "kind": "Widget" });
    let response = converted(&json!([object])).await;
    // The server requires metadata.
    let expected = json!([{ "apiVersion": "example.com/v2", "kind": "Widget", "metadata": {} }]);
    assert_eq!(response["convertedObjects"], expected);
    assert_eq!(converted(&json!([])).await["result"]["status"], "Success");
}

#[tokio::test]
async fn an_object_of_the_desired_version_remains() {
    let mut object = widget("a", &json!("panic"));
    object["apiVersion"] = json!("example.com/v2");
    assert_eq!(converted(&json!([object])).await["convertedObjects"], json!([object]));
}

#[tokio::test]
async fn a_failure_names_its_object() {
    let object = "cannot convert Widget `default/b` from `example.com/v1` to `example.com/v2`: ";
    for (speed, expected) in [
        ("fail", "unknown speed"),
        ("panic", "the conversion panicked: the speed"),
        ("rename", "the conversion changed `metadata.name`"),
        ("kind", "the conversion changed the kind"),
        ("metadata", "the conversion removed the metadata"),
        ("forget", "the conversion did not set the apiVersion `example.com/v2`"),
    ] {
        let message = failure(&json!([widget("a", &json!(1)), widget("b", &json!(speed))])).await;
        assert_eq!(message, format!("{object}{expected}"));
    }
    let several = failure(&json!([widget("b", &json!("fail")), widget("c", &json!("fail"))])).await;
    assert_eq!(several, format!("{object}unknown speed; 2 objects failed"));
}

#[tokio::test]
async fn other_kinds_and_groups_are_not_converted() {
    let mut other = widget("a", &json!(1));
    other["kind"] = json!("Gadget");
    let message = failure(&json!([other])).await;
    assert_eq!(message, "the webhook converts Widget of `example.com`: found `example.com/v1, Kind=Gadget`");
    assert_eq!(failure(&json!([{ "kind": "Widget" }])).await, "an object has no `apiVersion`");
    let mut request = review(&json!([]));
    request["request"]["desiredAPIVersion"] = json!("other.example.com/v1");
    let response = respond(&router(), PATH, &request).await;
    let expected = "the webhook converts Widget of `example.com`: found the desired version `other.example.com/v1`";
    assert_eq!(response["result"]["message"], expected);
}

#[tokio::test]
async fn an_object_that_cannot_be_decoded_fails_alone() {
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let body = review(&json!(["nested"])).to_string().replace("\"nested\"", &nested);
    let response = send(&router(), PATH, "application/json", body).await;
    assert_eq!(response.status(), 200);
    let answer: Value = serde_json::from_slice(response.body()).unwrap();
    let message = answer["response"]["result"]["message"].as_str().unwrap();
    assert!(message.starts_with("cannot decode an object: recursion limit exceeded"), "{message}");
}

#[tokio::test]
async fn a_review_of_another_version_gets_a_status() {
    let mut beta = review(&json!([]));
    beta["apiVersion"] = json!("apiextensions.k8s.io/v1beta1");
    assert_eq!(send(&router(), PATH, "application/json", beta.to_string()).await.status(), 400);
}

#[tokio::test]
async fn conversions_are_counted_by_kind_and_result() {
    let metrics = Metrics::default();
    let description = ConversionWebhookDescription::new("example.com", "Widget", "widgets");
    let webhooks = Webhooks::new().conversion(description, convert).metrics(metrics.clone());
    let objects = json!([widget("a", &json!(1)), widget("b", &json!("fail")), widget("c", &json!("panic"))]);
    respond(&webhooks.router().unwrap(), PATH, &review(&objects)).await;
    let text = metrics.text();
    for line in [
        "conversion_webhook_objects_total{group=\"example.com\",kind=\"Widget\",result=\"success\"} 1",
        "conversion_webhook_objects_total{group=\"example.com\",kind=\"Widget\",result=\"error\"} 2",
        "conversion_webhook_object_duration_seconds_count{group=\"example.com\",kind=\"Widget\"} 3",
        "controller_runtime_conversion_webhook_panics_total{} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
