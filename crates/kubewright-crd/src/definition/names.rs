//! Validation of the group and of `spec.names`.

use kubewright_names::validation::{dns_1035_label, dns_1123_subdomain};

use super::crd::Fields;
use crate::field::{FieldError, Path};

pub(super) fn validate_group(group: &str, at: &Path<'_>) -> Vec<FieldError> {
    let at = at.child("group");
    let messages = dns_1123_subdomain(group);
    match group {
        "" => vec![FieldError::required(at, "")],
        _ if !messages.is_empty() => vec![FieldError::invalid(at, group, messages.join(","))],
        _ if !group.contains('.') => vec![FieldError::invalid(at, group, "should be a domain with at least one dot")],
        _ => Vec::new(),
    }
}

/// Validates that the required names are not empty.
pub(super) fn validate_required(names: Fields<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let required = ["plural", "singular", "kind", "listKind"];
    let missing = required.into_iter().filter(|name| names.string(name).is_empty());
    missing.map(|name| FieldError::required(at.child(name), "")).collect()
}

pub(super) fn validate(names: Fields<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for field in ["plural", "singular"] {
        errors.extend(validate_optional_label(names.string(field), at.child(field)));
    }
    for field in ["kind", "listKind"] {
        let name = names.string(field);
        let messages = dns_1035_label(&name.to_lowercase()).join(",");
        if !name.is_empty() && !messages.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {messages}");
            errors.push(FieldError::invalid(at.child(field), name, detail));
        }
    }
    for field in ["shortNames", "categories"] {
        let list = at.child(field);
        for (index, name) in names.strings(field).enumerate() {
            errors.extend(validate_label(name, list.index(index)));
        }
    }
    let kind = names.string("kind");
    if !kind.is_empty() && kind == names.string("listKind") {
        errors.push(FieldError::invalid(at.child("listKind"), kind, "kind and listKind may not be the same"));
    }
    errors
}

fn validate_optional_label(name: &str, at: Path<'_>) -> Option<FieldError> {
    if name.is_empty() { None } else { validate_label(name, at) }
}

pub(super) fn validate_label(name: &str, at: Path<'_>) -> Option<FieldError> {
    let messages = dns_1035_label(name).join(",");
    (!messages.is_empty()).then(|| FieldError::invalid(at, name, messages))
}
