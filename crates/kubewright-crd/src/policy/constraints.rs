//! Validates which requests a policy or a binding applies to.

use serde_json::Value;

use super::{
    fields::{check_choice, items, optional_text, texts},
    kind::PolicyKind,
};
use crate::field::{FieldError, Path};

const VALIDATED_OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MUTATED_OPERATIONS: [&str; 3] = ["CONNECT", "CREATE", "UPDATE"];

/// Validates the `matchConstraints` of a policy, or the `matchResources` of a binding.
pub(super) fn check_match_resources(
    kind: PolicyKind,
    resources: &Value,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    check_choice(resources, "matchPolicy", &["Equivalent", "Exact"], path, errors);
    for list in ["resourceRules", "excludeResourceRules"] {
        let path = path.child(list);
        for (index, rule) in items(resources, list).iter().enumerate() {
            check_rule(kind, rule, &path.index(index), errors);
        }
    }
}

fn check_rule(kind: PolicyKind, rule: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let operations = match kind {
        PolicyKind::Validating => VALIDATED_OPERATIONS.as_slice(),
        PolicyKind::Mutating => MUTATED_OPERATIONS.as_slice(),
    };
    let at = path.child("operations");
    check_list(rule, "operations", "operations", path, errors);
    for (index, operation) in texts(rule, "operations").enumerate() {
        if !operations.contains(&operation) {
            errors.push(FieldError::not_supported(at.index(index), operation, operations.iter().copied()));
        }
    }
    check_list(rule, "apiGroups", "API groups", path, errors);
    check_list(rule, "apiVersions", "API versions", path, errors);
    check_empty_items(rule, "apiVersions", path, errors);
    if items(rule, "resources").is_empty() {
        errors.push(FieldError::required(path.child("resources"), ""));
    }
    check_empty_items(rule, "resources", path, errors);
    check_resources(rule, path, errors);
    if let Some(scope) = optional_text(rule, "scope").filter(|scope| !["*", "Cluster", "Namespaced"].contains(scope)) {
        errors.push(FieldError::not_supported(path.child("scope"), scope, ["*", "Cluster", "Namespaced"]));
    }
}

/// Validates that a list has items, and no others beside `*`.
fn check_list(rule: &Value, list: &str, what: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let found = items(rule, list);
    if found.is_empty() {
        errors.push(FieldError::required(path.child(list), ""));
    }
    if found.len() > 1 && texts(rule, list).any(|item| item == "*") {
        let detail = format!("if '*' is present, must not specify other {what}");
        errors.push(FieldError::invalid(path.child(list), Value::from(found), detail));
    }
}

fn check_empty_items(rule: &Value, list: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let at = path.child(list);
    let empty = texts(rule, list).enumerate().filter(|(_, item)| item.is_empty());
    errors.extend(empty.map(|(index, _)| FieldError::required(at.index(index), "")));
}

/// Validates that no resource repeats what a wildcard includes.
fn check_resources(rule: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let at = path.child("resources");
    let resources: Vec<&str> = texts(rule, "resources").collect();
    let has_earlier = |index: usize, wildcard: &str| resources[..index].contains(&wildcard);
    for (index, resource) in resources.iter().enumerate() {
        let Some((name, subresource)) = resource.split_once('/') else { continue };
        for wildcard in [format!("{name}/*"), format!("*/{subresource}")] {
            if has_earlier(index, &wildcard) {
                let detail = format!("if '{wildcard}' is present, must not specify {resource}");
                errors.push(FieldError::invalid(at.index(index), *resource, detail));
            }
        }
    }
    let value = || Value::from(items(rule, "resources"));
    if resources.len() > 1 && resources.contains(&"*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(at, value(), detail));
    }
    let is_plain = |resource: &&str| !resource.is_empty() && !resource.contains('/');
    let last_plain = resources.iter().copied().rfind(is_plain);
    if resources.contains(&"*") && last_plain.is_some_and(|resource| resource != "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(at, value(), detail));
    }
}
