//! The webhooks of an operator that runs outside of the cluster: the API server calls them at a URL.

use kubewright_core::description::WebhookNames;
use serde_json::{Value, json};

use super::manifest::Manifest;

/// Returns the prefix of the names of webhook configurations with a URL. Those of an operator in the cluster remain.
#[must_use]
pub fn local_prefix(operator: &str) -> String {
    format!("{operator}-local")
}

impl Manifest {
    /// Returns the objects with the URL of a server, without a path, in place of the Service of the webhooks. `None` if
    /// there are no webhooks.
    #[must_use]
    pub fn at_url(&self, operator: &str, url: &str) -> Option<Self> {
        let service = WebhookNames::new(operator).service();
        let names = WebhookNames::new(local_prefix(operator));
        let mut manifest = self.clone();
        let mut has_webhooks = false;
        for object in manifest.objects_mut() {
            let mut is_replaced = false;
            for config in client_configs(object).into_iter().filter(|config| config["service"]["name"] == service) {
                replace(config, url);
                is_replaced = true;
            }
            if !is_replaced {
                continue;
            }
            has_webhooks = true;
            if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
                annotations.remove(WebhookNames::CA_FROM);
            }
            match object["kind"].as_str() {
                Some(MUTATING) => object["metadata"]["name"] = json!(names.mutating()),
                Some(VALIDATING) => object["metadata"]["name"] = json!(names.validating()),
                _ => {}
            }
        }
        has_webhooks.then_some(manifest)
    }

    /// Returns the webhook configurations, and the definitions with a conversion webhook.
    pub(super) fn called(&self) -> Vec<&Value> {
        let conversion = "/spec/conversion/webhook/clientConfig";
        let is_called = |object: &&Value| is_configuration(object) || object.pointer(conversion).is_some();
        self.objects().into_iter().filter(is_called).collect()
    }

    /// Returns the webhook configurations.
    pub(super) fn webhook_configurations(&self) -> Vec<&Value> {
        self.objects().into_iter().filter(|object| is_configuration(object)).collect()
    }
}

const MUTATING: &str = "MutatingWebhookConfiguration";
const VALIDATING: &str = "ValidatingWebhookConfiguration";

fn is_configuration(object: &Value) -> bool {
    object["kind"] == MUTATING || object["kind"] == VALIDATING
}

/// Returns where the webhooks of an object are.
fn client_configs(object: &mut Value) -> Vec<&mut Value> {
    if is_configuration(object) {
        let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten();
        webhooks.filter_map(|webhook| webhook.get_mut("clientConfig")).collect()
    } else {
        object.pointer_mut("/spec/conversion/webhook/clientConfig").into_iter().collect()
    }
}

/// Returns the CA bundle of the first webhook of an object: those of one object are written together.
pub(super) fn ca_bundle(mut object: Value) -> Option<String> {
    let config = client_configs(&mut object).into_iter().next()?;
    config["caBundle"].as_str().filter(|bundle| !bundle.is_empty()).map(str::to_owned)
}

fn replace(config: &mut Value, url: &str) {
    let path = config["service"]["path"].as_str().unwrap_or("/").to_owned();
    *config = json!({"url": format!("{}{path}", url.trim_end_matches('/'))});
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
kind: CustomResourceDefinition
metadata:
  name: widgets.example.org
spec:
  conversion:
    strategy: Webhook
    webhook:
      clientConfig:
        service: {name: my-webhook-service, namespace: my-system, path: /convert}
---
kind: ValidatingWebhookConfiguration
metadata:
  name: my-validating-webhook-configuration
  annotations: {cert-manager.io/inject-ca-from: my-system/my-serving-cert}
webhooks:
- name: a.example.org
  clientConfig:
    service: {name: my-webhook-service, namespace: my-system, path: /validate}
- name: b.example.org
  clientConfig:
    service: {name: other, namespace: other, path: /b}
";

    #[test]
    fn the_service_of_the_operator_is_replaced_by_a_url() {
        let manifest = Manifest::parse(MANIFEST).unwrap();
        let local = manifest.at_url("my", "https://127.0.0.1:9443/").unwrap();
        let [definition, configuration] = local.objects()[..] else { panic!("{local:?}") };
        let conversion = &definition["spec"]["conversion"]["webhook"]["clientConfig"];
        assert_eq!(*conversion, json!({"url": "https://127.0.0.1:9443/convert"}));
        assert_eq!(definition["metadata"]["name"], "widgets.example.org");
        assert_eq!(configuration["metadata"]["name"], "my-local-validating-webhook-configuration");
        assert_eq!(configuration["metadata"]["annotations"], json!({}));
        let configs: Vec<_> =
            configuration["webhooks"].as_array().unwrap().iter().map(|webhook| &webhook["clientConfig"]).collect();
        assert_eq!(*configs[0], json!({"url": "https://127.0.0.1:9443/validate"}));
        assert_eq!(configs[1]["service"]["name"], "other");
        assert!(manifest.at_url("other-operator", "https://127.0.0.1:9443").is_none());
    }
}
