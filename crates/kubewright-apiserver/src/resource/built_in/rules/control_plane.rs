//! Validation of certificate signing requests.

use std::collections::BTreeSet;

use super::{Change, Errors, FieldValue};

/// Validates a certificate signing request and its conditions. The certificates themselves are not parsed.
pub(in crate::resource::built_in) fn certificate_signing_request(change: &Change<'_>, errors: &mut Errors) {
    if change.old.is_none() {
        request_spec(&FieldValue::new(change.object, "spec"), errors);
    }
    conditions(&FieldValue::new(change.object, "status").at("conditions"), errors);
}

/// Validates that the spec is complete.
fn request_spec(spec: &FieldValue<'_>, errors: &mut Errors) {
    let request = spec.at("request");
    if request.is_empty() {
        errors.push(request.invalid_text("PEM block type must be CERTIFICATE REQUEST"));
    }
    for name in ["usages", "signerName"] {
        let field = spec.at(name);
        if field.is_empty() {
            errors.push(field.required(""));
        }
    }
}

/// Validates the conditions of a request: approval and denial exclude each other.
fn conditions(conditions: &FieldValue<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for condition in conditions.items() {
        let (type_, status) = (condition.at("type"), condition.at("status"));
        if type_.is_empty() {
            errors.push(type_.required(""));
        }
        if matches!(type_.text(), "Approved" | "Denied" | "Failed") && status.text() != "True" {
            errors.push(status.unsupported(&["True"]));
        } else if !matches!(status.text(), "True" | "False" | "Unknown") {
            errors.push(status.unsupported(&["False", "True", "Unknown"]));
        }
        if !known.insert(type_.text()) {
            errors.push(type_.duplicate(type_.value));
        }
    }
    if ["Approved", "Denied"].iter().all(|type_| known.contains(type_)) {
        errors.push(conditions.invalid("Approved and Denied conditions are mutually exclusive"));
    }
}
