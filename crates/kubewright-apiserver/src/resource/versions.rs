//! The versions of a custom kind: objects are stored in one version and can be read in any.
//!
//! Guarantees:
//! - Objects are stored in the storage version, without the fields that its schema does not have.
//! - A read prunes and defaults the object by the schema of the version in which it was written, and then prunes it by
//!   the schema of the requested version without setting defaults.
//! - A definition with the strategy `Webhook` converts before the second pruning: by a function, or by its webhook.
//! - Reads do not change the stored object.
//! - Objects whose version no longer exists are rejected.
//!
//! The storage of the real server has the same rules (`pkg/apiserver/customresource_handler.go` of
//! apiextensions-apiserver 1.36).

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, WebhookClientConfig,
};
use kubewright_crd::{
    validator::Validator,
    value::{self, DefaultsTooLarge},
};
use serde_json::{Map, Value, json};

use crate::{
    api::{
        error::{ApiError, Result},
        go,
        kind::group_version,
        object::{self, Object, Stored, Written},
        webhook::ClientConfig,
    },
    resource::{
        managed_fields::{path::PathElement, scale::ReplicaPaths, types::Type},
        scale,
        webhook_conversions::{ConversionWebhook, Conversions, ConvertFunction, is_empty},
    },
};

/// The schemas and types of all versions of a custom kind, served or not.
#[derive(Debug)]
pub(crate) struct Versions {
    /// Identifies these schemas. It changes with the definition.
    serial: u64,
    group: String,
    kind: String,
    /// The storage version.
    storage: Arc<str>,
    strategy: Strategy,
    validators: BTreeMap<Arc<str>, Option<Arc<Validator>>>,
    types: BTreeMap<String, Type>,
    replica_paths: ReplicaPaths,
}

/// How fields are converted, before those that the schema of the other version does not have are dropped.
#[derive(Debug)]
enum Strategy {
    None,
    /// By a function in place of the webhook.
    Function(ConvertFunction),
    Webhook(Arc<ConversionWebhook>),
}

impl Strategy {
    /// Returns the strategy of a definition. The function has precedence over a webhook.
    fn from_definition(spec: &CustomResourceDefinitionSpec, function: Option<ConvertFunction>) -> Self {
        let conversion = spec.conversion.as_ref().filter(|conversion| conversion.strategy == "Webhook");
        match (conversion, function) {
            (None, _) => Self::None,
            (Some(_), Some(function)) => Self::Function(function),
            (Some(conversion), None) => {
                let webhook = conversion.webhook.as_ref();
                let client = webhook.and_then(|webhook| webhook.client_config.clone()).map(client_of);
                let versions = webhook.map(|webhook| &*webhook.conversion_review_versions).unwrap_or_default();
                Self::Webhook(Arc::new(ConversionWebhook::new(client.unwrap_or_default(), versions)))
            }
        }
    }
}

/// Returns the client of a conversion webhook.
fn client_of(config: WebhookClientConfig) -> ClientConfig {
    let ca_bundle = config.ca_bundle.map(|bundle| bundle.0);
    match (config.url, config.service) {
        (Some(url), _) => ClientConfig::from_url(&url, ca_bundle),
        (None, Some(service)) => {
            let key = (service.namespace.as_str(), service.name.as_str());
            ClientConfig::from_service(key, service.port, service.path.as_deref(), ca_bundle)
        }
        (None, None) => ClientConfig::default(),
    }
}

impl Versions {
    /// Creates the versions of a definition, with the function that converts in place of its webhook.
    pub(crate) fn from_definition(spec: &CustomResourceDefinitionSpec, function: Option<ConvertFunction>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let storage = spec.versions.iter().find(|version| version.storage).map(|version| version.name.as_str());
        let validator = |version: &CustomResourceDefinitionVersion| {
            let schema = schema_of(version);
            (Arc::from(version.name.as_str()), schema.map(|schema| Arc::new(Validator::from_accepted(schema))))
        };
        let type_ = |version: &CustomResourceDefinitionVersion| {
            let schema = schema_of(version);
            (group_version(&spec.group, &version.name), Type::from_kind(schema.as_ref()))
        };
        Self {
            serial: NEXT.fetch_add(1, Ordering::Relaxed),
            group: spec.group.clone(),
            kind: spec.names.kind.clone(),
            storage: storage.unwrap_or_default().into(),
            strategy: Strategy::from_definition(spec, function),
            validators: spec.versions.iter().map(validator).collect(),
            types: spec.versions.iter().map(type_).collect(),
            replica_paths: spec.versions.iter().map(|version| replica_path(&spec.group, version)).collect(),
        }
    }

    /// Returns the validator of a version, if it has a schema.
    pub(crate) fn validator(&self, version: &str) -> Option<&Arc<Validator>> {
        self.validators.get(version).and_then(Option::as_ref)
    }

    /// Returns the types for merging and field ownership, by `group/version`.
    pub(crate) fn types(&self) -> &BTreeMap<String, Type> {
        &self.types
    }

    /// Returns the paths of replicas, by `group/version`.
    pub(crate) fn replica_paths(&self) -> &ReplicaPaths {
        &self.replica_paths
    }

    /// Returns the fields of a complete object that a version does not have. An unknown version has no fields.
    pub(crate) fn unknown(&self, version: &str, fields: &Map<String, Value>) -> Vec<String> {
        let empty = json!({ "type": "object" });
        value::prune(&mut fields.clone(), self.validator(version).map_or(&empty, |validator| validator.schema()))
    }

    /// Returns whether objects are converted by a webhook.
    pub(crate) fn calls_webhook(&self) -> bool {
        matches!(self.strategy, Strategy::Webhook(_))
    }

    /// Converts a stored object to a version.
    ///
    /// # Errors
    /// The version of the stored object no longer exists, the conversion fails or is missing, or the defaults are too
    /// large.
    pub(crate) fn read(&self, stored: &Stored, requested: &str, conversions: Option<&Conversions>) -> Result<Stored> {
        let from = stored.written.version.as_deref().unwrap_or(&self.storage);
        let is_complete = stored.written.completed_by == Some(self.serial);
        if is_complete && from == requested {
            return Ok(stored.clone());
        }
        let mut object = Object::clone(stored);
        if !is_complete {
            self.complete(&mut object.body, from)?;
        }
        self.convert(&mut object, (from, requested), conversions)?;
        object.written = Written { version: Some(requested.into()), completed_by: Some(self.serial) };
        Ok(Arc::new(object))
    }

    /// Converts an object to the storage version. An object without a version is in the version `own`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn write(
        &self,
        object: &mut Object,
        default_version: &str,
        conversions: Option<&Conversions>,
    ) -> Result<()> {
        object.body.values_mut().for_each(go::normalize_numbers);
        let from = object.written.version.clone();
        self.convert(object, (from.as_deref().unwrap_or(default_version), &*self.storage), conversions)?;
        let mut completed = object.body.clone();
        self.complete(&mut completed, &self.storage)?;
        let completed_by = (completed == object.body).then_some(self.serial);
        object.written = Written { version: Some(self.storage.clone()), completed_by };
        Ok(())
    }

    /// Converts the JSON of an object, which may be partial, to another `apiVersion`. With the strategy `None`, only
    /// that changes.
    ///
    /// # Errors
    /// The conversion fails or is missing.
    pub(crate) fn convert_json(
        &self,
        object: &Value,
        api_version: &str,
        conversions: Option<&Conversions>,
    ) -> Result<Value> {
        match (&self.strategy, conversions) {
            (Strategy::Function(function), _) if !is_empty(object) => function.convert(object, api_version),
            (Strategy::Webhook(webhook), Some(calls)) if !is_empty(object) => {
                calls.convert(webhook, object, api_version)
            }
            (Strategy::Webhook(_), None) if !is_empty(object) => Err(self.without_calls(object)),
            _ => {
                let mut converted = object.clone();
                converted["apiVersion"] = api_version.into();
                Ok(converted)
            }
        }
    }

    fn without_calls(&self, object: &Value) -> ApiError {
        let from = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let reason = "this server calls no webhooks: use `ApiServer::convert` or `ApiServer::call_webhooks`, or the \
            version that the object was written in";
        ApiError::internal(format!("conversion webhook for {from}, Kind={} failed: {reason}", self.kind))
    }

    /// Prunes and defaults the fields of an object by the current schema of a version.
    fn complete(&self, fields: &mut Map<String, Value>, version: &str) -> Result<()> {
        self.validator(version).map_or(Ok(()), |validator| {
            validator.prune_and_default(fields).map_err(|DefaultsTooLarge| ApiError::request_too_large())
        })
    }

    /// Converts an object between two versions, and drops the fields that the schema of the other one does not have.
    fn convert(&self, object: &mut Object, (from, to): (&str, &str), conversions: Option<&Conversions>) -> Result<()> {
        if from == to {
            return Ok(());
        }
        if !self.validators.contains_key(from) {
            let version = group_version(&self.group, from);
            return Err(ApiError::internal(format!("request to convert CR from an invalid group/version: {version}")));
        }
        if !matches!(self.strategy, Strategy::None) {
            self.convert_fields(object, (from, to), conversions)?;
        }
        if let Some(validator) = self.validator(to) {
            value::prune(&mut object.body, validator.schema());
            value::prune_nulls(&mut object.body, validator.schema());
        }
        Ok(())
    }

    /// Converts the fields of an object by the function or the webhook.
    fn convert_fields(
        &self,
        object: &mut Object,
        (from, to): (&str, &str),
        conversions: Option<&Conversions>,
    ) -> Result<()> {
        let mut json = object.to_json(&group_version(&self.group, from), &self.kind);
        // A stored object has no resource version yet when the real server converts it.
        if let Some(metadata) = json.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("resourceVersion");
        }
        let mut converted = self.convert_json(&json, &group_version(&self.group, to), conversions)?;
        let mut texts = |field: &str| -> Option<BTreeMap<String, String>> {
            let texts = converted.get_mut("metadata").and_then(|metadata| metadata.get_mut(field)).map(Value::take);
            texts.and_then(|texts| serde_json::from_value(texts).ok())
        };
        (object.metadata.labels, object.metadata.annotations) = (texts("labels"), texts("annotations"));
        object.body = object::body_of(converted);
        Ok(())
    }
}

/// Returns the schema of a version as JSON.
fn schema_of(version: &CustomResourceDefinitionVersion) -> Option<Value> {
    version.schema.as_ref()?.open_api_v3_schema.as_ref().map(|schema| json!(schema))
}

fn replica_path(group: &str, version: &CustomResourceDefinitionVersion) -> (String, Option<Vec<PathElement>>) {
    let scale = version.subresources.as_ref().and_then(|subresources| subresources.scale.as_ref());
    let path = scale.map(|paths| scale::names(&paths.spec_replicas_path));
    (group_version(group, &version.name), path.map(|names| names.into_iter().map(PathElement::field).collect()))
}
