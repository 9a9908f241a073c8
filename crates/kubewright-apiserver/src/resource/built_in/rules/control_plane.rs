//! Validation of certificate signing requests.

use std::collections::BTreeSet;

use kubewright_crd::names;

use super::{Change, Errors, FieldValue};
use crate::api::error::FieldError;

/// The usages of certificates, sorted.
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// The shortest duration of a certificate, in seconds.
const MIN_EXPIRATION: i64 = 600;

/// Validates a certificate signing request and its conditions. The certificates themselves are not parsed.
pub(in crate::resource::built_in) fn certificate_signing_request(change: &Change<'_>, errors: &mut Errors) {
    if change.old.is_none() {
        request_spec(&FieldValue::new(change.object, "spec"), errors);
    }
    conditions(&FieldValue::new(change.object, "status").at("conditions"), errors);
}

fn request_spec(spec: &FieldValue<'_>, errors: &mut Errors) {
    let (request, usages, expiration) = (spec.at("request"), spec.at("usages"), spec.at("expirationSeconds"));
    if request.is_empty() {
        errors.push(request.invalid_text("PEM block type must be CERTIFICATE REQUEST"));
    }
    if usages.is_empty() {
        errors.push(usages.required(""));
    }
    let mut known = BTreeSet::new();
    for usage in usages.items() {
        if !USAGES.contains(&usage.text()) {
            errors.push(usage.unsupported(&USAGES));
        } else if !known.insert(usage.text()) {
            errors.push(usage.duplicate(usage.value));
        }
    }
    signer(&spec.at("signerName"), errors);
    if expiration.value.as_i64().is_some_and(|seconds| seconds < MIN_EXPIRATION) {
        errors.push(expiration.invalid("may not specify a duration less than 600 seconds (10 minutes)"));
    }
}

/// Validates the name of a signer: a domain and a path.
fn signer(name: &FieldValue<'_>, errors: &mut Errors) {
    if name.is_empty() {
        return errors.push(name.required(""));
    }
    let Some((domain, path)) = name.text().split_once('/').filter(|(_, path)| !path.contains('/')) else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return errors.push(name.invalid(detail));
    };
    let invalid = |shown: &str, detail: String| FieldError::invalid(&name.path, format!("{shown:?}"), detail);
    let labels = |text: &str| {
        let label = text.split('.').find(|label| !names::is_dns_1123_label(label))?;
        Some(format!("validating label {label:?}: {}", names::dns_1123_label(label).join(", ")))
    };
    errors.extend(labels(domain).map(|detail| invalid(domain, detail)));
    if !domain.contains('.') {
        errors.push(invalid(domain, "should be a domain with at least two segments separated by dots".to_owned()));
    }
    errors.extend(labels(path).map(|detail| invalid(path, detail)));
    if name.text() == "kubernetes.io/legacy-unknown" {
        errors.push(name.invalid("the legacy signerName is not allowed via this API version"));
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
