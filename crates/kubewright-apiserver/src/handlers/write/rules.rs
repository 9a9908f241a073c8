//! Validation of written objects.

use kubewright_crd::{field, validator::RULES_NOT_CHECKED, value};

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, FieldError, Result},
        object::Object,
    },
    handlers::request::ResourceRequest,
    resource::{admission_policy, built_in, metadata, scale},
};

/// Validates an object, and returns all errors at once.
pub(crate) fn check(request: &ResourceRequest, object: &Object, old: Option<&Object>) -> Result<()> {
    let kind = &request.kind;
    let strategy = kind.strategy;
    let mut errors =
        if strategy.validates_own_metadata { Vec::new() } else { metadata::check(kind, strategy.naming, object) };
    // The real server validates immutable metadata twice: for all kinds, and in the strategy of the kind.
    let updated = old.map(|old| metadata::check_update(object, old)).unwrap_or_default();
    errors.extend(updated.iter().chain(&updated).cloned());
    if old.is_some() && request.endpoint == Endpoint::Main && strategy.revalidates_metadata {
        errors.extend(metadata::check(kind, strategy.naming, object));
    }
    let is_blocked = errors.iter().any(FieldError::blocks_rules);
    if let Some(validator) = kind.validator() {
        let mut found = validator.validate_schema(&object.body, old.map(|old| &old.body));
        if request.endpoint == Endpoint::Status {
            found.retain(|error| error.field.starts_with("status"));
            found.iter_mut().for_each(trim_status_prefix);
        }
        if validator.has_rules() && is_blocked && found.is_empty() {
            errors.push(FieldError::invalid("<nil>", "null", RULES_NOT_CHECKED));
        } else if validator.has_rules() {
            let to_json = |object: &Object| object.to_json(&kind.api_version(), &kind.kind);
            found.extend(validator.validate_rules(&found, &to_json(object), old.map(to_json).as_ref()));
        }
        errors.extend(found.into_iter().map(FieldError::from));
    } else if let Some(schema) = kind.schema() {
        errors.extend(value::validate(&object.body, schema).into_iter().map(FieldError::from));
    }
    if let Some(built_in_kind) = kind.as_built_in() {
        let found = built_in::check(built_in_kind, &request.endpoint, object, old);
        // For missing fields, the errors of the kind are more specific than those of the schema.
        errors.retain(|error| !error.is_required() || found.iter().all(|other| other.field() != error.field()));
        errors.extend(found);
    } else if let Some(paths) = &kind.scale {
        errors.extend(scale::check(object, paths, request.endpoint == Endpoint::Status));
    }
    if strategy.validates_status || request.endpoint != Endpoint::Status {
        errors.extend((strategy.validate)(object, old));
        let mut found = admission_policy::check(kind, object);
        found.retain(|error| !errors.contains(error));
        errors.extend(found);
    }
    if !errors.is_empty() {
        return Err(ApiError::invalid(kind, object.name(), &errors));
    }
    request.warnings.lock().extend((strategy.warnings)(object));
    if kind.is_custom && old.is_none() {
        request.warnings.lock().extend(metadata::unqualified_finalizers(object));
    }
    Ok(())
}

/// Removes `status.` from the detail of an error: the real server validates the schema of the status separately, with
/// paths below it.
fn trim_status_prefix(error: &mut field::FieldError) {
    if let Some(detail) = error.detail.strip_prefix("status.") {
        error.detail = detail.to_owned();
    }
}
