//! A definition as JSON, without loss of fields that this program does not know.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_core::description::WebhookNames;
use serde_json::{Value, json};

use super::CrdError;

/// A CustomResourceDefinition with a name.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    name: String,
    object: Value,
}

/// Returns the client of definitions.
pub(super) fn definitions(client: Client) -> Api<DynamicObject> {
    Api::all_with(client, &ApiResource::erase::<CustomResourceDefinition>(&()))
}

impl Definition {
    pub(super) fn new(object: Value) -> Result<Self, CrdError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let name = text(&object["metadata"]["name"]);
        match api_version == "apiextensions.k8s.io/v1" && kind == "CustomResourceDefinition" && !name.is_empty() {
            true => Ok(Definition { name, object }),
            false => Err(CrdError::NotADefinition { api_version, kind }),
        }
    }

    /// Reads a definition of the cluster; `None` if it does not exist.
    pub(super) async fn read(client: &Client, name: &str) -> Result<Option<Self>, CrdError> {
        let found = definitions(client.clone()).get_opt(name).await;
        match found.map_err(CrdError::request("read the definition", name))? {
            Some(object) => {
                let object = serde_json::to_value(object);
                let object = object.map_err(|source| CrdError::Decode { name: name.to_owned(), source })?;
                Ok(Some(Definition { name: name.to_owned(), object }))
            }
            None => Ok(None),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn object(&self) -> &Value {
        &self.object
    }

    /// Lets the webhook of a Service convert the objects, unless the definition contains the location of one.
    pub(super) fn set_conversion(&mut self, service: &Value, ca_from: Option<&str>) {
        let is_located = self.has_webhook();
        if let Some(spec) = self.object["spec"].as_object_mut().filter(|_| !is_located) {
            let conversion = json!({
                "strategy": "Webhook",
                "webhook": {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]},
            });
            spec.insert("conversion".to_owned(), conversion);
        }
        // There is a name, so that this is an object.
        if let (Some(certificate), Some(metadata)) = (ca_from, self.object["metadata"].as_object_mut()) {
            let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
            if let Some(annotations) = annotations.as_object_mut() {
                annotations.insert(WebhookNames::CA_FROM.to_owned(), json!(certificate));
            }
        }
    }

    /// Whether this version has a status subresource.
    pub(super) fn has_status(&self, version: &str) -> bool {
        let versions = self.object["spec"]["versions"].as_array();
        let version = versions.into_iter().flatten().find(|declared| declared["name"] == version);
        version.is_some_and(|version| version["subresources"]["status"].is_object())
    }

    pub(super) fn uid(&self) -> &str {
        self.object["metadata"]["uid"].as_str().unwrap_or_default()
    }

    pub(super) fn annotation(&self, name: &str) -> Option<&str> {
        self.object["metadata"]["annotations"][name].as_str()
    }

    pub(super) fn group(&self) -> &str {
        self.object["spec"]["group"].as_str().unwrap_or_default()
    }

    /// Returns the name of the resource.
    pub(super) fn plural(&self) -> &str {
        self.object["spec"]["names"]["plural"].as_str().unwrap_or_default()
    }

    pub(super) fn is_namespaced(&self) -> bool {
        self.object["spec"]["scope"] == "Namespaced"
    }

    pub(super) fn generation(&self) -> Option<i64> {
        self.object["metadata"]["generation"].as_i64()
    }

    pub(super) fn resource_version(&self) -> &Value {
        &self.object["metadata"]["resourceVersion"]
    }

    /// Returns the version in which objects are written.
    pub(super) fn storage_version(&self) -> Result<&str, CrdError> {
        let storage = self.versions().find(|version| version["storage"] == true);
        storage.and_then(|version| version["name"].as_str()).ok_or_else(|| self.without("storage version"))
    }

    /// Returns the versions in which objects can be stored.
    pub(super) fn stored_versions(&self) -> impl Iterator<Item = &str> {
        self.object["status"]["storedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns the versions other than the storage version in which objects can be stored.
    pub(super) fn old_versions(&self) -> Result<Vec<String>, CrdError> {
        let storage = self.storage_version()?;
        Ok(self.stored_versions().filter(|version| *version != storage).map(str::to_owned).collect())
    }

    pub(super) fn served_versions(&self) -> impl Iterator<Item = &str> {
        let served = self.versions().filter(|version| version["served"] == true);
        served.filter_map(|version| version["name"].as_str())
    }

    pub(super) fn serves(&self, name: &str) -> bool {
        self.served_versions().any(|version| version == name)
    }

    /// Whether a webhook converts objects between the versions. Otherwise, only their `apiVersion` changes.
    pub(super) fn has_webhook(&self) -> bool {
        self.object["spec"]["conversion"]["strategy"] == "Webhook"
    }

    /// Whether it has a version of this name, which can be one that is not served.
    pub(super) fn has_version(&self, name: &str) -> bool {
        self.versions().any(|version| version["name"] == name)
    }

    /// Returns the definition after a migration of its objects.
    pub(super) fn migrated(&self) -> Result<Value, CrdError> {
        let storage = self.storage_version()?;
        let mut object = self.object.clone();
        object["status"]["storedVersions"] = json!([storage]);
        Ok(object)
    }

    /// Returns a resource through which all objects can be written: in the storage version if it is served.
    pub(super) fn resource(&self) -> Result<ApiResource, CrdError> {
        let storage = self.storage_version().ok().filter(|storage| self.serves(storage));
        let version = storage.or_else(|| self.served_versions().next());
        let version = version.ok_or_else(|| self.without("served version"))?;
        let kind = self.object["spec"]["names"]["kind"].as_str().unwrap_or_default();
        let kind = GroupVersionKind::gvk(self.group(), version, kind);
        Ok(ApiResource::from_gvk_with_plural(&kind, self.plural()))
    }

    /// Returns the status and the message of a condition.
    pub(super) fn condition(&self, kind: &str) -> Option<(&str, &str)> {
        let mut conditions = self.object["status"]["conditions"].as_array().into_iter().flatten();
        let condition = conditions.find(|condition| condition["type"] == kind)?;
        Some((condition["status"].as_str()?, condition["message"].as_str().unwrap_or_default()))
    }

    fn versions(&self) -> impl Iterator<Item = &Value> {
        self.object["spec"]["versions"].as_array().into_iter().flatten()
    }

    fn without(&self, missing: &'static str) -> CrdError {
        CrdError::Incomplete { name: self.name.clone(), missing }
    }
}
