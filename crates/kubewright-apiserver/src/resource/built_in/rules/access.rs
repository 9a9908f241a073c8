//! Validation of roles and role bindings.

use super::{Change, Errors, FieldValue};
use crate::api::error::FieldError;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(in crate::resource::built_in) fn role(change: &Change<'_>, errors: &mut Errors) {
    FieldValue::new(change.object, "rules").items().for_each(|rule| policy(&rule, true, errors));
}

pub(in crate::resource::built_in) fn cluster_role(change: &Change<'_>, errors: &mut Errors) {
    FieldValue::new(change.object, "rules").items().for_each(|rule| policy(&rule, false, errors));
    let aggregation = FieldValue::new(change.object, "aggregationRule");
    let selectors = aggregation.at("clusterRoleSelectors");
    if aggregation.is_set() && selectors.is_empty() {
        errors.push(selectors.required("at least one clusterRoleSelector required if aggregationRule is non-nil"));
    }
}

/// Validates a policy rule: it applies to resources or to non-resource URLs, and in a namespaced role to resources
/// only.
fn policy(rule: &FieldValue<'_>, is_namespaced: bool, errors: &mut Errors) {
    let missing = |field: &str, detail: &str| {
        Some(rule.at(field)).filter(FieldValue::is_empty).map(|field| field.required(detail))
    };
    errors.extend(missing("verbs", "verbs must contain at least one value"));
    let paths = rule.at("nonResourceURLs");
    if paths.is_empty() {
        errors.extend(missing("apiGroups", "resource rules must supply at least one api group"));
        errors.extend(missing("resources", "resource rules must supply at least one resource"));
        return;
    }
    if is_namespaced {
        errors.push(paths.invalid("namespaced rules cannot apply to non-resource URLs"));
    }
    if ["apiGroups", "resources", "resourceNames"].iter().any(|field| !rule.at(field).is_empty()) {
        errors.push(paths.invalid("rules cannot apply to both regular resources and non-resource URLs"));
    }
}

pub(in crate::resource::built_in) fn role_binding(change: &Change<'_>, errors: &mut Errors) {
    binding(change, &["Role", "ClusterRole"], errors);
}

pub(in crate::resource::built_in) fn cluster_role_binding(change: &Change<'_>, errors: &mut Errors) {
    binding(change, &["ClusterRole"], errors);
    for subject in FieldValue::new(change.object, "subjects").items() {
        if subject.at("kind").text() == "ServiceAccount" && subject.at("namespace").is_empty() {
            errors.push(subject.at("namespace").required(""));
        }
    }
}

fn binding(change: &Change<'_>, roles: &[&str], errors: &mut Errors) {
    let role = FieldValue::new(change.object, "roleRef");
    if role.at("apiGroup").text() != GROUP {
        errors.push(role.at("apiGroup").unsupported(&[GROUP]));
    }
    if !roles.contains(&role.at("kind").text()) {
        errors.push(role.at("kind").unsupported(roles));
    }
    if role.at("name").is_empty() {
        errors.push(role.at("name").required(""));
    }
    FieldValue::new(change.object, "subjects").items().for_each(|subject| self::subject(&subject, errors));
    if change.old.is_some_and(|old| old.body.get("roleRef") != Some(role.value)) {
        let part = |name: &str| format!("{:?}", role.at(name).text());
        let shown =
            format!("{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}", part("apiGroup"), part("kind"), part("name"));
        errors.push(FieldError::invalid("roleRef", shown, "cannot change roleRef"));
    }
}

fn subject(subject: &FieldValue<'_>, errors: &mut Errors) {
    let group = subject.at("apiGroup");
    if subject.at("name").is_empty() {
        errors.push(subject.at("name").required(""));
    }
    match subject.at("kind").text() {
        "ServiceAccount" if !group.is_empty() => errors.push(group.unsupported(&[""])),
        "ServiceAccount" => {}
        "User" | "Group" if group.text() != GROUP => errors.push(group.unsupported(&[GROUP])),
        "User" | "Group" => {}
        _ => errors.push(subject.at("kind").unsupported(&["ServiceAccount", "User", "Group"])),
    }
}
