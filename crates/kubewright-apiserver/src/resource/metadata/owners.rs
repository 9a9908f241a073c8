//! Validation of owner references.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::json;

use crate::api::error::FieldError;

/// Validates the owner references of an object.
pub(super) fn check(owners: &[OwnerReference]) -> Vec<FieldError> {
    const FIELD: &str = "metadata.ownerReferences";
    let mut errors = Vec::new();
    for owner in owners {
        let api_version = &owner.api_version;
        if api_version.is_empty() || api_version.matches('/').count() > 1 || api_version.ends_with('/') {
            let detail = "version must not be empty";
            errors.push(FieldError::invalid(format!("{FIELD}.apiVersion"), format!("{api_version:?}"), detail));
        }
        let texts = [("kind", &owner.kind), ("name", &owner.name), ("uid", &owner.uid)];
        let empty = texts.iter().filter(|(_, text)| text.is_empty());
        errors.extend(
            empty.map(|(field, _)| FieldError::invalid(format!("{FIELD}.{field}"), "\"\"", "must not be empty")),
        );
        if api_version == "v1" && owner.kind == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(FieldError::invalid(FIELD, format_owner(owner), detail));
        }
    }
    let controllers: Vec<String> = owners
        .iter()
        .filter(|owner| owner.controller == Some(true))
        .map(|owner| format!("{}/{}", owner.kind, owner.name))
        .collect();
    if let [first, second, ..] = controllers.as_slice() {
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        errors.push(FieldError::invalid(FIELD, format_owners(owners), detail));
    }
    errors
}

fn format_owners(owners: &[OwnerReference]) -> String {
    format!("[{}]", owners.iter().map(format_owner).collect::<Vec<_>>().join(","))
}

/// Formats an owner reference with the field order of Go.
fn format_owner(owner: &OwnerReference) -> String {
    let quoted = |text: &str| json!(text).to_string();
    let flag = |name: &str, flag: Option<bool>| flag.map(|flag| format!(",\"{name}\":{flag}")).unwrap_or_default();
    format!(
        "{{\"apiVersion\":{},\"kind\":{},\"name\":{},\"uid\":{}{}{}}}",
        quoted(&owner.api_version),
        quoted(&owner.kind),
        quoted(&owner.name),
        quoted(&owner.uid),
        flag("controller", owner.controller),
        flag("blockOwnerDeletion", owner.block_owner_deletion),
    )
}
