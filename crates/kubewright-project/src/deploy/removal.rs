//! Webhooks that an installation applied before, and that its objects do not have any more.
//!
//! The program that writes the CA bundle of a webhook can own it. An apply without the webhook would then leave the
//! bundle alone, which the API server rejects, so that the complete webhook is removed first.

use serde_json::{Value, json};

use super::manifest::name;

/// The removal of webhooks from one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Removal {
    pub(super) kind: String,
    pub(super) name: String,
    /// A merge patch.
    pub(super) patch: Value,
}

impl Removal {
    /// Compares an object of the cluster, with its managed fields, with the one to apply. `None` if it has no webhook
    /// that one of these managers applied and the new object lacks.
    pub(super) fn new(live: &Value, new: &Value, managers: &[String]) -> Option<Self> {
        let patch = removed_conversion(live, new, managers).or_else(|| removed_webhooks(live, new, managers))?;
        Some(Removal { kind: new["kind"].as_str()?.to_owned(), name: name(new).to_owned(), patch })
    }

    /// Whether webhooks of this object are removed.
    pub(super) fn is_of(&self, object: &Value) -> bool {
        object["kind"] == *self.kind && name(object) == self.name
    }
}

fn removed_conversion(live: &Value, new: &Value, managers: &[String]) -> Option<Value> {
    let is_webhook =
        |object: &Value| object.pointer("/spec/conversion/strategy").is_some_and(|strategy| strategy == "Webhook");
    let is_own = owns(live, managers, "/f:spec/f:conversion/f:strategy");
    (is_webhook(live) && !is_webhook(new) && is_own)
        .then(|| json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}}))
}

fn removed_webhooks(live: &Value, new: &Value, managers: &[String]) -> Option<Value> {
    let webhooks = live["webhooks"].as_array()?;
    let kept: Vec<_> = webhooks.iter().filter(|webhook| !is_removed(live, new, managers, &webhook["name"])).collect();
    let version = &live["metadata"]["resourceVersion"];
    (kept.len() < webhooks.len()).then(|| json!({"metadata": {"resourceVersion": version}, "webhooks": kept}))
}

fn is_removed(live: &Value, new: &Value, managers: &[String], webhook: &Value) -> bool {
    let mut others = new["webhooks"].as_array().into_iter().flatten();
    let key = json!({ "name": webhook }).to_string();
    let pointer = format!("/f:webhooks/k:{}", key.replace('~', "~0").replace('/', "~1"));
    !others.any(|other| other["name"] == *webhook) && owns(live, managers, &pointer)
}

/// Whether one of the managers owns a field of the object.
fn owns(live: &Value, managers: &[String], pointer: &str) -> bool {
    let mut entries = live["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries.any(|entry| {
        managers.iter().any(|manager| entry["manager"] == **manager) && entry["fieldsV1"].pointer(pointer).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removal(live: &Value, new: &Value) -> Option<Value> {
        Removal::new(live, new, &["my-deploy".to_owned()]).map(|removal| removal.patch)
    }

    #[test]
    fn webhooks_of_the_manager_that_are_absent_are_removed_completely() {
        let bundle = json!({"f:clientConfig": {"f:caBundle": {}}});
        let live = json!({
            "metadata": {"name": "my", "resourceVersion": "5", "managedFields": [
                {"manager": "my-deploy", "fieldsV1": {"f:webhooks": {"k:{\"name\":\"a\"}": {}, "k:{\"name\":\"b/c\"}": {}}}},
                {"manager": "injector", "fieldsV1": {"f:webhooks": {"k:{\"name\":\"b/c\"}": bundle}}},
                {"manager": "other", "fieldsV1": {"f:webhooks": {"k:{\"name\":\"d\"}": {}}}},
            ]},
            "webhooks": [{"name": "a", "x": 1}, {"name": "b/c"}, {"name": "d"}],
        });
        let new = |names: &[&str]| {
            let webhooks: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
            json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "my"}, "webhooks": webhooks})
        };
        let expected =
            json!({"metadata": {"resourceVersion": "5"}, "webhooks": [{"name": "a", "x": 1}, {"name": "d"}]});
        assert_eq!(removal(&live, &new(&["a"])), Some(expected));
        assert_eq!(removal(&live, &new(&["a", "b/c"])), None);
    }

    #[test]
    fn a_conversion_of_the_manager_that_is_absent_is_removed() {
        let definition = |manager: &str, strategy: &str| {
            let fields = json!([{"manager": manager, "fieldsV1": {"f:spec": {"f:conversion": {"f:strategy": {}}}}}]);
            json!({
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "widgets.example.org", "managedFields": fields},
                "spec": {"conversion": {"strategy": strategy}},
            })
        };
        let live = definition("my-deploy", "Webhook");
        let expected = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
        assert_eq!(removal(&live, &definition("", "None")), Some(expected));
        assert_eq!(removal(&live, &live), None);
        assert_eq!(removal(&definition("other", "Webhook"), &definition("", "None")), None);
    }
}
