//! Custom resource definitions: defaulting, validation and the stored versions.

pub(crate) mod conditions;
pub(crate) mod names;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinitionNames, CustomResourceDefinitionSpec,
    CustomResourceDefinitionStatus,
};
use kubewright_crd::{definition as crd, field};
use serde_json::{Value, json};

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        go,
        object::Object,
        webhook::HTTPS,
    },
    resource::registry::Resource,
};

/// The resource of definitions.
pub(crate) const RESOURCE: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Defaults a definition: decodes the spec as its published type, which drops unknown fields, and sets the derived
/// names. A write of `/status` can omit the spec.
pub(crate) fn default(definition: &mut Object) -> Result<()> {
    definition.body.retain(|name, _| matches!(name.as_str(), "spec" | "status"));
    if !definition.body.contains_key("spec") {
        return Ok(());
    }
    if let Some(error) = crd::decode_error(&json_of(definition)) {
        return Err(ApiError::bad_request(error.detail));
    }
    let mut spec = spec_of(definition)?;
    let kind = spec.names.kind.clone();
    if !kind.is_empty() {
        spec.names.singular.get_or_insert_with(|| kind.to_lowercase());
        spec.names.list_kind.get_or_insert_with(|| format!("{kind}List"));
    }
    spec.preserve_unknown_fields = spec.preserve_unknown_fields.filter(|preserves| *preserves);
    let conversion =
        spec.conversion.get_or_insert_with(|| CustomResourceConversion { strategy: "None".to_owned(), webhook: None });
    let client = conversion.webhook.as_mut().and_then(|webhook| webhook.client_config.as_mut());
    if let Some(service) = client.and_then(|client| client.service.as_mut()) {
        service.port.get_or_insert(HTTPS);
    }
    let mut status = status_of(definition);
    // The default of the stored versions is the storage version.
    if definition.body.contains_key("status") && status.stored_versions.as_ref().is_none_or(Vec::is_empty) {
        status.stored_versions = Some(storage_versions(&spec).map(str::to_owned).collect());
        set_status(definition, json!(status));
    }
    let mut spec = json!(spec);
    go::normalize_numbers(&mut spec);
    definition.body.insert("spec".to_owned(), spec);
    Ok(())
}

/// Adds the storage version to the stored versions in the status.
pub(crate) fn prepare(definition: &mut Object, old: Option<&Object>) -> Result<()> {
    let spec = spec_of(definition)?;
    match old {
        None => set_status(definition, new_status(&spec)),
        Some(_) => {
            let mut status = status_of(definition);
            add_stored_version(&mut status, &spec);
            set_status(definition, json!(status));
        }
    }
    Ok(())
}

/// Validates a definition, or an update of one.
pub(crate) fn check(definition: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let new = json_of(definition);
    let errors = match old {
        None => crd::validate(&new),
        Some(old) => crd::validate_update(&new, &json_of(old)),
    };
    errors.into_iter().filter(field::FieldError::is_error).map(FieldError::from).collect()
}

fn json_of(definition: &Object) -> Value {
    let kind = Resource::definition();
    definition.to_json(&kind.api_version(), &kind.kind)
}

pub(crate) fn spec_of(definition: &Object) -> Result<CustomResourceDefinitionSpec> {
    let spec = definition.body.get("spec").cloned().unwrap_or_else(|| json!({}));
    serde_json::from_value(spec).map_err(|error| {
        let kind = "CustomResourceDefinition";
        ApiError::bad_request(format!("{kind} in version \"v1\" cannot be handled as a {kind}: {error}"))
    })
}

pub(crate) fn status_of(definition: &Object) -> CustomResourceDefinitionStatus {
    let status = definition.body.get("status").cloned();
    status.and_then(|status| serde_json::from_value(status).ok()).unwrap_or_default()
}

pub(crate) fn set_status(definition: &mut Object, status: Value) {
    definition.body.insert("status".to_owned(), status);
}

/// Returns the status before the names are accepted.
fn new_status(spec: &CustomResourceDefinitionSpec) -> Value {
    let stored: Vec<&str> = storage_versions(spec).collect();
    json!({ "conditions": null, "acceptedNames": CustomResourceDefinitionNames::default(), "storedVersions": stored })
}

fn add_stored_version(status: &mut CustomResourceDefinitionStatus, spec: &CustomResourceDefinitionSpec) {
    let stored = status.stored_versions.get_or_insert_default();
    for version in storage_versions(spec) {
        if !stored.iter().any(|known| known == version) {
            stored.push(version.to_owned());
        }
    }
}

fn storage_versions(spec: &CustomResourceDefinitionSpec) -> impl Iterator<Item = &str> {
    spec.versions.iter().filter(|version| version.storage).map(|version| version.name.as_str())
}
