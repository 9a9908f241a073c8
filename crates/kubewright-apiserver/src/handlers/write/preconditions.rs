//! The checks of a written object against the path of the request and the stored object.

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::Object,
    },
    handlers::request::ResourceRequest,
    resource::registry::Resource,
};

/// Sets the namespace to the one in the path. Rejects an object with another namespace.
pub(crate) fn ensure_namespace(object: &mut Object, request: &ResourceRequest) -> Result<()> {
    let Some(namespace) = &request.namespace else {
        return Ok(());
    };
    match object.metadata.namespace.as_ref() {
        Some(other) if other != namespace => Err(ApiError::namespace_mismatch()),
        _ => {
            object.metadata.namespace = Some(namespace.clone());
            Ok(())
        }
    }
}

/// Rejects an object without a name, or with another name than the one in the path.
pub(crate) fn check_name(object: &Object, request: &ResourceRequest) -> Result<()> {
    let (name, expected) = (object.name(), request.name());
    if name.is_empty() {
        let detail = "was undeterminable: name must be provided";
        return Err(ApiError::bad_request(format!("the name of the object ({expected} based on URL) {detail}")));
    }
    if name != expected {
        let message = format!("the name of the object ({name}) does not match the name on the URL ({expected})");
        return Err(ApiError::bad_request(message));
    }
    Ok(())
}

/// Optimistic concurrency: rejects a write with another resource version than the current one.
pub(crate) fn check_version(kind: &Resource, object: &Object, old: &Object) -> Result<()> {
    let version = object.resource_version();
    if matches!(version, "" | "0") && kind.strategy.allows_unconditional_update {
        return Ok(());
    }
    if version.is_empty() || version == "0" {
        let error = FieldError::invalid("metadata.resourceVersion", 0, "must be specified for an update");
        return Err(ApiError::invalid_of(&kind.plural, &kind.group, old.name(), &[error]));
    }
    if version.parse::<u64>().is_err() {
        return Err(ApiError::internal(format!("strconv.ParseUint: parsing {version:?}: invalid syntax")));
    }
    if version != old.resource_version() {
        return Err(ApiError::modified(kind, old.name()));
    }
    Ok(())
}

/// Rejects a write with another UID than that of the existing object.
pub(crate) fn check_uid(request: &ResourceRequest, object: &Object, old: &Object) -> Result<()> {
    if object.uid().is_empty() || object.uid() == old.uid() {
        return Ok(());
    }
    let kind = &request.kind;
    let namespace = request.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    let prefix = if kind.is_custom { format!("{}/{}", kind.group, kind.plural) } else { kind.plural.clone() };
    let detail = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{prefix}/{namespace}{}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {}, UID in object meta: {}",
        old.name(),
        object.uid(),
        old.uid(),
    );
    Err(ApiError::conflict(kind, old.name(), &detail))
}
