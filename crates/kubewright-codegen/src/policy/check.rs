//! Checks the policies of a kind: as the API server does, and with the schema of the kind.

use kubewright_core::meta::{ApiKind, Policy, PolicyDefault, PolicyRule};
use kubewright_crd::policy::{DefaultError, PolicyKind, TypeChecker, validate_binding, validate_policy};
use serde_json::Value;

use super::{
    default::FieldPath,
    objects::{PolicyObjects, defaults},
};
use crate::diagnostic::{Diagnostic, Diagnostics, RustItem};

/// Adds the errors of the policies of a kind.
pub(super) fn check(
    kind: &ApiKind,
    item: &RustItem,
    policies: &[PolicyObjects],
    types: &TypeChecker,
    errors: &mut Diagnostics,
) {
    // A default with an invalid field or value has no valid patch.
    let before = errors.0.len();
    for default in defaults(kind) {
        check_default(default, item, policies, types, errors);
    }
    let are_defaults_valid = errors.0.len() == before;
    for policy in policies.iter().filter(|policy| are_defaults_valid || policy.kind == PolicyKind::Validating) {
        check_policy(policy, item, types, errors);
    }
}

fn check_policy(policy: &PolicyObjects, item: &RustItem, types: &TypeChecker, errors: &mut Diagnostics) {
    let name = policy.name();
    let of_types = types.check(policy.kind, &policy.policy);
    for error in &of_types {
        errors.push(item.about(&error.expression), format!("policy `{name}`: {error}"));
    }
    let mut of_server = validate_policy(policy.kind, &policy.policy);
    of_server.retain(|error| of_types.iter().all(|other| other.field != error.field));
    for (object, found) in
        [(&policy.policy, of_server), (&policy.binding, validate_binding(policy.kind, &policy.binding))]
    {
        for error in found {
            // The text of an expression is a string of the attribute.
            let pointer = format!("/{}", error.field.replace(['.', '['], "/").replace(']', ""));
            let text = object.pointer(&pointer).and_then(Value::as_str);
            let item = text.map_or_else(|| item.clone(), |text| item.about(text));
            errors.push(item, format!("policy `{name}`: {error}"));
        }
    }
}

/// Checks that the field of a default exists, and can have its value.
fn check_default(
    default: &PolicyDefault,
    item: &RustItem,
    policies: &[PolicyObjects],
    types: &TypeChecker,
    errors: &mut Diagnostics,
) {
    let Some(field) = default.field else { return };
    let Some(path) = FieldPath::parse(field) else {
        let message = format!(
            "the default of `{field}`: invalid path; separate the names of fields by dots, and write other names as in \
             `metadata.labels['example.com/owner']`"
        );
        errors.push(item.about(field), message);
        return;
    };
    let is_of_default = |policy: &&PolicyObjects| {
        policy.kind == PolicyKind::Mutating && policy.name().starts_with(&format!("{}.", default.policy.name))
    };
    let Some(policy) = policies.iter().find(is_of_default) else { return };
    let (mut token, checked) =
        (default.expression, types.check_default(&policy.policy, &path.names(), default.expression));
    let message = match checked {
        Ok(()) => return,
        Err(DefaultError::UnknownField(known)) => {
            token = field;
            let parent = match path.prefix(known) {
                root if root.is_empty() => "the object".to_owned(),
                parent => format!("`{parent}`"),
            };
            format!("unknown field: {parent} has no `{}`", path.names().get(known).copied().unwrap_or_default())
        }
        Err(DefaultError::Expression(error)) => error.report,
        Err(DefaultError::Type { expected, found }) => {
            format!("the field has the type `{expected}`, but the expression has `{found}`")
        }
    };
    errors.push(item.about(token), format!("the default of `{field}`: {message}"));
}

/// Returns warnings about rules that a definition can have: they need no policy.
pub(super) fn lint(
    kind: &ApiKind,
    item: &RustItem,
    policies: &[PolicyObjects],
    types: &TypeChecker,
) -> Vec<Diagnostic> {
    let rules = kind.policies.iter().filter_map(|policy| match policy {
        Policy::Rule(rule) if rule.actions.contains(&"Deny") && rule.policy.condition.is_none() => Some(rule),
        _ => None,
    });
    let is_of_definition = |rule: &&PolicyRule| {
        let starts_with = format!("{}.", rule.policy.name);
        policies.iter().any(|policy| {
            policy.kind == PolicyKind::Validating
                && policy.name().starts_with(&starts_with)
                && types.is_rule_of_definition(&policy.policy, rule.expression)
        })
    };
    rules
        .filter(is_of_definition)
        .map(|rule| {
            item.about(rule.expression).diagnostic(format!(
                "the policy rule `{}` reads only the object: `#[schema(validation(rule = \"..\"))]` on its type needs no \
                 policy",
                rule.expression.trim()
            ))
        })
        .collect()
}
