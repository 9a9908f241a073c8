//! Validates policies and bindings as the API server does before it stores them
//! (`pkg/apis/admissionregistration/validation`).

use std::collections::{BTreeMap, BTreeSet};

use kubewright_names::{cel::is_identifier, validation as names};
use serde_json::Value;

use super::{
    binding::{check_actions, check_param_ref},
    compiler::ExpressionError,
    constraints::check_match_resources,
    defaults::{default_binding, default_policy},
    denial_reason::DenialReason,
    fields::{check_choice, field, items, optional_text, text},
    kind::PolicyKind,
};
use crate::field::{FieldError, Path};

/// The maximum number of match conditions.
const MAX_MATCH_CONDITIONS: usize = 64;
/// The maximum number of audit annotations.
const MAX_AUDIT_ANNOTATIONS: usize = 20;
/// The maximum length of the expression of an audit annotation in bytes.
const MAX_VALUE_EXPRESSION_LENGTH: usize = 5 * 1024;

/// Validates the spec of a policy, after setting its defaults. `compile` returns the errors of its expressions. The
/// metadata and the syntax of label selectors are not validated here, because they are the same for all kinds.
pub(super) fn check_policy(
    kind: PolicyKind,
    policy: &Value,
    compile: impl Fn(&Value) -> Vec<ExpressionError>,
) -> Vec<FieldError> {
    let mut policy = policy.clone();
    default_policy(&mut policy);
    let expressions = compile(&policy).into_iter().map(|error| (error.field.clone(), error)).collect();
    let mut check = Check { expressions, errors: Vec::new() };
    check.policy(kind, text(field(&policy, "metadata"), "name"), field(&policy, "spec"));
    check.errors
}

/// Validates the spec of a binding, after setting its defaults.
pub fn validate_binding(kind: PolicyKind, binding: &Value) -> Vec<FieldError> {
    let mut binding = binding.clone();
    default_binding(&mut binding);
    let (spec, root) = (field(&binding, "spec"), Path::root("spec"));
    let mut errors = Vec::new();
    let name = text(spec, "policyName");
    if name.is_empty() {
        errors.push(FieldError::required(root.child("policyName"), ""));
    } else {
        let invalid = names::dns_1123_subdomain(name);
        errors.extend(invalid.into_iter().map(|detail| FieldError::invalid(root.child("policyName"), name, detail)));
    }
    check_param_ref(spec, &root, &mut errors);
    let resources = field(spec, "matchResources");
    if !resources.is_null() {
        // kube-apiserver misspells the field in the paths of these errors (`admissionregistration/validation`).
        check_match_resources(kind, resources, &root.child("matchResouces"), &mut errors);
    }
    if kind == PolicyKind::Validating {
        check_actions(spec, &root, &mut errors);
    }
    errors
}

/// The validation of one policy.
struct Check {
    /// The errors of expressions, by field.
    expressions: BTreeMap<String, ExpressionError>,
    errors: Vec<FieldError>,
}

impl Check {
    fn policy(&mut self, kind: PolicyKind, name: &str, spec: &Value) {
        let root = Path::root("spec");
        check_choice(spec, "failurePolicy", &["Fail", "Ignore"], &root, &mut self.errors);
        self.param_kind(spec, &root);
        let constraints = field(spec, "matchConstraints");
        let path = root.child("matchConstraints");
        if constraints.is_null() {
            self.errors.push(FieldError::required(path, ""));
        } else {
            check_match_resources(kind, constraints, &path, &mut self.errors);
            if items(constraints, "resourceRules").is_empty() {
                self.errors.push(FieldError::required(path.child("resourceRules"), ""));
            }
        }
        self.match_conditions(spec, &root);
        self.variables(spec, &root);
        match kind {
            PolicyKind::Validating => {
                self.validations(spec, &root);
                self.audit_annotations(name, spec, &root);
            }
            PolicyKind::Mutating => {
                self.mutations(spec, &root);
                check_choice(spec, "reinvocationPolicy", &["Never", "IfNeeded"], &root, &mut self.errors);
            }
        }
    }

    /// Requires an expression, and reports the error of its compilation.
    fn expression(&mut self, parent: &Value, name: &str, path: &Path<'_>, missing: &str) {
        let path = path.child(name);
        if text(parent, name).trim().is_empty() {
            self.errors.push(FieldError::required(path, missing));
        } else if let Some(error) = self.expressions.get(&path.to_string()) {
            self.errors.push(error.into());
        }
    }

    fn param_kind(&mut self, spec: &Value, root: &Path<'_>) {
        let kind = field(spec, "paramKind");
        if kind.is_null() {
            return;
        }
        let path = root.child("paramKind");
        let api_version = text(kind, "apiVersion");
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let at = path.child("apiVersion");
        if api_version.is_empty() {
            self.errors.push(FieldError::required(at, ""));
        } else if version.contains('/') {
            let detail = format!("unexpected GroupVersion string: {api_version}");
            self.errors.push(FieldError::invalid(at, api_version, detail));
        } else {
            let group_errors = if group.is_empty() { Vec::new() } else { names::dns_1123_subdomain(group) };
            if !group_errors.is_empty() {
                self.errors.push(FieldError::invalid(at, group, group_errors.join(",")));
            }
            let version_errors = names::dns_1035_label(version);
            if version.is_empty() {
                self.errors.push(FieldError::invalid(at, api_version, "version must be specified"));
            } else if !version_errors.is_empty() {
                self.errors.push(FieldError::invalid(at, version, version_errors.join(",")));
            }
        }
        let (name, at) = (text(kind, "kind"), path.child("kind"));
        let invalid = names::dns_1035_label(&name.to_lowercase());
        if name.is_empty() {
            self.errors.push(FieldError::required(at, ""));
        } else if !invalid.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", invalid.join(","));
            self.errors.push(FieldError::invalid(at, name, detail));
        }
    }

    fn match_conditions(&mut self, spec: &Value, root: &Path<'_>) {
        let conditions = items(spec, "matchConditions");
        let path = root.child("matchConditions");
        if conditions.len() > MAX_MATCH_CONDITIONS {
            self.errors.push(FieldError::too_many(path, count(conditions.len()), count(MAX_MATCH_CONDITIONS)));
        }
        let mut known = BTreeSet::new();
        for (index, condition) in conditions.iter().enumerate() {
            let path = path.index(index);
            self.expression(condition, "expression", &path, "");
            let (name, at) = (text(condition, "name"), path.child("name"));
            if name.is_empty() {
                self.errors.push(FieldError::required(at, ""));
                continue;
            }
            let invalid = names::label_key(name).into_iter();
            self.errors.extend(invalid.map(|detail| FieldError::invalid(at, name, detail)));
            if !known.insert(name) {
                self.errors.push(FieldError::duplicate(at, name));
            }
        }
    }

    fn variables(&mut self, spec: &Value, root: &Path<'_>) {
        let path = root.child("variables");
        for (index, variable) in items(spec, "variables").iter().enumerate() {
            let path = path.index(index);
            let name = text(variable, "name");
            if name.trim().is_empty() {
                self.errors.push(FieldError::required(path.child("name"), "name is not specified"));
            } else if !is_identifier(name) {
                let detail = "name is not a valid CEL identifier";
                self.errors.push(FieldError::invalid(path.child("name"), name, detail));
            }
            self.expression(variable, "expression", &path, "expression is not specified");
        }
    }

    fn validations(&mut self, spec: &Value, root: &Path<'_>) {
        const EMPTY: &str = "validations or auditAnnotations must contain at least one item";
        let path = root.child("validations");
        if items(spec, "validations").is_empty() && items(spec, "auditAnnotations").is_empty() {
            self.errors.push(FieldError::required(path, EMPTY));
            self.errors.push(FieldError::required(root.child("auditAnnotations"), EMPTY));
        }
        for (index, validation) in items(spec, "validations").iter().enumerate() {
            let path = path.index(index);
            self.expression(validation, "expression", &path, "expression is not specified");
            self.message(validation, &path);
            let reason = optional_text(validation, "reason");
            if let Some(reason) = reason.filter(|reason| DenialReason::from_name(reason).is_none()) {
                let supported = DenialReason::ALL.map(DenialReason::name);
                self.errors.push(FieldError::not_supported(path.child("reason"), reason, supported));
            }
        }
    }

    fn message(&mut self, validation: &Value, path: &Path<'_>) {
        let (source, at) = (text(validation, "messageExpression"), path.child("messageExpression"));
        if !source.is_empty() && source.trim().is_empty() {
            self.errors.push(FieldError::invalid(at, source, "must be non-empty if specified"));
        } else if let Some(error) = self.expressions.get(&at.to_string()) {
            self.errors.push(error.into());
        }
        let (message, at) = (text(validation, "message"), path.child("message"));
        if !message.is_empty() && message.trim().is_empty() {
            self.errors.push(FieldError::invalid(at, message, "message must be non-empty if specified"));
        } else if message.trim().contains(['\n', '\r']) {
            self.errors.push(FieldError::invalid(at, message, "message must not contain line breaks"));
        }
    }

    fn audit_annotations(&mut self, policy: &str, spec: &Value, root: &Path<'_>) {
        let path = root.child("auditAnnotations");
        let annotations = items(spec, "auditAnnotations");
        if annotations.len() > MAX_AUDIT_ANNOTATIONS {
            let detail = format!("must not have more than {MAX_AUDIT_ANNOTATIONS} auditAnnotations");
            self.errors.push(FieldError::invalid(path, Value::from(annotations), detail));
        }
        let mut known = BTreeSet::new();
        for (index, annotation) in annotations.iter().enumerate() {
            let path = path.index(index);
            let (key, at) = (text(annotation, "key"), path.child("key"));
            let qualified = format!("{policy}/{key}");
            let invalid = names::label_key(&qualified).into_iter();
            self.errors.extend(invalid.map(|detail| FieldError::invalid(at, qualified.as_str(), detail)));
            if text(annotation, "valueExpression").trim().len() > MAX_VALUE_EXPRESSION_LENGTH {
                let detail = format!("must not exceed {MAX_VALUE_EXPRESSION_LENGTH} bytes in length");
                self.errors.push(FieldError::required(path.child("valueExpression"), detail));
            } else {
                self.expression(annotation, "valueExpression", &path, "valueExpression is not specified");
            }
            if !known.insert(key) {
                self.errors.push(FieldError::duplicate(at, key));
            }
        }
    }

    fn mutations(&mut self, spec: &Value, root: &Path<'_>) {
        let path = root.child("mutations");
        if items(spec, "mutations").is_empty() {
            self.errors.push(FieldError::required(path, "mutations must contain at least one item"));
        }
        for (index, mutation) in items(spec, "mutations").iter().enumerate() {
            let path = path.index(index);
            check_choice(mutation, "patchType", &["ApplyConfiguration", "JSONPatch"], &path, &mut self.errors);
            let name = match text(mutation, "patchType") {
                "ApplyConfiguration" => "applyConfiguration",
                "JSONPatch" => "jsonPatch",
                _ => continue,
            };
            let at = path.child(name);
            if field(mutation, name).is_null() {
                let detail = format!("must be specified when patchType is {}", text(mutation, "patchType"));
                self.errors.push(FieldError::required(at, detail));
            } else {
                self.expression(field(mutation, name), "expression", &at, "expression is not specified");
            }
        }
    }
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
