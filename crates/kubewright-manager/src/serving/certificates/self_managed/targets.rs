//! The objects with a CA bundle: webhook configurations and definitions.
//!
//! A bundle has no owner among the managed fields: its webhook would remain, without its other fields and therefore
//! invalid, when the installer of the operator applies an object without it.

use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta},
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    core::{ApiResource, DynamicObject},
};
use kubewright_core::description::{Permission, PermissionScope, Verb};
use kubewright_runtime::Error;
use serde_json::{Value, json};

use super::{
    config::{Location, SelfManagedConfig},
    error::SelfManagedError,
};

/// The start of the annotations with which cert-manager injects CA bundles.
const INJECT: &str = "cert-manager.io/inject-";

/// Reads and writes the CA bundles of the objects of an operator.
pub(super) struct Targets {
    client: Client,
    location: Location,
    field_manager: String,
    objects: Vec<(ApiResource, String)>,
}

/// An object, and those of its webhooks that are in this operator.
pub(super) struct Target {
    resource: ApiResource,
    name: String,
    version: Option<String>,
    pub(super) entries: Vec<Entry>,
    /// The managed fields of all others, if this process owns a field.
    others: Option<Vec<ManagedFieldsEntry>>,
}

/// The CA bundle of a webhook.
pub(super) struct Entry {
    /// The name of an admission webhook; `None` for the conversion webhook of a definition.
    webhook: Option<String>,
    pub(super) bundle: Option<String>,
}

impl Targets {
    pub(super) fn new(client: Client, config: &SelfManagedConfig) -> Self {
        let (location, field_manager) = (config.location.clone(), config.field_manager());
        Targets { client, location, field_manager, objects: objects(config) }
    }

    /// Returns the permissions to read and write the bundles.
    pub(super) fn permissions(config: &SelfManagedConfig) -> impl Iterator<Item = Permission> {
        objects(config).into_iter().map(|(resource, name)| {
            let verbs = [Verb::Get, Verb::Patch];
            Permission::new(PermissionScope::CaBundles, &resource.group, &resource.plural, verbs).named(&name)
        })
    }

    /// Reads the objects that exist and have webhooks in this operator.
    ///
    /// # Errors
    /// Fails if a request fails, or if cert-manager manages a bundle.
    pub(super) async fn read(&self) -> Result<Vec<Target>, SelfManagedError> {
        let mut targets = Vec::new();
        for (resource, name) in &self.objects {
            let found = self.api(resource).get_opt(name).await.map_err(error("get", resource, name))?;
            let Some(object) = found else { continue };
            let entries = entries(&self.location, &object.data);
            if entries.is_empty() {
                continue;
            }
            let mut annotations = object.metadata.annotations.iter().flatten();
            if let Some((annotation, _)) = annotations.find(|(annotation, _)| annotation.starts_with(INJECT)) {
                let (object, annotation) = (format!("{}/{name}", resource.plural), annotation.clone());
                return Err(SelfManagedError::ForeignAuthority { object, annotation });
            }
            let others = others(&object.metadata, &self.field_manager);
            let version = object.metadata.resource_version;
            targets.push(Target { resource: resource.clone(), name: name.clone(), version, entries, others });
        }
        Ok(targets)
    }

    /// Writes a bundle, and nothing else. Returns false if the object has changed since it was read.
    ///
    /// # Errors
    /// Fails if the request fails.
    pub(super) async fn publish(&self, target: &Target, bundle: &str) -> Result<bool, SelfManagedError> {
        let params = PatchParams::apply(&self.field_manager).force();
        self.patch(target, &params, &Patch::Apply(target.patch(bundle))).await
    }

    /// Gives up the ownership of the bundles that [`publish`](Self::publish) wrote, if this process has it.
    ///
    /// # Errors
    /// Fails if the request fails.
    pub(super) async fn release(&self, target: &Target) -> Result<(), SelfManagedError> {
        let Some(others) = &target.others else { return Ok(()) };
        let metadata = json!({"resourceVersion": target.version, "managedFields": others});
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        self.patch(target, &PatchParams::default(), &patch).await.map(drop)
    }

    /// Patches an object. Returns false if it has changed since it was read.
    async fn patch(
        &self,
        target: &Target,
        params: &PatchParams,
        patch: &Patch<Value>,
    ) -> Result<bool, SelfManagedError> {
        match self.api(&target.resource).patch(&target.name, params, patch).await {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => Ok(false),
            Err(source) => Err(error("patch", &target.resource, &target.name)(source).into()),
        }
    }

    fn api(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), resource)
    }
}

/// Returns the managed fields of all others if a manager owns a field. None are not replaced: the API server would
/// record all fields again.
fn others(metadata: &ObjectMeta, manager: &str) -> Option<Vec<ManagedFieldsEntry>> {
    let all = metadata.managed_fields.as_deref().unwrap_or_default();
    let is_own = |entry: &&ManagedFieldsEntry| entry.manager.as_deref() == Some(manager);
    let others: Vec<_> = all.iter().filter(|entry| !is_own(entry)).cloned().collect();
    (others.len() < all.len() && !others.is_empty()).then_some(others)
}

/// Returns the bundles of the webhooks that are at this location.
fn entries(location: &Location, object: &Value) -> Vec<Entry> {
    let webhooks = object["webhooks"].as_array().into_iter().flatten();
    let webhooks = webhooks.map(|webhook| (webhook["name"].as_str(), &webhook["clientConfig"]));
    let conversion = (None, &object["spec"]["conversion"]["webhook"]["clientConfig"]);
    let served = webhooks.chain([conversion]).filter(|(_, config)| is_at(location, config));
    served
        .map(|(name, config)| Entry { webhook: name.map(str::to_owned), bundle: decode(&config["caBundle"]) })
        .collect()
}

fn is_at(location: &Location, config: &Value) -> bool {
    match location {
        Location::Service { namespace, name } => {
            let service = &config["service"];
            service["namespace"] == *namespace && service["name"] == *name
        }
        Location::Url(url) => {
            let path = config["url"].as_str().and_then(|other| other.strip_prefix(url));
            path.is_some_and(|path| path.is_empty() || path.starts_with('/'))
        }
    }
}

impl Target {
    /// Returns an apply configuration with the bundles only. It does not create the object.
    fn patch(&self, bundle: &str) -> Value {
        let client_config = || json!({"caBundle": ByteString(bundle.as_bytes().to_vec())});
        let mut patch = json!({
            "apiVersion": self.resource.api_version,
            "kind": self.resource.kind,
            "metadata": {"name": self.name, "resourceVersion": self.version},
        });
        let names: Vec<_> = self.entries.iter().filter_map(|entry| entry.webhook.as_ref()).collect();
        if names.is_empty() {
            patch["spec"] = json!({"conversion": {"webhook": {"clientConfig": client_config()}}});
        } else {
            let webhook = |name: &&String| json!({"name": name, "clientConfig": client_config()});
            patch["webhooks"] = names.iter().map(webhook).collect();
        }
        patch
    }
}

fn objects(config: &SelfManagedConfig) -> Vec<(ApiResource, String)> {
    let targets = &config.targets;
    let mutating = ApiResource::erase::<MutatingWebhookConfiguration>(&());
    let validating = ApiResource::erase::<ValidatingWebhookConfiguration>(&());
    let definition = ApiResource::erase::<CustomResourceDefinition>(&());
    let configurations = [
        targets.mutating.clone().map(|name| (mutating, name)),
        targets.validating.clone().map(|name| (validating, name)),
    ];
    let definitions = targets.definitions.iter().map(|name| (definition.clone(), name.clone()));
    configurations.into_iter().flatten().chain(definitions).collect()
}

/// Decodes a bundle. One that is not base64 is as good as none.
fn decode(bundle: &Value) -> Option<String> {
    let bytes: ByteString = serde_json::from_value(bundle.clone()).ok()?;
    let text = String::from_utf8_lossy(&bytes.0).into_owned();
    (!text.trim().is_empty()).then_some(text)
}

fn error(verb: &'static str, resource: &ApiResource, name: &str) -> impl FnOnce(kube::Error) -> Error + use<> {
    let (resource, name) = (format!("{}.{}", resource.plural, resource.group), name.to_owned());
    move |source| Error::new(verb, resource, &name, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Location {
        Location::Service { namespace: "widgets".to_owned(), name: "my-webhook-service".to_owned() }
    }

    fn found(location: &Location, object: &Value) -> Vec<(Option<String>, Option<String>)> {
        entries(location, object).into_iter().map(|entry| (entry.webhook, entry.bundle)).collect()
    }

    #[test]
    fn only_webhooks_of_this_operator_are_changed() {
        let config = |namespace: &str, name: &str| json!({"service": {"namespace": namespace, "name": name}});
        let mut served = config("widgets", "my-webhook-service");
        served["caBundle"] = json!("Q0E=");
        let object = json!({"webhooks": [
            {"name": "a.example.org", "clientConfig": served},
            {"name": "b.example.org", "clientConfig": config("other", "my-webhook-service")},
            {"name": "c.example.org", "clientConfig": config("widgets", "other-webhook-service")},
            {"name": "d.example.org", "clientConfig": {"url": "https://127.0.0.1:9443/d"}},
        ]});
        assert_eq!(found(&service(), &object), [(Some("a.example.org".to_owned()), Some("CA".to_owned()))]);
        let url = |url: &str| found(&Location::Url(url.to_owned()), &object);
        assert_eq!(url("https://127.0.0.1:9443"), [(Some("d.example.org".to_owned()), None)]);
        assert_eq!(url("https://127.0.0.1:944"), []);
    }

    #[test]
    fn the_conversion_of_a_definition_has_one_bundle() {
        let config = json!({"service": {"namespace": "widgets", "name": "my-webhook-service"}, "caBundle": "?"});
        let object = json!({"spec": {"conversion": {"webhook": {"clientConfig": config}}}});
        assert_eq!(found(&service(), &object), [(None, None)]);
        let resource = ApiResource::erase::<CustomResourceDefinition>(&());
        let entries = vec![Entry { webhook: None, bundle: None }];
        let target = Target { resource, name: "a".to_owned(), version: Some("1".to_owned()), entries, others: None };
        let expected = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "a", "resourceVersion": "1"},
            "spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": "Q0E="}}}},
        });
        assert_eq!(target.patch("CA"), expected);
    }
}
