//! The versions of a custom kind: objects are stored in one version and can be read in any.
//!
//! Guarantees:
//! - Objects are stored in the storage version, without the fields that its schema does not have.
//! - A read prunes and defaults the object by the schema of the version in which it was written, and then prunes it by
//!   the schema of the requested version without setting defaults.
//! - Reads do not change the stored object.
//! - Objects that need a conversion webhook, or whose version no longer exists, are rejected.
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
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion,
};
use logger_crd::{
    validator::Validator,
    value::{self, DefaultsTooLarge},
};
use serde_json::{Map, Value, json};

use crate::{
    api::{
        error::{ApiError, Result},
        go,
        kind::group_version,
        object::{Object, Stored, Written},
    },
    resource::{
        managed_fields::{path::PathElement, scale::ReplicaPaths, types::Type},
        scale,
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
    /// The conversion strategy is `Webhook`.
    has_webhook: bool,
    validators: BTreeMap<Arc<str>, Option<Arc<Validator>>>,
    types: BTreeMap<String, Type>,
    replica_paths: ReplicaPaths,
}

impl Versions {
    pub(crate) fn of(spec: &CustomResourceDefinitionSpec) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let storage = spec.versions.iter().find(|version| version.storage).map(|version| version.name.as_str());
        let validator = |version: &CustomResourceDefinitionVersion| {
            let schema = schema_of(version);
            (Arc::from(version.name.as_str()), schema.map(|schema| Arc::new(Validator::from_accepted(schema))))
        };
        let type_ = |version: &CustomResourceDefinitionVersion| {
            let schema = schema_of(version);
            (group_version(&spec.group, &version.name), Type::of_kind(schema.as_ref()))
        };
        Self {
            serial: NEXT.fetch_add(1, Ordering::Relaxed),
            group: spec.group.clone(),
            kind: spec.names.kind.clone(),
            storage: storage.unwrap_or_default().into(),
            has_webhook: spec.conversion.as_ref().is_some_and(|conversion| conversion.strategy == "Webhook"),
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

    /// Converts a stored object to a version.
    ///
    /// # Errors
    /// The version of the stored object no longer exists, the conversion needs a webhook, or the defaults are too
    /// large.
    pub(crate) fn read(&self, stored: &Stored, requested: &str) -> Result<Stored> {
        let from = stored.written.version.as_deref().unwrap_or(&self.storage);
        let is_complete = stored.written.completed_by == Some(self.serial);
        if is_complete && from == requested {
            return Ok(stored.clone());
        }
        let mut object = Object::clone(stored);
        if !is_complete {
            self.complete(&mut object.body, from)?;
        }
        self.convert(&mut object, from, requested)?;
        object.written = Written { version: Some(requested.into()), completed_by: Some(self.serial) };
        Ok(Arc::new(object))
    }

    /// Converts an object to the storage version. An object without a version is in the version `own`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn write(&self, object: &mut Object, own: &str) -> Result<()> {
        object.body.values_mut().for_each(go::normalize_numbers);
        let from = object.written.version.clone();
        self.convert(object, from.as_deref().unwrap_or(own), &self.storage)?;
        let mut completed = object.body.clone();
        self.complete(&mut completed, &self.storage)?;
        let completed_by = (completed == object.body).then_some(self.serial);
        object.written = Written { version: Some(self.storage.clone()), completed_by };
        Ok(())
    }

    /// Prunes and defaults the fields of an object by the current schema of a version.
    fn complete(&self, fields: &mut Map<String, Value>, version: &str) -> Result<()> {
        self.validator(version).map_or(Ok(()), |validator| {
            validator.prune_and_default(fields).map_err(|DefaultsTooLarge| ApiError::request_too_large())
        })
    }

    /// Converts an object to another version by pruning.
    fn convert(&self, object: &mut Object, from: &str, to: &str) -> Result<()> {
        if from == to {
            return Ok(());
        }
        if !self.validators.contains_key(from) {
            let version = group_version(&self.group, from);
            return Err(ApiError::internal(format!("request to convert CR from an invalid group/version: {version}")));
        }
        if self.has_webhook {
            let what = format!("{}, Kind={}", group_version(&self.group, from), self.kind);
            let why =
                "this server calls no webhooks: ask for the version it was written in, or convert by strategy None";
            return Err(ApiError::internal(format!("conversion webhook for {what} failed: {why}")));
        }
        if let Some(validator) = self.validator(to) {
            value::prune(&mut object.body, validator.schema());
            value::prune_nulls(&mut object.body, validator.schema());
        }
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
