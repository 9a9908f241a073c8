//! Unknown fields.

use std::mem;

use serde_json::{Map, Value};

use super::text;
use crate::{
    api::error::{ApiError, Result},
    handlers::request::ResourceRequest,
};

/// Formats the error for an unknown field.
pub(crate) fn format_error(path: &String) -> String {
    format!("unknown field {path:?}")
}

/// Formats the error of strict decoding.
pub(crate) fn strict_error(strict_errors: &[String]) -> String {
    format!("strict decoding error: {}", strict_errors.join(", "))
}

/// Reports the unknown fields of a body in another version of a custom kind, according to the schema of that version,
/// before the body is rejected.
pub(super) fn check_other_version(request: &ResourceRequest, fields: &Map<String, Value>) -> Result<()> {
    let kind = &request.kind;
    let Some(versions) = kind.versions().filter(|_| text(fields, "kind") == kind.kind) else {
        return Ok(());
    };
    let (group, version) = text(fields, "apiVersion").split_once('/').unwrap_or_default();
    if group != kind.group || version == kind.version {
        return Ok(());
    }
    let mut unknown = of_metadata(fields);
    unknown.extend(versions.unknown(version, fields));
    let mut strict_errors = mem::take(&mut *request.strict_errors.lock());
    strict_errors.extend(unknown.iter().map(format_error));
    if request.is_strict() && !strict_errors.is_empty() {
        let name = &kind.kind;
        let detail = strict_error(&strict_errors);
        return Err(ApiError::bad_request(format!(
            "{name} in version {version:?} cannot be handled as a {name}: {detail}"
        )));
    }
    request.warn(&strict_errors);
    Ok(())
}

/// Returns the unknown fields of the metadata.
pub(crate) fn of_metadata(fields: &Map<String, Value>) -> Vec<String> {
    const KNOWN: [&str; 15] = [
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
    let metadata = fields.get("metadata").and_then(Value::as_object).into_iter().flatten();
    let unknown = metadata.map(|(name, _)| name).filter(|name| !KNOWN.contains(&name.as_str()));
    unknown.map(|name| format!("metadata.{name}")).collect()
}
