//! Validation of `x-kubernetes-validations`. The module [`cel`](crate::cel) validates the expressions.

use super::{MAX_SCHEMA_ERRORS, crd::Fields, field_path, structural};
use crate::{
    cel::{self, RuleError, RuleErrorReason},
    field::{ErrorType, FieldError, Location, Path},
    schema::Schema,
};

const RULES: &str = "x-kubernetes-validations";

/// The supported reasons of a rule, sorted.
const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Validates the rules of one schema, without their expressions.
pub(super) fn validate(schema: Schema<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let list = at.child(RULES);
    for (index, rule) in schema.schemas(RULES).enumerate() {
        if errors.len() >= MAX_SCHEMA_ERRORS {
            return;
        }
        let at = list.index(index);
        errors.extend(validate_message(rule, &at));
        if !rule.string("messageExpression").is_empty() && rule.string("messageExpression").trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(at.child("messageExpression"), detail));
        }
        if let Some(reason) =
            rule.get("reason").and_then(|reason| reason.as_str()).filter(|reason| !REASONS.contains(reason))
        {
            errors.push(FieldError::not_supported(at.child("reason"), reason, REASONS));
        }
        errors.extend(validate_field_path(rule.string("fieldPath"), schema, &at.child("fieldPath")));
    }
}

fn validate_message(rule: Fields<'_>, at: &Path<'_>) -> Option<FieldError> {
    let (expression, message) = (rule.string("rule").trim(), rule.string("message"));
    let has_line_breaks = |text: &str| text.contains(['\n', '\r']);
    if expression.is_empty() {
        return Some(FieldError::required(at.child("rule"), "rule is not specified"));
    }
    let at = at.child("message");
    if !message.is_empty() && message.trim().is_empty() {
        return Some(FieldError::invalid(at, message, "must be non-empty if specified"));
    }
    if has_line_breaks(message.trim()) {
        return Some(FieldError::invalid(at, message, "must not contain line breaks"));
    }
    let is_missing = has_line_breaks(expression) && message.trim().is_empty();
    is_missing.then(|| FieldError::required(at, "message must be specified if rule contains line breaks"))
}

fn validate_field_path(path: &str, schema: Schema<'_>, at: &Path<'_>) -> Vec<FieldError> {
    if path.is_empty() {
        return Vec::new();
    }
    let is_unresolved = || structural::convert(schema).is_ok() && field_path::resolve(path, schema, true).is_err();
    let checks = [
        (path.trim().is_empty(), "must be non-empty if specified"),
        (path.contains(['\n', '\r']), "must not contain line breaks"),
        (is_unresolved(), "must be a valid path"),
    ];
    let failed = checks.into_iter().filter(|(is_failed, _)| *is_failed);
    failed.map(|(_, detail)| FieldError::invalid(at, path, detail)).collect()
}

/// Validates the expressions of all rules in a structural schema with valid defaults. `errors` are those of the schema:
/// the server does not compile a rule of a node with an error at it or below. They are not repeated.
pub(super) fn validate_expressions(schema: Schema<'_>, errors: &[FieldError], at: &Path<'_>) -> Vec<FieldError> {
    let found = cel::check_schema(schema.0).into_iter().map(|rule| field_error(&rule, at));
    let is_known =
        |new: &FieldError| errors.iter().any(|known| known.field == new.field && known.error_type == new.error_type);
    let is_compiled = |new: &FieldError| {
        let node = new.field.rsplit_once(&format!(".{RULES}")).map_or(new.field.as_str(), |(node, _)| node);
        !errors.iter().any(|known| !known.field.contains(RULES) && is_at_or_below(&known.field, node))
    };
    found.filter(|error| !is_known(error) && is_compiled(error)).collect()
}

/// Whether a field is a node of the schema, or below it.
fn is_at_or_below(field: &str, node: &str) -> bool {
    field.strip_prefix(node).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Converts the error of an expression to a field error.
fn field_error(rule: &RuleError, at: &Path<'_>) -> FieldError {
    let root = at.location();
    let (error_type, value) = match rule.reason {
        RuleErrorReason::Invalid => (ErrorType::Invalid, rule.value.clone()),
        RuleErrorReason::Forbidden => (ErrorType::Forbidden, None),
        RuleErrorReason::Required => (ErrorType::Required, None),
        RuleErrorReason::NotSupported => (ErrorType::NotSupported, rule.value.clone()),
        RuleErrorReason::Internal => (ErrorType::Internal, None),
    };
    let schema_path = root.schema_path.map(|(version, _)| (version, rule.schema_path()));
    let location = Location { field: rule.field(&root.field), schema_path };
    let error = FieldError::new(location, error_type, value.clone().map(Into::into), rule.detail_at(&root.field));
    match value {
        Some(displayed) => error.with_displayed_value(displayed),
        None => error,
    }
}
