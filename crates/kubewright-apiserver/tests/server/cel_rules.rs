//! CEL validation rules. The answers are those of the real server to the same requests.

use kube::{
    Api,
    api::{DynamicObject, PostParams},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

/// Returns Widgets with rules on the object, on `spec` and on a field, and with a transition rule.
async fn ruled() -> Api<DynamicObject> {
    let client = ApiServer::new().client();
    let mut definition = widget_definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({
        "type": "object",
        "x-kubernetes-validations": [{"rule": "self.metadata.name != 'bad'"}],
        "properties": {"spec": {
            "type": "object",
            "required": ["a"],
            "properties": {
                "a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}, {"rule": "self >= oldSelf"}]},
                "b": {"type": "integer"},
            },
            "x-kubernetes-validations": [{"rule": "self.a > 2", "messageExpression": "'a is %d'.format([self.a])"}],
        }},
    });
    definitions(&client).create(&PostParams::default(), &object(definition)).await.unwrap();
    widgets(&client)
}

fn ruled_widget(name: &str, spec: Value) -> DynamicObject {
    let mut widget = widget(name);
    widget.data = json!({"spec": spec});
    widget
}

#[tokio::test]
async fn a_new_object_that_violates_rules_is_rejected() {
    let api = ruled().await;
    let (code, reason, message) =
        rejection(api.create(&PostParams::default(), &ruled_widget("bad", json!({"a": 1}))).await);
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
    let expected = "Widget.example.com \"bad\" is invalid: [<nil>: Invalid value: failed rule: self.metadata.name != 'bad', spec: \
                    Invalid value: a is 1, spec.a: Invalid value: 1: failed rule: self > 1]";
    assert_eq!(message, expected);
    create(&api, &ruled_widget("good", json!({"a": 3}))).await;
}

#[tokio::test]
async fn rules_are_not_evaluated_on_objects_that_are_otherwise_invalid() {
    let api = ruled().await;
    let (_, _, message) = rejection(api.create(&PostParams::default(), &ruled_widget("bad", json!({}))).await);
    let expected = "Widget.example.com \"bad\" is invalid: [spec.a: Required value, <nil>: Invalid value: null: some validation \
                    rules were not checked because the object was invalid; correct the existing errors to complete validation]";
    assert_eq!(message, expected);
}

#[tokio::test]
async fn transition_rules_compare_with_the_replaced_object() {
    let api = ruled().await;
    let mut stored = create(&api, &ruled_widget("good", json!({"a": 5}))).await;
    stored.data["spec"]["a"] = json!(4);
    let (_, _, message) = rejection(api.replace("good", &PostParams::default(), &stored).await);
    let expected = "Widget.example.com \"good\" is invalid: spec.a: Invalid value: 4: failed rule: self >= oldSelf";
    assert_eq!(message, expected);
    stored.data["spec"]["a"] = json!(6);
    api.replace("good", &PostParams::default(), &stored).await.unwrap();
}
